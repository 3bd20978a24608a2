// Tiles: up to 32 items that one warp works on together, an item per lane on CUDA, one after the other on the host.
//
//     TileValues<T> values                       one value an item, values[i]: a register of its lane, or an array;
//     only
//                                                the own item is touched
//     for (int i : lane_stride(count)) ...       each item once
//     warp_sync()                                what lanes wrote to memory before it, every lane sees after it
//     tile_ballot(count, is_chosen)              one bit an item
//     tile_read(count, values, from)             for each item the value of item from[i]
//     tile_compact<THREADS>(count, values, kept) the values of the items whose bits are set, in their order; blocks
//                                                have at most THREADS threads
//     tile_nearest<RADIUS>(count, values, key)   for each item the least key(mine, other, i, j) over its neighbours j
//     in
//                                                reach; keys are symmetric
//     tile_scan(count, values, merge)            for each item all up to it merged, merge(before, behind)
//     tile_scan_back(count, values, merge)       for each item all from it on merged
//
// All lanes of the warp call the collectives together. A T is made of 32-bit words.
#pragma once
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"

constexpr int TILE_ITEMS = 32;
constexpr int NO_TILE_KEY = 0x7fffffff;  // of an item without neighbours

#ifdef CUDA_ON_HOST
template <class T>
struct TileValues {
    T items[TILE_ITEMS];
    T& operator[](int i) { return items[i]; }
    const T& operator[](int i) const { return items[i]; }
};
template <class Predicate>
inline unsigned tile_ballot(int count, const Predicate& is_chosen) {
    unsigned chosen = 0;
    for (int i = 0; i < count; ++i) chosen |= is_chosen(i) ? 1u << i : 0u;
    return chosen;
}
template <class T>
inline TileValues<T> tile_read(int count, const TileValues<T>& values, const TileValues<int>& from) {
    TileValues<T> read;
    for (int i = 0; i < count; ++i) read[i] = values[from[i]];
    return read;
}
template <int THREADS, class T>
inline TileValues<T> tile_compact(int count, const TileValues<T>& values, unsigned kept) {
    TileValues<T> left;
    for (int i = 0, place = 0; i < count; ++i) {
        if (kept >> i & 1) left[place++] = values[i];
    }
    return left;
}
template <int RADIUS, class T, class Key>
inline TileValues<int> tile_nearest(int count, const TileValues<T>& values, const Key& key) {
    TileValues<int> nearest;
    for (int i = 0; i < count; ++i) nearest[i] = NO_TILE_KEY;
    for (int i = 0; i < count; ++i) {
        for (int j = i + 1; j < count && j <= i + RADIUS; ++j) {
            const int found = key(values[i], values[j], i, j);
            nearest[i] = min(nearest[i], found);
            nearest[j] = min(nearest[j], found);
        }
    }
    return nearest;
}
template <class T, class Merge>
inline TileValues<T> tile_scan(int count, const TileValues<T>& values, const Merge& merge) {
    TileValues<T> merged = values;
    for (int i = 1; i < count; ++i) merged[i] = merge(merged[i - 1], merged[i]);
    return merged;
}
template <class T, class Merge>
inline TileValues<T> tile_scan_back(int count, const TileValues<T>& values, const Merge& merge) {
    TileValues<T> merged = values;
    for (int i = count - 2; i >= 0; --i) merged[i] = merge(merged[i], merged[i + 1]);
    return merged;
}
#else
template <class T>
struct TileValues {
    T item = {};
    __device__ __forceinline__ T& operator[](int) { return item; }
    __device__ __forceinline__ const T& operator[](int) const { return item; }
};
template <class Predicate>
__device__ __forceinline__ unsigned tile_ballot(int count, const Predicate& is_chosen) {
    return __ballot_sync(WARP_ALL, warp_lane() < count && is_chosen(warp_lane()));
}
template <class T>
__device__ __forceinline__ T warp_read_words(const T& value, int lane) {
    static_assert(sizeof(T) % 4 == 0, "words");
    T read;
#pragma unroll
    for (int word = 0; word < (int)(sizeof(T) / 4); ++word)
        ((int*)&read)[word] = __shfl_sync(WARP_ALL, ((const int*)&value)[word], lane);
    return read;
}
template <class T>
__device__ __forceinline__ TileValues<T> tile_read(int, const TileValues<T>& values, const TileValues<int>& from) {
    return {warp_read_words(values.item, from.item)};
}
// Each kept lane leaves its value where it goes: one trip through shared memory instead of a search for the i-th bit.
template <int THREADS, class T>
__device__ __forceinline__ TileValues<T> tile_compact(int, const TileValues<T>& values, unsigned kept) {
    __shared__ T items[THREADS];
    const int lane = warp_lane(), of_warp = threadIdx.x & ~31;
    if (kept >> lane & 1) items[of_warp | __popc(kept & ((1u << lane) - 1u))] = values.item;
    __syncwarp(WARP_ALL);
    const T item = items[threadIdx.x];
    __syncwarp(WARP_ALL);
    return {item};
}
// Each pair is looked at by its first item; the other one gets the key by a shuffle.
template <int RADIUS, class T, class Key>
__device__ __forceinline__ TileValues<int> tile_nearest(int count, const TileValues<T>& values, const Key& key) {
    const int lane = warp_lane();
    int nearest = NO_TILE_KEY;
#pragma unroll 3
    for (int step = 1; step <= RADIUS; ++step) {
        const T other = warp_read_words(values.item, lane + step);
        const int found = lane + step < count ? key(values.item, other, lane, lane + step) : NO_TILE_KEY;
        const int from_below = __shfl_up_sync(WARP_ALL, found, step);
        nearest = min(nearest, lane >= step ? min(found, from_below) : found);
    }
    return {nearest};
}
template <class T, class Merge>
__device__ __forceinline__ TileValues<T> tile_scan(int, const TileValues<T>& values, const Merge& merge) {
    T merged = values.item;
#pragma unroll
    for (int step = 1; step < TILE_ITEMS; step <<= 1) {
        const T before = warp_read_words(merged, warp_lane() - step);
        if (warp_lane() >= step) merged = merge(before, merged);
    }
    return {merged};
}
template <class T, class Merge>
__device__ __forceinline__ TileValues<T> tile_scan_back(int count, const TileValues<T>& values, const Merge& merge) {
    T merged = values.item;
#pragma unroll
    for (int step = 1; step < TILE_ITEMS; step <<= 1) {
        const T behind = warp_read_words(merged, warp_lane() + step);
        if (warp_lane() + step < count) merged = merge(merged, behind);
    }
    return {merged};
}
#endif

// The items below `i` that are chosen: the place of item `i` among them.
__device__ __forceinline__ int tile_place(unsigned chosen, int i) { return __popc(chosen & ((1u << i) - 1u)); }
