// Tiles: up to 32 items of shared memory that one warp works on, lane by lane on CUDA, one after the other on the host.
//
//     for (int i : lane_stride(count)) ...       each item once
//     warp_sync()                                what lanes wrote before it, every lane sees after it
//     tile_ballot(count, is_chosen)              one bit an item
//     tile_nearest<RADIUS>(count, key, store)    for each item the least key(i, j) over its neighbours j in reach; keys are symmetric
//
// All lanes of the warp call the collectives together.
#pragma once
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"

constexpr int TILE_ITEMS = 32;
constexpr int NO_TILE_KEY = 0x7fffffff;  // of an item without neighbours

#ifdef CUDA_ON_HOST
__device__ void warp_sync() {}
template <class Predicate> inline unsigned tile_ballot(int count, const Predicate& is_chosen) {
    unsigned chosen = 0;
    for (int i = 0; i < count; ++i) chosen |= is_chosen(i) ? 1u << i : 0u;
    return chosen;
}
template <int RADIUS, class Key, class Store> inline void tile_nearest(int count, const Key& key, const Store& store) {
    int nearest[TILE_ITEMS];
    for (int i = 0; i < count; ++i) nearest[i] = NO_TILE_KEY;
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count && j <= i + RADIUS; ++j) {
            const int found = key(i, j);
            nearest[i] = min(nearest[i], found);
            nearest[j] = min(nearest[j], found);
        }
        store(i, nearest[i]);
    }
}
#else
__device__ __forceinline__ void warp_sync() { __syncwarp(WARP_ALL); }
template <class Predicate> __device__ __forceinline__ unsigned tile_ballot(int count, const Predicate& is_chosen) {
    return __ballot_sync(WARP_ALL, warp_lane() < count && is_chosen(warp_lane()));
}
// Each pair is looked at by its first item; the other one gets the key by a shuffle.
template <int RADIUS, class Key, class Store> __device__ __forceinline__ void tile_nearest(int count, const Key& key, const Store& store) {
    const int lane = warp_lane();
    int nearest = NO_TILE_KEY;
#pragma unroll 2
    for (int step = 1; step <= RADIUS; ++step) {
        const int found = lane + step < count ? key(lane, lane + step) : NO_TILE_KEY;
        const int from_below = __shfl_up_sync(WARP_ALL, found, step);
        nearest = min(nearest, lane >= step ? min(found, from_below) : found);
    }
    if (lane < count) store(lane, nearest);
}
#endif

// The items below `i` that are chosen: the place of item `i` among them.
__device__ __forceinline__ int tile_place(unsigned chosen, int i) { return __popc(chosen & ((1u << i) - 1u)); }
