// A hit in one word, so that one minimum keeps the nearest: less where the distance is less, and of hits at one
// distance where the primitive's number is.
#pragma once
#include "gpu/device/atomics.cuh"

constexpr uint64 NO_HIT = ~0ull;

__device__ __forceinline__ uint64 hit_key(float t, int prim_id) {
    return (uint64)((unsigned)ordered_int(t) ^ 0x80000000u) << 32 | (unsigned)prim_id;
}
__device__ __forceinline__ float distance_of(uint64 key) {
    return ordered_float((int)((unsigned)(key >> 32) ^ 0x80000000u));
}
__device__ __forceinline__ int prim_id_of(uint64 key) { return (int)(unsigned)key; }
