// Visits bvh2 nodes (binary_visit.cuh). A box is kept as centre and half of its extent: centre - half and centre + half
// hold it, since half was rounded up by more than both differences are rounded (bvh2.cuh).
// from gpu.hierarchy.bvh.bvh import VisitedNodes
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/bvh/queries/binary_visit.cuh"

struct VisitedBvh2 : VisitedNodes {
    __device__ __forceinline__ static Aabb box_of(float4 centre, float half_xy, float half_z) {
        const float3 middle = make_float3(centre.x, centre.y, centre.z), half = unpack_halves(half_xy, half_z);
        return {middle - half, middle + half};
    }
    __device__ __forceinline__ BoxedChildren children(int node_id) const {
        const float4* at = &nodes[BVH2_FLOAT4S * (int64)node_id];
        const float4 a = at[0], b = at[1], halves = at[2];
        return {__float_as_int(a.w), __float_as_int(b.w), box_of(a, halves.x, halves.y), box_of(b, halves.z, halves.w)};
    }
};

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedBvh2& tree, Region& region, OnReference& on_reference) {
    visit_binary(tree, region, on_reference);
}
