// The visit without a tree: every reference, wherever the region is.
// from gpu.hierarchy.brute_force import ReferenceOrder
#pragma once
#include "gpu/device/aabb.cuh"

struct AllReferences : ReferenceOrder {};

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const AllReferences& tree, Region& region, OnReference& on_reference) {
    for (int reference = 0; reference < tree.count; ++reference) {
        if (!on_reference(reference, region)) return;
    }
}
