// What builders that take Morton codes apart from the highest bit downwards have in common: at which level two
// neighbours are split. Levels count from 0, the highest bit of the code; below the last bit equal codes go on with the
// bits of their positions, so that every range can be split and no way is longer than CODE_BITS + position_bits. Unit
// constant: CODE_BITS.
#pragma once
#include "gpu/hierarchy/morton_order.cuh"

// The level at which the references `gap` and `gap` + 1 are split. `position_bits`: bits of the last reference's
// number.
__device__ __forceinline__ int level_of_gap(const uint64* keys, int gap, int position_bits) {
    const uint64 difference = code_of(keys[gap]) ^ code_of(keys[gap + 1]);
    return difference != 0 ? CODE_BITS - 64 + __clzll((int64)difference)
                           : CODE_BITS + position_bits - 32 + __clz(gap ^ (gap + 1));
}

// The reference's bit at a level of the code; 0 below.
__device__ __forceinline__ int bit_at(const uint64* keys, int reference, int level) {
    return level < CODE_BITS ? (int)(code_of(keys[reference]) >> (CODE_BITS - 1 - level)) & 1 : 0;
}
