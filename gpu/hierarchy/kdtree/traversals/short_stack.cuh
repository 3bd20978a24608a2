// The short stack: the newest few of the cells that wait; past them the traversal starts again at the root
// (restarting.cuh).
//
// Unit constant: SHORT_STACK, how many.
#pragma once
#include "gpu/hierarchy/kdtree/traversals/restarting.cuh"

struct ShortStack {
    KdArrays arrays;
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const ShortStack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays, [&](int signs) {
        traverse_restarting<SHORT_STACK>(tree.arrays, signs, primitives, rays, on_primitive, on_node);
    });
}
