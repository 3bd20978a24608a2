// Exclusive prefix sums of 32-bit integers in three kernels: sums of tiles, their prefix sums in one block, prefix sums
// inside each tile.
//
// Constant of the unit: TILE. Sums wrap round as unsigned integers do.
#include "gpu/device/block.cuh"

constexpr int WARPS = RUNS_SERIAL ? 1 : 8;
constexpr int ROWS = TILE / (WARPS * WARP_LANES);  // of neighbours, that one warp sums
static_assert(ROWS * WARPS * WARP_LANES == TILE, "a tile is whole rows of a block");

extern "C" __global__ void sum_tiles(const unsigned* values, int n, int tile_count, unsigned* tile_sums) {
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE, count = min(TILE, n - first);
        unsigned sum = 0;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int i = thread_index() + row * block_threads();
            sum += i < count ? values[first + i] : 0u;
        }
        sum = block_sum(sum);
        if (thread_index() == 0) tile_sums[tile] = sum;
    }
}

extern "C" __global__ void scan_tile_sums(int tile_count, unsigned* tile_sums) {
    if (block_index() != 0) return;
    unsigned before = 0;
    for (int first = 0; first < tile_count; first += block_threads()) {
        const int i = first + thread_index();
        unsigned part;
        const unsigned here = block_exclusive_scan(i < tile_count ? tile_sums[i] : 0u, part);
        if (i < tile_count) tile_sums[i] = before + here;
        before += part;
    }
}

// A warp takes neighbouring rows of a tile, so that lanes read and write side by side.
extern "C" __global__ void scan_tiles(const unsigned* values, int n, int tile_count, const unsigned* tile_sums,
                                      unsigned* out) {
    SHARED unsigned of_warp[WARPS];
    const int warp = thread_index() / WARP_LANES, first_of_warp = warp * ROWS * WARP_LANES + warp_lane();
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE, count = min(TILE, n - first);
        unsigned mine[ROWS], sum = 0;
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int i = first_of_warp + row * WARP_LANES;
            mine[row] = i < count ? values[first + i] : 0u;
        }
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const unsigned up_to = warp_inclusive_scan(mine[row]);
            mine[row] = sum + up_to - mine[row];
            sum += warp_broadcast(up_to, WARP_LANES - 1);
        }
        if (warp_lane() == 0) of_warp[warp] = sum;
        block_sync();
        unsigned before = tile_sums[tile];
        for (int other = 0; other < warp; ++other) before += of_warp[other];
#pragma unroll
        for (int row = 0; row < ROWS; ++row) {
            const int i = first_of_warp + row * WARP_LANES;
            if (i < count) out[first + i] = before + mine[row];
        }
        block_sync();
    }
}
