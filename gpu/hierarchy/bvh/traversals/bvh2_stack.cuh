// Walks bvh2 nodes with a stack (binary_walk.cuh).
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/bvh/traversals/binary_walk.cuh"

template <bool AGREES> __device__ __forceinline__ Mask enter_bvh2_child(const float4* node, int side, const Slabs& slabs, const Rays& rays, Real& entry) {
    const float *xy = &node[side].x, *z = &node[2].x + 2 * side;
    if constexpr (AGREES) {
        return enter_planes(slabs, rays, splat(xy[slabs.sign_x]), splat(xy[2 + slabs.sign_y]), splat(z[slabs.sign_z]), splat(xy[1 - slabs.sign_x]),
                            splat(xy[3 - slabs.sign_y]), splat(z[1 - slabs.sign_z]), entry);
    } else {
        return enter_box(slabs, rays, make_float3(xy[0], xy[2], z[0]), make_float3(xy[1], xy[3], z[1]), entry);
    }
}

// Both children of a node, and where rays enter them. A single ray fetches the whole node, links included, before it tests anything: a tenth of the walk on an H200.
template <bool AGREES> __device__ __forceinline__ Bvh2Pair enter_bvh2_children(const float4* node, const Slabs& slabs, const Rays& rays) {
    Bvh2Pair pair;
    if constexpr (PACK == 1) {
        const float4 a = node[0], b = node[1], z = node[2];
        const int2 links = *(const int2*)(node + 3);
        pair.left_child = links.x;
        pair.right_child = links.y;
        pair.left = enter_upright_box(slabs, rays, make_float3(a.x, a.z, z.x), make_float3(a.y, a.w, z.y), pair.left_entry);
        pair.right = enter_upright_box(slabs, rays, make_float3(b.x, b.z, z.z), make_float3(b.y, b.w, z.w), pair.right_entry);
    } else {
        pair.left = enter_bvh2_child<AGREES>(node, 0, slabs, rays, pair.left_entry);
        pair.right = enter_bvh2_child<AGREES>(node, 1, slabs, rays, pair.right_entry);
        pair.left_child = __float_as_int(node[3].x);
        pair.right_child = __float_as_int(node[3].y);
    }
    return pair;
}

struct Bvh2Stack {
    const float4* nodes;
    const int* root;

    template <bool AGREES> __device__ __forceinline__ Bvh2Pair enter(int child, const Slabs& slabs, const Rays& rays) const {
        return enter_bvh2_children<AGREES>(nodes + 4 * (int64)child, slabs, rays);
    }
    __device__ __forceinline__ int node_id(int child) const { return child; }
    __device__ __forceinline__ int leaf_id(int child) const { return first_reference(child); }
    template <class Primitives, class OnPrimitive>
    __device__ __forceinline__ bool visit(int child, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive) const {
        return visit_leaf(child, primitives, rays, on_primitive);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2Stack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    traverse_pairs(tree, primitives, rays, on_primitive, on_node);
}
