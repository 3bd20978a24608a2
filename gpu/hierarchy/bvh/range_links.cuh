// Links of trees whose nodes cover ranges of references that are split at gaps: topology alone, the boxes follow from
// below (BvhHierarchy.compute_bounds).
//
// Ids are Karras' (2012): the children of the node that is split at `gap` are `gap` and `gap` + 1. Every gap splits one
// node, and of two nodes that could have one id one has a single reference and is a leaf, so ids are known without a
// counter, however the gaps were chosen.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

// The id of the node over [first, last]: `last` as a left child, `first` as a right one.
__device__ __forceinline__ int node_over(int first, int last, bool is_left, bool is_root) {
    return is_root ? 0 : is_left ? last : first;
}

struct Links {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    int max_leaf_size;
    Pointer<int> long_leaves = nullptr;  // canonical.cuh

    __device__ bool is_leaf_range(int first, int last) const { return last - first + 1 <= max_leaf_size; }

    __device__ int leaf(int first, int last) const { return leaf_child(first, last - first + 1, long_leaves); }

    // The node over [first, last], which is no leaf, has its two halves on both sides of `gap`.
    __device__ void write_inner_node(int node_id, int first, int gap, int last) const {
        const int left = is_leaf_range(first, gap) ? leaf(first, gap) : gap;
        const int right = is_leaf_range(gap + 1, last) ? leaf(gap + 1, last) : gap + 1;
        store_node(nodes, node_id, empty_aabb(), left, right);
        flags[node_id] = NODE_EXISTS;
        if (!is_leaf(left)) parent[left] = node_id;
        if (!is_leaf(right)) parent[right] = node_id;
    }

    // A node that was to be split, over [first, last], is a leaf after all: its parent's link says so, or the tree's
    // root. Only where it was linked as a node before, by another launch or by this thread.
    __device__ void close(int node_id, int first, int last, int* root) const {
        link_leaf(node_id, leaf(first, last), node_id == last, root);
    }
    __device__ void link_leaf(int node_id, int leaf, bool is_left, int* root) const {
        const int above = parent[node_id];
        if (above < 0) root[0] = leaf;
        else nodes[2 * (int64)above + (is_left ? 0 : 1)].w = __int_as_float(leaf);
    }
};
