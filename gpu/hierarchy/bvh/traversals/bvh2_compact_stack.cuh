// Traverses bvh2_compact nodes with a stack (binary_traversal.cuh), as Aila and Laine's kernels do (2009): links are
// added to the node array as they are, and a leaf's references are met until the list says that it ends.
// from gpu.hierarchy.bvh.layouts.bvh2_compact import NodesAndLists
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_compact.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh"

struct Bvh2CompactStack : NodesAndLists {
    __device__ __forceinline__ Bvh2Pair enter(int link, const CentredSlabs& slabs, const Rays& rays) const {
        return enter_bvh2_children(&nodes[link], slabs, rays);
    }
    __device__ __forceinline__ int node_id(int link) const { return link >> 2; }
    __device__ __forceinline__ int leaf_id(int link) const { return ~link; }
    __device__ __forceinline__ static int event_id(int link) { return is_leaf(link) ? link : link >> 2; }

    // Hand a list's references to on_primitive; false when no ray goes on.
    template <class Primitives, class OnPrimitive, class OnNode>
    __device__ __forceinline__ bool visit(int link, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                          OnNode& on_node) const {
        int at = ~link, entry;
        do {
            entry = lists[at++];
            const Intersection found = primitives.intersect(entry < 0 ? ~entry : entry, rays);
            tell_primitive(on_node, rays, found);
            on_primitive(rays, found);
        } while (entry >= 0);
        return any(rays.active);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2CompactStack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    traverse_pairs(tree, primitives, rays, on_primitive, on_node);
}
