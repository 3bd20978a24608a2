// Traverses bvh2 nodes with a stack: packs node by node down to a leaf (binary_traversal.cuh), single rays a node or a
// primitive a step (if_if_traversal.cuh).
// from gpu.hierarchy.bvh.layouts import NodesAndRoot
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/bvh/traversals/binary_traversal.cuh"
#include "gpu/hierarchy/bvh/traversals/if_if_traversal.cuh"

// Both children of a node, of which all three parts are at hand, and where rays enter them.
__device__ __forceinline__ Bvh2Pair enter_bvh2_children(float4 a, float4 b, float4 halves, const CentredSlabs& slabs,
                                                        const Rays& rays) {
    Bvh2Pair pair;
    pair.left_child = __float_as_int(a.w);
    pair.right_child = __float_as_int(b.w);
    pair.left = enter_centred_box(slabs, rays, make_float3(a.x, a.y, a.z), unpack_halves(halves.x, halves.y),
                                  pair.left_entry);
    pair.right = enter_centred_box(slabs, rays, make_float3(b.x, b.y, b.z), unpack_halves(halves.z, halves.w),
                                   pair.right_entry);
    return pair;
}
// The whole node is fetched before anything is tested: a tenth of the traversal on an H200.
__device__ __forceinline__ Bvh2Pair enter_bvh2_children(const float4* node, const CentredSlabs& slabs,
                                                        const Rays& rays) {
    return enter_bvh2_children(node[0], node[1], node[2], slabs, rays);
}

struct Bvh2Stack : ChildIds, NodesAndRoot {
    __device__ __forceinline__ Bvh2Pair enter(int child, const CentredSlabs& slabs, const Rays& rays) const {
        return enter_bvh2_children(fetched_from(child), slabs, rays);
    }
    __device__ __forceinline__ const float4* fetched_from(int child) const {
        return &nodes[BVH2_FLOAT4S * (int64)child];
    }
    __device__ __forceinline__ Bvh2Pair enter_fetched(float4 a, float4 b, float4 halves, const CentredSlabs& slabs,
                                                      const Rays& rays) const {
        return enter_bvh2_children(a, b, halves, slabs, rays);
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
__device__ __forceinline__ void traverse(const Bvh2Stack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if constexpr (IS_SINGLE_RAY) traverse_by_steps(tree, primitives, rays, on_primitive, on_node);
    else traverse_pairs(tree, primitives, rays, on_primitive, on_node);
}
