// Reduction: values (n) -> one partial result a tile of TILE values. Launched again on the partial results until one is
// left. The order of the additions is a fixed tree inside a tile, whatever the number of threads: same input, same
// bytes, on both targets. Operation and Value come with the unit (gpu/primitives/reduce.py).
// from gpu.primitives.reduce import TILE
#include "gpu/device/block.cuh"
#include "gpu/device/loops.cuh"

constexpr int COLUMNS = 256;

extern "C" __global__ void reduce_tiles(const Value* values, int n, int tile_count, Value* partials) {
    SHARED Value column[COLUMNS];
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE;
        const int count = n - first < TILE ? n - first : TILE;

        // Each column takes every 256th value of the tile.
        for (int i : block_stride(COLUMNS)) column[i] = Operation::identity<Value>();
        for (int row = 0; row < count; row += COLUMNS) {
            const int width = count - row < COLUMNS ? count - row : COLUMNS;
            for (int i : block_stride(width)) column[i] = Operation::combine(column[i], values[first + row + i]);
        }

        // Fold the columns in halves.
        for (int half = COLUMNS / 2; half > 0; half /= 2) {
            block_sync();
            for (int i : block_stride(half)) column[i] = Operation::combine(column[i], column[i + half]);
        }
        block_sync();
        for (int i : block_stride(1)) partials[tile] = column[i];
        block_sync();
    }
}
