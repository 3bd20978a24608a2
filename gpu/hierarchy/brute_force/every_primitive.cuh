// The walk without a tree: every primitive, in the scene's order. One leaf at depth 0.
#pragma once
#include "gpu/device/ray.cuh"

struct EveryPrimitive {
    const int* order;
    int count, unused;
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const EveryPrimitive& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    on_node(0, 0, true, rays.active);
    for (int reference = 0; reference < tree.count && any(rays.active); ++reference) on_primitive(rays, primitives.intersect(reference, rays));
}
