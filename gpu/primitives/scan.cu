// Exclusive prefix sums of 32-bit integers in three kernels: sums of tiles, their prefix sums in one block, prefix sums
// inside each tile.
//
// Constant of the unit: TILE. Sums wrap round as unsigned integers do.
#include "gpu/device/block.cuh"

constexpr int THREADS = RUNS_SERIAL ? 1 : 256;
constexpr int ITEMS = TILE / THREADS;  // neighbours that one thread sums

extern "C" __global__ void sum_tiles(const unsigned* values, int n, int tile_count, unsigned* tile_sums) {
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE;
        unsigned sum = 0;
        for (int i : block_stride(min(TILE, n - first))) sum += values[first + i];
        sum = block_sum(sum);
        if (thread_index() == 0) tile_sums[tile] = sum;
    }
}

extern "C" __global__ void scan_tile_sums(int tile_count, unsigned* tile_sums) {
    if (block_index() != 0) return;
    unsigned before = 0;
    for (int first = 0; first < tile_count; first += THREADS) {
        const int i = first + thread_index();
        unsigned part;
        const unsigned here = block_exclusive_scan(i < tile_count ? tile_sums[i] : 0u, part);
        if (i < tile_count) tile_sums[i] = before + here;
        before += part;
    }
}

extern "C" __global__ void scan_tiles(const unsigned* values, int n, int tile_count, const unsigned* tile_sums,
                                      unsigned* out) {
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE + thread_index() * ITEMS;
        const int last = min(first + ITEMS, n);
        unsigned sum = 0, all;
        for (int i = first; i < last; ++i) sum += values[i];
        unsigned before = tile_sums[tile] + block_exclusive_scan(sum, all);
        for (int i = first; i < last; ++i) {
            const unsigned value = values[i];
            out[i] = before;
            before += value;
        }
    }
}
