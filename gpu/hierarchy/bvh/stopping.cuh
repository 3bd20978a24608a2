// Where splitting ends (stopping.py): by the size of a set, by what its best split costs, by its share of the nodes.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"

struct Stopping {
    int max_leaf_size, by_cost;
    float traversal_cost, intersection_cost;

    // A set that is not split whatever that costs: single, small enough by size alone, or without a node left of its
    // share.
    __device__ bool ends_at_once(int count, int budget) const {
        return count <= (by_cost ? 1 : max_leaf_size) || (budget < 1 && count <= MAX_LEAF_REFERENCES);
    }
    // The best split costs more than k_I |N| (MacDonald and Booth 1990). `split_cost`: area times count of both sides;
    // all areas halved.
    __device__ bool ends_by_cost(int count, float area, float split_cost) const {
        if (!by_cost || count > max_leaf_size) return false;
        return !(traversal_cost * area + intersection_cost * split_cost < intersection_cost * (area * (float)count));
    }
};

// Whether a set's share of the nodes leaves a choice where to split it: halving it until leaves can hold it takes
// fewer. Who has none is halved, or sets that lose a few of their primitives at a time would become any number of
// nodes.
__device__ __forceinline__ bool has_nodes_to_choose(int count, int budget) {
    return count <= MAX_LEAF_REFERENCES ||
           budget >= 1 << ceil_log2((count + MAX_LEAF_REFERENCES - 1) / MAX_LEAF_REFERENCES);
}

// The share of one side's nodes, of those of its set: in proportion to the nodes that it needs at most.
__device__ __forceinline__ int share_of_left(int budget, int left_count, int count) {
    return count <= 2 || budget <= 1 ? 0 : (int)((int64)(budget - 1) * (left_count - 1) / (count - 2));
}
__device__ __forceinline__ int share_of_right(int budget, int left_count, int count) {
    return max(0, budget - 1) - share_of_left(budget, left_count, count);
}
