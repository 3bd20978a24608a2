// The prefix sums of Meister's thesis (2.4.2), tile by tile in shared memory: Hillis and Steele 1986 (algorithm 2: log2
// n steps over all numbers) or Blelloch 1990 (algorithm 3: up-sweep and down-sweep, 2 n additions). The sums of the
// tiles are scanned by the same kernel, and added.
//
// Constants of the unit: TILE (a power of two), IS_BLELLOCH. Exclusive; sums wrap round as unsigned integers do; `out`
// may be `values`.
#include "gpu/device/block.cuh"

// Inclusive prefix sums of `numbers` [0, TILE); returns which of the two halves holds them. Two arrays, because a step
// reads what another writes.
__device__ __forceinline__ int scan_by_doubling(unsigned (*numbers)[TILE]) {
    int from = 0;
    for (int distance = 1; distance < TILE; distance *= 2) {
        for (int i : block_stride(TILE))
            numbers[1 - from][i] = numbers[from][i] + (i >= distance ? numbers[from][i - distance] : 0u);
        from = 1 - from;
        block_sync();
    }
    return from;
}

// Exclusive prefix sums in place; returns the sum of all.
__device__ __forceinline__ unsigned scan_by_sweeps(unsigned* numbers) {
    for (int distance = 1; distance < TILE; distance *= 2) {
        for (int i : block_stride(TILE / (2 * distance)))
            numbers[(2 * i + 2) * distance - 1] += numbers[(2 * i + 1) * distance - 1];
        block_sync();
    }
    const unsigned all = numbers[TILE - 1];
    block_sync();
    if (thread_index() == 0) numbers[TILE - 1] = 0;
    block_sync();
    for (int distance = TILE / 2; distance >= 1; distance /= 2) {
        for (int i : block_stride(TILE / (2 * distance))) {
            unsigned& left = numbers[(2 * i + 1) * distance - 1];
            unsigned& right = numbers[(2 * i + 2) * distance - 1];
            const unsigned before = left;
            left = right;
            right += before;
        }
        block_sync();
    }
    return all;
}

extern "C" __global__ void scan_each_tile(const unsigned* values, int n, int tile_count, unsigned* out,
                                          unsigned* tile_sums) {
    SHARED unsigned numbers[2][TILE];
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE, count = min(TILE, n - first);
        for (int i : block_stride(TILE)) numbers[0][i] = i < count ? values[first + i] : 0u;
        block_sync();
        if (IS_BLELLOCH) {
            const unsigned all = scan_by_sweeps(numbers[0]);
            for (int i : block_stride(count)) out[first + i] = numbers[0][i];
            if (thread_index() == 0) tile_sums[tile] = all;
        } else {
            const unsigned* inclusive = numbers[scan_by_doubling(numbers)];
            for (int i : block_stride(count)) out[first + i] = i > 0 ? inclusive[i - 1] : 0u;
            if (thread_index() == 0) tile_sums[tile] = inclusive[TILE - 1];
        }
        block_sync();
    }
}

extern "C" __global__ void add_tile_sums(int n, const unsigned* tile_sums, unsigned* out) {
    for (int i : grid_stride(n)) out[i] += tile_sums[i / TILE];
}
