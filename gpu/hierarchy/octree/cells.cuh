// Cells of an octree by number: a cell of `level` l is a prefix of 3 l bits of the Z-order code, x in the highest place
// of each group of three. Level 0 is the whole cube. Unit constant: BITS, the bits of an axis in a whole code.
#pragma once
#include "gpu/device/types.cuh"

// The level of the smallest cell that holds both codes; BITS where they are equal.
__device__ __forceinline__ int common_level(uint64 a, uint64 b) {
    const uint64 difference = a ^ b;
    return difference == 0 ? BITS : (__clzll((int64)difference) - (64 - 3 * BITS)) / 3;
}
// The number of the cell of `level` that holds a code.
__device__ __forceinline__ uint64 cell_at(uint64 code, int level) { return code >> 3 * (BITS - level); }

__device__ __forceinline__ bool is_in_one_cell(uint64 a, uint64 b, int level) {
    return cell_at(a, level) == cell_at(b, level);
}
