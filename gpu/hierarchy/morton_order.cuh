// What a Morton order (morton_order.py) holds: sorted keys, and how far neighbours differ. Unit constant: CODE_BITS
// (30: keys hold code and index; 60: keys hold codes, prim_ids beside them).
#pragma once
#include "gpu/device/types.cuh"

__device__ __forceinline__ int prim_id_of(const uint64* keys, const int* prim_ids, int reference) {
    return CODE_BITS == 30 ? (int)(unsigned)keys[reference] : prim_ids[reference];
}
__device__ __forceinline__ uint64 code_of(uint64 key) { return CODE_BITS == 30 ? key >> 32 : key; }

constexpr int OUTSIDE_RANK = 255;  // of the places before the first and after the last reference

// How much the references on both sides of `gap` (`gap` and `gap` + 1) differ: the place of the highest differing bit
// of their codes, or of their positions where the codes are equal. Ranks on the way to the root only grow, hence depth
// <= CODE_BITS + bits of n.
__device__ __forceinline__ int rank_of_keys(uint64 left, uint64 right, int gap) {
    const uint64 difference = code_of(left) ^ code_of(right);
    return difference != 0 ? 95 - __clzll((int64)difference) : 31 - __clz(gap ^ (gap + 1));
}
__device__ __forceinline__ int rank_of_gap(const uint64* keys, int n, int gap) {
    return gap < 0 || gap >= n - 1 ? OUTSIDE_RANK : rank_of_keys(keys[gap], keys[gap + 1], gap);
}
