// The object that is selected, in a finished picture: tinted where it is seen, with a line round it. Rays through the pixels' centres say where.
#include "gpu/device/loops.cuh"
#include "gpu/trace/ray_sources.cuh"

constexpr int LINE_WIDTH = 2;                                        // pixels outside of the object
constexpr unsigned LINE = 0xff1e9effu, TINT_ALPHA = 44u;             // R 255, G 158, B 30; of 255

// `marks`: width * height bytes, 1 where the nearest primitive is one of [first_prim, first_prim + prim_count).
extern "C" __global__ void mark_object(const ViewFrame* frame, int ray_count, const int* prim_id, int first_prim, int prim_count, uint8* marks) {
    const int width = frame->width, height = frame->height;
    for (int pack : grid_stride(ray_count / PACK)) {
        const PackPixels at = pixels_of(pack * PACK, width, height);
        const unsigned inside = mask_bits(at.inside);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (!(inside >> i & 1u)) continue;
            const int found = prim_id[pack * PACK + i];
            marks[(int64)lane(at.y, i) * width + lane(at.x, i)] = found >= first_prim && found < first_prim + prim_count ? 1 : 0;
        }
    }
}

__device__ __forceinline__ bool is_beside(const uint8* marks, int x, int y, int width, int height) {
    for (int row = max(y - LINE_WIDTH, 0); row <= min(y + LINE_WIDTH, height - 1); ++row)
        for (int column = max(x - LINE_WIDTH, 0); column <= min(x + LINE_WIDTH, width - 1); ++column)
            if (marks[(int64)row * width + column]) return true;
    return false;
}

__device__ __forceinline__ unsigned tinted(unsigned under, int shift) {
    const unsigned a = under >> shift & 255u, b = LINE >> shift & 255u;
    return (a * (255u - TINT_ALPHA) + b * TINT_ALPHA + 127u) / 255u << shift;
}

extern "C" __global__ void draw_outline(const ViewFrame* frame, const uint8* marks, uint8* image) {
    const int width = frame->width, height = frame->height;
    unsigned* pixels = (unsigned*)image;
    for (int i : grid_stride(width * height)) {
        if (marks[i])
            pixels[i] = tinted(pixels[i], 0) | tinted(pixels[i], 8) | tinted(pixels[i], 16) | 0xff000000u;
        else if (is_beside(marks, i % width, i / width, width, height))
            pixels[i] = LINE;
    }
}
