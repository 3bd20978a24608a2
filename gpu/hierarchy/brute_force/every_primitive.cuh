// The traversal without a tree: every primitive, in the scene's order. One leaf at depth 0.
// from gpu.hierarchy.brute_force import ReferenceOrder
#pragma once
#include "gpu/device/traversal_events.cuh"

struct EveryPrimitive : ReferenceOrder {};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const EveryPrimitive& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    tell_leaf(on_node, 0, ~0, 0, rays.active, rays.t_min);
    for (int reference = 0; reference < tree.count && any(rays.active); ++reference) {
        const Intersection found = primitives.intersect(reference, rays);
        tell_primitive(on_node, rays, found);
        on_primitive(rays, found);
    }
}
