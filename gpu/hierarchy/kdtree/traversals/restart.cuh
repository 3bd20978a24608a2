// No stack: behind every leaf the traversal starts again at the root (restarting.cuh).
#pragma once
#include "gpu/hierarchy/kdtree/traversals/restarting.cuh"

struct Restart {
    KdArrays arrays;
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Restart& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays,
               [&](int signs) { traverse_restarting<0>(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
