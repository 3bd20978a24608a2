// A hit in one word, so that one minimum keeps the nearest: less where the distance is less, and of hits at one
// distance where the primitive's number is.
#pragma once
#include "gpu/device/atomics.cuh"

constexpr uint64 NO_HIT = ~0ull;

// The upper half, and back.
__device__ __forceinline__ unsigned key_of_distance(float t) { return (unsigned)ordered_int(t) ^ 0x80000000u; }
__device__ __forceinline__ uint64 hit_key(float t, int prim_id) {
    return (uint64)key_of_distance(t) << 32 | (unsigned)prim_id;
}
__device__ __forceinline__ float distance_of_key(unsigned key) { return ordered_float((int)(key ^ 0x80000000u)); }
__device__ __forceinline__ float distance_of(uint64 key) { return distance_of_key((unsigned)(key >> 32)); }
__device__ __forceinline__ int prim_id_of(uint64 key) { return (int)(unsigned)key; }
