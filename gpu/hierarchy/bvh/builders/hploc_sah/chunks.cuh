// Chunks, and groups of them: ranges of references that are joined on their own, by their cuts in Morton order.
// cut_chunks.cu makes the first ones, sweep_groups.cu joins groups of them, which are the chunks of its next launch.
//
// Windows of gaps are fixed; in each one the gap of the highest rank is a cut, so that every chunk has at least one
// reference and at most as many as two windows. The last reference's gap ranks above all, so the last chunk ends there.
#pragma once
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// A chunk in a list, int2: its last reference; its clusters, which lie in the slots from its first reference on, and
// the rank of the gap behind it.
__device__ __forceinline__ int2 chunk_entry(int last, int cluster_count, int rank) {
    return make_int2(last, cluster_count | rank << 16);
}
__device__ __forceinline__ int clusters_of(int2 chunk) { return chunk.y & 0xffff; }
__device__ __forceinline__ int rank_of(int2 chunk) { return chunk.y >> 16; }

// A candidate of a window, the better the larger: by its rank, of equal ones the first.
__device__ __forceinline__ unsigned cut_word(int rank, int index) {
    return (unsigned)rank << 16 | (unsigned)(0xffff - index);
}
__device__ __forceinline__ int cut_index(unsigned word) { return 0xffff - (int)(word & 0xffff); }

// The cut in a window of gaps. All lanes have it.
__device__ __forceinline__ int cut_of_window(const uint64* keys, int n, int window_size, int window) {
    unsigned best = 0;
    for (int i : lane_stride(window_size)) {
        const int gap = window * window_size + i;
        if (gap < n) best = max(best, cut_word(rank_of_gap(keys, n, gap), i));
    }
    return window * window_size + cut_index(warp_max(best));
}
