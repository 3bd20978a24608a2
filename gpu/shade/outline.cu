// The object that is selected, in a finished picture: tinted where it is seen, with a line round it. Rays through the
// pixels' centres say where.
#include "gpu/device/loops.cuh"
#include "gpu/trace/ray_sources.cuh"

constexpr int LINE_WIDTH = 2;  // pixels outside of the object
constexpr unsigned LINE = 0xff1e9effu, TINT_ALPHA = 44u;  // R 255, G 158, B 30; of 255

// `marks`: a byte a pixel of all tiles, 1 where the nearest primitive is one of [first_prim, first_prim + prim_count).
// Rows are whole tiles, so that eight pixels are a word; those beyond the picture's edge are 0.
extern "C" __global__ void mark_object(const ViewFrame* frame, int ray_count, const int* prim_id, int first_prim,
                                       int prim_count, uint8* marks) {
    const int width = frame->width, height = frame->height, stride = tiles_across(width) * TILE_SIDE;
    for (int pack : grid_stride(ray_count / PACK)) {
        const PackPixels at = pixels_of(pack * PACK, width, height);
        const unsigned inside = mask_bits(at.inside);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const int found = prim_id[pack * PACK + i];
            const bool is_there = inside >> i & 1u && found >= first_prim && found < first_prim + prim_count;
            marks[(int64)lane(at.y, i) * stride + lane(at.x, i)] = is_there ? 1 : 0;
        }
    }
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

__device__ __forceinline__ unsigned tinted(unsigned under, int shift) {
    const unsigned a = under >> shift & 255u, b = LINE >> shift & 255u;
    return (a * (255u - TINT_ALPHA) + b * TINT_ALPHA + 127u) / 255u << shift;
}

extern "C" __global__ void draw_outline(const ViewFrame* frame, const uint8* marks, uint8* image) {
    const int width = frame->width, height = frame->height, words_across = tiles_across(width);
    for (int item : grid_stride(words_across * height)) {
        const int word = item % words_across, y = item / words_across;
        if (!is_near((const uint64*)marks, word, y, words_across, height)) continue;
        for (int x = word * TILE_SIDE; x < min((word + 1) * TILE_SIDE, width); ++x) {
            unsigned& pixel = ((unsigned*)image)[(int64)y * width + x];
            if (marks[(int64)y * words_across * TILE_SIDE + x])
                pixel = tinted(pixel, 0) | tinted(pixel, 8) | tinted(pixel, 16) | 0xff000000u;
            else if (is_beside(marks, x, y, width, height)) pixel = LINE;
        }
    }
}
