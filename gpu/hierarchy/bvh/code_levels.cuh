// What builders that take Morton codes apart from the highest bit downwards have in common: at which level two neighbours part, and how the links of
// a parted range are written. Levels count from 0, the highest bit of the code; below the last bit equal codes go on with the bits of their positions,
// so that every range can be parted and no way is longer than CODE_BITS + position_bits. Unit constant: CODE_BITS.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

// The level at which the references `gap` and `gap` + 1 part. `position_bits`: bits of the last reference's number.
__device__ __forceinline__ int level_of_gap(const uint64* keys, int gap, int position_bits) {
    const uint64 difference = code_of(keys[gap]) ^ code_of(keys[gap + 1]);
    return difference != 0 ? CODE_BITS - 64 + __clzll((int64)difference) : CODE_BITS + position_bits - 32 + __clz(gap ^ (gap + 1));
}

// The reference's bit at a level; 0 below all levels.
__device__ __forceinline__ int bit_at(const uint64* keys, int reference, int level, int position_bits) {
    if (level < CODE_BITS) return (int)(code_of(keys[reference]) >> (CODE_BITS - 1 - level)) & 1;
    const int shift = position_bits - 1 - (level - CODE_BITS);
    return shift >= 0 ? reference >> shift & 1 : 0;
}

// Karras' number (2012) of the node over [first, last]: `last` as a left child, `first` as a right one.
__device__ __forceinline__ int node_over(int first, int last, bool is_left, bool is_root) { return is_root ? 0 : is_left ? last : first; }

// Where links are written: topology alone, the boxes follow from below (BvhHierarchy.fit).
struct Links {
    float4* nodes;
    int* parent;
    uint8* flags;
    int max_leaf_size;

    __device__ bool is_leaf_range(int first, int last) const { return last - first + 1 <= max_leaf_size; }

    // The node over [first, last], which is no leaf, has its two halves on both sides of `gap`.
    __device__ void part(int node_id, int first, int gap, int last) const {
        const int left = is_leaf_range(first, gap) ? leaf_child(first, gap - first + 1) : gap;
        const int right = is_leaf_range(gap + 1, last) ? leaf_child(gap + 1, last - gap) : gap + 1;
        store_node(nodes, node_id, empty_aabb(), left, right);
        flags[node_id] = NODE_EXISTS;
        if (!is_leaf(left)) parent[left] = node_id;
        if (!is_leaf(right)) parent[right] = node_id;
    }
};
