// Marked in a finished picture: the object that is selected, or primitives that are listed; tinted where they are seen,
// with a line round them. Rays through the pixels' centres say where.
#include "gpu/device/loops.cuh"
#include "gpu/trace/ray_sources.cuh"

constexpr int LINE_WIDTH = 2;  // pixels outside of what is marked

// `marks`: a byte a pixel of all tiles, 1 where the nearest primitive is marked. Rows are whole tiles, so that eight
// pixels are a word; those beyond the picture's edge are 0.
template <class IsMarked>
__device__ __forceinline__ void mark_pixels(const ViewFrame* frame, int ray_count, const int* prim_id, uint8* marks,
                                            const IsMarked& is_marked) {
    const int width = frame->width, height = frame->height, stride = tiles_across(width) * TILE_SIDE;
    for (int pack : grid_stride(ray_count / PACK)) {
        const PackPixels at = pixels_of(pack * PACK, width, height);
        const unsigned inside = mask_bits(at.inside);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const bool is_there = inside >> i & 1u && is_marked(prim_id[pack * PACK + i]);
            marks[(int64)lane(at.y, i) * stride + lane(at.x, i)] = is_there ? 1 : 0;
        }
    }
}

// Those of [first_prim, first_prim + prim_count).
extern "C" __global__ void mark_object(const ViewFrame* frame, int ray_count, const int* prim_id, int first_prim,
                                       int prim_count, uint8* marks) {
    mark_pixels(frame, ray_count, prim_id, marks,
                [&](int found) { return found >= first_prim && found < first_prim + prim_count; });
}

// `is_marked`: for each primitive of the scene, not 0 where it is.
extern "C" __global__ void mark_primitives(const ViewFrame* frame, int ray_count, const int* prim_id,
                                           const unsigned* is_marked, uint8* marks) {
    mark_pixels(frame, ray_count, prim_id, marks, [&](int found) { return found >= 0 && is_marked[found] != 0u; });
}

// Whether anything is marked in the word or in those around it: most of a picture is done with that.
__device__ __forceinline__ bool is_near(const uint64* words, int word, int y, int words_across, int height) {
    uint64 found = 0;
    for (int row = max(y - LINE_WIDTH, 0); row <= min(y + LINE_WIDTH, height - 1); ++row)
        for (int column = max(word - 1, 0); column <= min(word + 1, words_across - 1); ++column)
            found |= words[(int64)row * words_across + column];
    return found != 0;
}

__device__ __forceinline__ bool is_beside(const uint8* marks, int x, int y, int width, int height) {
    const int stride = tiles_across(width) * TILE_SIDE;
    for (int row = max(y - LINE_WIDTH, 0); row <= min(y + LINE_WIDTH, height - 1); ++row)
        for (int column = max(x - LINE_WIDTH, 0); column <= min(x + LINE_WIDTH, width - 1); ++column)
            if (marks[(int64)row * stride + column]) return true;
    return false;
}

__device__ __forceinline__ unsigned tinted(unsigned under, unsigned color, unsigned alpha, int shift) {
    const unsigned a = under >> shift & 255u, b = color >> shift & 255u;
    return (a * (255u - alpha) + b * alpha + 127u) / 255u << shift;
}

// `color`: red + 256 * green + 65536 * blue. `tint`: how much of it lies over what is marked, of 255.
extern "C" __global__ void draw_outline(const ViewFrame* frame, const uint8* marks, int color, int tint, uint8* image) {
    const unsigned line = (unsigned)color | 0xff000000u, alpha = (unsigned)tint;
    const int width = frame->width, height = frame->height, words_across = tiles_across(width);
    for (int item : grid_stride(words_across * height)) {
        const int word = item % words_across, y = item / words_across;
        if (!is_near((const uint64*)marks, word, y, words_across, height)) continue;
        for (int x = word * TILE_SIDE; x < min((word + 1) * TILE_SIDE, width); ++x) {
            unsigned& pixel = ((unsigned*)image)[(int64)y * width + x];
            if (marks[(int64)y * words_across * TILE_SIDE + x])
                pixel = tinted(pixel, line, alpha, 0) | tinted(pixel, line, alpha, 8) | tinted(pixel, line, alpha, 16) |
                        0xff000000u;
            else if (is_beside(marks, x, y, width, height)) pixel = line;
        }
    }
}
