// Visits the canonical tree, for layouts that have no visit of their own (binary_visit.cuh). A node holds its own box,
// so both children are fetched; that of a leaf is not kept: a leaf is visited wherever its node is.
// from gpu.hierarchy.bvh.bvh import VisitedNodes
#pragma once
#include "gpu/hierarchy/bvh/queries/binary_visit.cuh"

struct VisitedCanonical : VisitedNodes {
    // A leaf has the box of its node.
    __device__ __forceinline__ Aabb box_of(int child, const Aabb& of_node) const {
        return is_leaf(child) ? of_node : load_node(nodes, child).aabb();
    }
    __device__ __forceinline__ BoxedChildren children(int node_id) const {
        const CanonicalNode node = load_node(nodes, node_id);
        return {node.left, node.right, box_of(node.left, node.aabb()), box_of(node.right, node.aabb())};
    }
};

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedCanonical& tree, Region& region, OnReference& on_reference) {
    visit_binary(tree, region, on_reference);
}
