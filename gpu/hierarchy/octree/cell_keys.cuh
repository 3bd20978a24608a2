// What the keys of cells are to those who make trees of them: sorted, code << 32 | prim_id.
// from gpu.hierarchy.octree.cell_keys import CODE_LEVELS
#pragma once
#include "gpu/device/types.cuh"

// Words of `chosen`; IS_REFUSED: the level has more cells than are looked at.
constexpr int CHOSEN_LEVEL = 0, KEYS_MADE = 1, IS_REFUSED = 2, CHOSEN_WORDS = 3;

__device__ __forceinline__ unsigned code_of_key(uint64 key) { return (unsigned)(key >> 32); }
__device__ __forceinline__ int prim_of_key(uint64 key) { return (int)(unsigned)key; }

// Where the cells begin whose codes are not below `code`, among keys from `first` on.
__device__ __forceinline__ int first_not_below(const uint64* keys, int first, int last, unsigned code) {
    while (first < last) {
        const int middle = first + (last - first) / 2;
        if (code_of_key(keys[middle]) < code) first = middle + 1;
        else last = middle;
    }
    return first;
}
