// What near spheres hide of the others once they are drawn (nearest_first.cu): cells of the picture, and for each the
// greatest distance of what is drawn there and in those right of it, below it and below that one, so that a look serves
// four cells.
// from gpu.glyphs.nearest_first import CELL
#pragma once
#include "gpu/glyphs/tiles.cuh"

constexpr int LOOK = 2, MOST_CELLS = 64;  // cells of a look's side; of a box that is looked up: what is larger is drawn
constexpr unsigned ALL_ARE_NEAR = ~0u;

// Which spheres a pass draws: all, those that are near, or of the rest those that nothing hides.
enum Part { PART_ALL, PART_NEAR, PART_REST };

__device__ __forceinline__ int cells_along(int pixels) { return (pixels + CELL - 1) / CELL; }

__device__ __forceinline__ bool has_no_rest(const TileInput& input) { return *input.near_bound == ALL_ARE_NEAR; }

// The first cell of the look for one: the last look of a box does not go beyond its end.
__device__ __forceinline__ int look_at(int cell, int end) { return max(min(cell, end - LOOK), 0); }

// Whether all that is drawn in a box of cells, of `across` in a row, is nearer than `key`, a key of a distance.
__device__ __forceinline__ bool are_covered(const unsigned* covered, int across, unsigned key, const PixelBox& cells) {
    const int columns = cells.x.end - cells.x.first, rows = cells.y.end - cells.y.first;
    if ((int64)columns * rows > MOST_CELLS) return false;
    for (int y = cells.y.first; y < cells.y.end; y += LOOK)
        for (int x = cells.x.first; x < cells.x.end; x += LOOK)
            if (covered[look_at(y, cells.y.end) * across + look_at(x, cells.x.end)] >= key) return false;
    return true;
}
// The same of the cells of a box of pixels; so it is of NO_PIXELS.
__device__ __forceinline__ bool is_hidden(const TileInput& input, int width, unsigned key, const PixelBox& box) {
    const PixelBox cells = {{box.x.first / CELL, cells_along(box.x.end)}, {box.y.first / CELL, cells_along(box.y.end)}};
    return are_covered(input.covered, cells_along(width), key, cells);
}

__device__ __forceinline__ bool is_near(const TileInput& input, unsigned key) {
    return has_no_rest(input) || key < *input.near_bound;
}

// The same of a sphere whose box and key boxes.cu wrote.
__device__ __forceinline__ bool is_in_part(const TileInput& input, int width, Part part, const PixelBox& box,
                                           int prim_id) {
    if (part == PART_ALL) return true;
    const unsigned key = input.order_keys[prim_id];
    if (is_near(input, key)) return part == PART_NEAR;
    return part == PART_REST && !is_hidden(input, width, key, box);
}
