// Candidates of a node's plane, of which the cheapest is wanted: one word each, the better the smaller, so that no
// order of evaluation can be told from the result.
#pragma once
#include "gpu/device/vec.cuh"

//  bit  63   32 31      0
//       | cost | number |     the cost's bits, which are in the order of costs; what the number means is the caller's
constexpr uint64 NO_PLANE = ~0ull;
__device__ __forceinline__ uint64 plane_word(float cost, int number) {
    return (uint64)__float_as_uint(cost) << 32 | (unsigned)number;
}
__device__ __forceinline__ uint64 better(uint64 a, uint64 b) { return a < b ? a : b; }
__device__ __forceinline__ float plane_cost(uint64 word) { return __uint_as_float((unsigned)(word >> 32)); }
__device__ __forceinline__ int plane_number(uint64 word) { return (int)(word & 0xffffffffu); }

// Levels of halving until nothing has more than one.
__device__ __forceinline__ int ceil_log2(int count) { return count <= 1 ? 0 : 32 - __clz(count - 1); }
