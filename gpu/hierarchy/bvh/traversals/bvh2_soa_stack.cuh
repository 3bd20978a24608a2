// Traverses bvh2_soa nodes with a stack (binary_traversal.cuh).
// from gpu.hierarchy.bvh.layouts.bvh2_soa import NodesInParts
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_soa.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh"

struct Bvh2SoaStack : ChildIds, NodesInParts {
    __device__ __forceinline__ float4 part(int array, int node_id) const {
        return nodes[array * (int64)capacity + node_id];
    }

    __device__ __forceinline__ Bvh2Pair enter(int child, const CentredSlabs& slabs, const Rays& rays) const {
        return enter_bvh2_children(part(0, child), part(1, child), part(2, child), slabs, rays);
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
