// Traverses bvh2_soa nodes with a stack (binary_traversal.cuh).
// from gpu.hierarchy.bvh.layouts.bvh2_soa import NodesInParts
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_soa.cuh"
#include "gpu/hierarchy/bvh/traversals/binary_traversal.cuh"

struct Bvh2SoaStack : ChildIds, NodesInParts {
    __device__ __forceinline__ float4 part(int array, int node_id) const {
        return nodes[array * (int64)capacity + node_id];
    }

    __device__ __forceinline__ Bvh2Pair enter(int child, const CentredSlabs& slabs, const Rays& rays) const {
        const float4 a = part(0, child), b = part(1, child), z = part(2, child), links = part(3, child);
        Bvh2Pair pair;
        pair.left = enter_centred_box(slabs, rays, make_float3(a.x, a.z, z.x), make_float3(a.y, a.w, z.y),
                                      pair.left_entry);
        pair.right = enter_centred_box(slabs, rays, make_float3(b.x, b.z, z.z), make_float3(b.y, b.w, z.w),
                                       pair.right_entry);
        pair.left_child = __float_as_int(links.x);
        pair.right_child = __float_as_int(links.y);
        return pair;
    }
    __device__ __forceinline__ int node_id(int child) const { return child; }
    __device__ __forceinline__ int leaf_id(int child) const { return first_reference(child); }
    template <class Primitives, class OnPrimitive, class OnNode>
    __device__ __forceinline__ bool visit(int child, const Primitives& primitives, Rays& rays,
                                          OnPrimitive& on_primitive, OnNode& on_node) const {
        return visit_leaf(child, primitives, rays, on_primitive, on_node);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2SoaStack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    traverse_pairs(tree, primitives, rays, on_primitive, on_node);
}
