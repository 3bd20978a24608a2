// What the clusters' kernels and the splits above them share: bits, node ids, words. Unit constants: CODE_BITS,
// CLUSTER_BITS.
//
// A cluster is the references [first, last] whose codes have the same first CLUSTER_BITS bits, its cell; clusters are
// numbered in Morton order. Node ids need no counter. Below a cluster they are Karras' (tree.py) with the cluster's
// root as a right child, so that the place `last` stays free; the first cluster's root counts as a left child, which
// leaves place 0. So there is one free place a cluster, and the last one's lies beyond all ids: as many as there are
// nodes above the clusters, and 0 among them, for the root of all.
// from gpu.hierarchy.bvh.builders.hlbvh_sah.clusters import TopTask
#pragma once
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

constexpr int CELLS = 1 << CLUSTER_BITS;
constexpr int AXIS_CELLS = 1 << CLUSTER_BITS / 3;

__device__ __forceinline__ int cell_of(uint64 code) { return (int)(code >> (CODE_BITS - CLUSTER_BITS)); }

// A cell's place on an axis: every third bit of it (Meister's equation 5.1, x in the highest place here).
__device__ __forceinline__ int cell_coordinate(int cell, int axis) {
    int place = 0;
    for (int bit = 0; bit < CLUSTER_BITS / 3; ++bit) place |= (cell >> (3 * bit + 2 - axis) & 1) << bit;
    return place;
}

// The id of a node above the clusters; `top` is Karras' number of it over the list of clusters.
__device__ __forceinline__ int top_node_id(const int2* ranges, int top) { return top == 0 ? 0 : ranges[top].y; }

__device__ __forceinline__ bool is_cluster_left(int cluster, int cluster_count) {
    return cluster == 0 && cluster_count > 1;
}

// A cluster as a child word.
__device__ __forceinline__ int cluster_word(const int2* ranges, int cluster, int cluster_count, int max_leaf_size) {
    const int2 range = ranges[cluster];
    if (range.y - range.x < max_leaf_size) return leaf_child(range.x, range.y - range.x + 1);
    return is_cluster_left(cluster, cluster_count) ? range.y : range.x;
}

constexpr int NO_PARENT = -1;

// Where the top levels are written.
struct TopTree {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    Pointer<int> root;
    Pointer<const int2> ranges;

    // `word` hangs at `link`.
    __device__ void hang(int word, int link) const {
        if (link == NO_PARENT) *root = word;
        else
            nodes[link] = make_float4(0.0f, 0.0f, 0.0f,
                                      __int_as_float(word));  // a side of a node is 16 bytes: canonical.cuh
        if (!is_leaf(word)) parent[word] = link == NO_PARENT ? -1 : link / 2;
    }
    // The node of a task of two clusters or more; its id.
    __device__ int add(const TopTask& task) const {
        const int node_id = top_node_id(ranges, task.top);
        flags[node_id] = NODE_EXISTS;
        hang(node_id, task.link);
        return node_id;
    }
};

// The tasks that the first `left_count` clusters of `task` and the others become, below the node `node_id`.
__device__ __forceinline__ TopTask left_task(const TopTask& task, int left_count, int node_id) {
    return {task.start, left_count, task.start + left_count - 1, 2 * node_id};
}
__device__ __forceinline__ TopTask right_task(const TopTask& task, int left_count, int node_id) {
    return {task.start + left_count, task.count - left_count, task.start + left_count, 2 * node_id + 1};
}
