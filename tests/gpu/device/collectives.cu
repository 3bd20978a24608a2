// One item per thread: what each collective of gpu/device/block.cuh and warp.cuh gives that thread.
#include "gpu/device/block.cuh"

extern "C" __global__ void reduce_blocks(const int* values, int* sums, int* minima, int* maxima, int* before,
                                         int* totals) {
    const int i = block_index() * block_threads() + thread_index();
    int total;
    sums[i] = block_sum(values[i]);
    minima[i] = block_min(values[i]);
    maxima[i] = block_max(values[i]);
    before[i] = block_exclusive_scan(values[i], total);
    totals[i] = total;
}

extern "C" __global__ void reduce_blocks_of_floats(const float* values, float* sums, float* minima, float* maxima) {
    const int i = block_index() * block_threads() + thread_index();
    sums[i] = block_sum(values[i]);
    minima[i] = block_min(values[i]);
    maxima[i] = block_max(values[i]);
}

extern "C" __global__ void reduce_warps(const int* values, int* sums, int* minima, int* maxima, int* scans,
                                        int* firsts) {
    const int i = block_index() * block_threads() + thread_index();
    sums[i] = warp_sum(values[i]);
    minima[i] = warp_min(values[i]);
    maxima[i] = warp_max(values[i]);
    scans[i] = warp_inclusive_scan(values[i]);
    firsts[i] = warp_broadcast(values[i], 0);
}

extern "C" __global__ void vote_warps(const int* values, int* any, int* all, unsigned* ballots, int* lanes) {
    const int i = block_index() * block_threads() + thread_index();
    any[i] = warp_any(values[i] > 0);
    all[i] = warp_all(values[i] > 0);
    ballots[i] = warp_ballot(values[i] > 0);
    lanes[i] = warp_lane();
}

// A tile that all threads fill and turn round: shared memory and the barrier.
extern "C" __global__ void reverse_tiles(const int* values, int* out) {
    SHARED int tile[64];
    const int first = block_index() * 64;
    for (int i : block_stride(64)) tile[i] = values[first + i];
    block_sync();
    for (int i : block_stride(64)) out[first + i] = tile[63 - i];
}
