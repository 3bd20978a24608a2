// What near spheres hide of the others once they are drawn (nearest_first.cu): cells of the picture, and in each the
// greatest distance of what is drawn there.
// from gpu.glyphs.nearest_first import CELL
#pragma once
#include "gpu/glyphs/tiles.cuh"

constexpr int MOST_CELLS = 64;  // of a box that is looked up; what is larger is drawn
constexpr unsigned ALL_ARE_NEAR = ~0u;

// Which spheres a pass draws: all, those that are near, or of the rest those that nothing hides.
enum Part { PART_ALL, PART_NEAR, PART_REST };

__device__ __forceinline__ int cells_along(int pixels) { return (pixels + CELL - 1) / CELL; }

__device__ __forceinline__ bool has_no_rest(const TileInput& input) { return *input.near_bound == ALL_ARE_NEAR; }

// Whether all that is drawn in the cells of a box is nearer than `key`, a key of a distance; so it is of NO_PIXELS.
__device__ __forceinline__ bool is_hidden(const TileInput& input, int width, unsigned key, const PixelBox& box) {
    const PixelRange x = {box.x.first / CELL, cells_along(box.x.end)}, y = {box.y.first / CELL, cells_along(box.y.end)};
    if ((int64)(x.end - x.first) * (y.end - y.first) > MOST_CELLS) return false;
    const int across = cells_along(width);
    for (int row = y.first; row < y.end; ++row)
        for (int column = x.first; column < x.end; ++column)
            if (input.covered[row * across + column] >= key) return false;
    return true;
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
