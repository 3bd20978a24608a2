// Tiles: up to 32 items of shared memory that one warp works on, lane by lane on CUDA, one after the other on the host.
//
//     for (int i : lane_stride(count)) ...       each item once
//     warp_sync()                                what lanes wrote before it, every lane sees after it
//     tile_ballot(count, is_chosen)              one bit an item
//
// All lanes of the warp call the collectives together.
#pragma once
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"

constexpr int TILE_ITEMS = 32;

#ifdef CUDA_ON_HOST
__device__ void warp_sync() {}
template <class Predicate> inline unsigned tile_ballot(int count, const Predicate& is_chosen) {
    unsigned chosen = 0;
    for (int i = 0; i < count; ++i) chosen |= is_chosen(i) ? 1u << i : 0u;
    return chosen;
}
#else
__device__ __forceinline__ void warp_sync() { __syncwarp(WARP_ALL); }
template <class Predicate> __device__ __forceinline__ unsigned tile_ballot(int count, const Predicate& is_chosen) {
    return __ballot_sync(WARP_ALL, warp_lane() < count && is_chosen(warp_lane()));
}
#endif

// The items below `i` that are chosen: the place of item `i` among them.
__device__ __forceinline__ int tile_place(unsigned chosen, int i) { return __popc(chosen & ((1u << i) - 1u)); }
