// Walks bvh2_soa nodes with a stack (binary_walk.cuh).
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_soa.cuh"
#include "gpu/hierarchy/bvh/traversals/binary_walk.cuh"

struct Bvh2SoaStack {
    const float4* nodes;
    const int* root;
    int capacity, unused;

    __device__ __forceinline__ float4 part(int array, int node_id) const { return nodes[array * (int64)capacity + node_id]; }

    // A single ray takes stored boxes for upright.
    static __device__ __forceinline__ Mask enter_either(const Slabs& slabs, const Rays& rays, float3 lower, float3 upper, Real& entry) {
        return PACK == 1 ? enter_upright_box(slabs, rays, lower, upper, entry) : enter_box(slabs, rays, lower, upper, entry);
    }
    template <bool AGREES> __device__ __forceinline__ Bvh2Pair enter(int child, const Slabs& slabs, const Rays& rays) const {
        const float4 left_xy = part(0, child), right_xy = part(1, child), z = part(2, child), links = part(3, child);
        Bvh2Pair pair;
        pair.left = enter_either(slabs, rays, make_float3(left_xy.x, left_xy.z, z.x), make_float3(left_xy.y, left_xy.w, z.y), pair.left_entry);
        pair.right = enter_either(slabs, rays, make_float3(right_xy.x, right_xy.z, z.z), make_float3(right_xy.y, right_xy.w, z.w), pair.right_entry);
        pair.left_child = __float_as_int(links.x);
        pair.right_child = __float_as_int(links.y);
        return pair;
    }
    __device__ __forceinline__ int node_id(int child) const { return child; }
    __device__ __forceinline__ int leaf_id(int child) const { return first_reference(child); }
    template <class Primitives, class OnPrimitive>
    __device__ __forceinline__ bool visit(int child, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive) const {
        return visit_leaf(child, primitives, rays, on_primitive);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2SoaStack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    traverse_pairs(tree, primitives, rays, on_primitive, on_node);
}
