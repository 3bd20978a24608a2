// The film's last step: mean of the samples, exposure, tone, clamp, sRGB, RGBA8 into the picture (row 0 on top, alpha
// 255). And the sums of some rows of it, brought together and back, so that a sample of them is drawn like a picture;
// and how far two parts of the samples differ.
#include "gpu/device/color.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/shade/tone.cuh"
#include "gpu/trace/ray_sources.cuh"

// `sums`: three planes of ray_count floats, in ray order. `image` is written four bytes at a time.
extern "C" __global__ void resolve_film(const ViewFrame* frame, const float* sums, int pack_count,
                                        const uint8* first_level, const float* thresholds, uint8* image) {
    const int width = frame->width, height = frame->height;
    const int64 plane = (int64)pack_count * PACK;
    const Real scale = splat(frame->exposure / (float)max(frame->sample_count, 1)),
               scale_ahead = splat(frame->exposure / (float)(frame->sample_count + 1));
    const Int rows_ahead = splat_int(frame->rows_ahead);
    const bool is_begun = frame->sample_count > 0;
    unsigned* pixels = (unsigned*)image;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PackPixels at = pixels_of(first, width, height);
        if (!any(at.inside)) continue;
        const Mask is_ahead = at.y < rows_ahead;
        const Real3 sum = {load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)};
        const Real3 color = toned(frame->tone, select(is_ahead | splat_mask(is_begun), sum, splat3(0.0f, 0.0f, 0.0f)) *
                                                   select(is_ahead, scale_ahead, scale));
        const unsigned inside = mask_bits(at.inside);
        const Int rgb = encode_srgb(color.x, first_level, thresholds) |
                        encode_srgb(color.y, first_level, thresholds) << 8 |
                        encode_srgb(color.z, first_level, thresholds) << 16;
        int columns[PACK], rows[PACK], colors[PACK];
        store(columns, at.x);
        store(rows, at.y);
        store(colors, rgb);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (inside >> i & 1u) pixels[(int64)rows[i] * width + columns[i]] = (unsigned)colors[i] | 0xff000000u;
        }
    }
}

// `part`: three planes of `ray_count` floats, those of the rows from first_row on.
template <class Move>
__device__ __forceinline__ void each_of_rows(const ViewFrame* frame, int ray_count, const Move& move) {
    const int64 plane = (int64)tiles_across(frame->width) * tiles_across(frame->height) * TILE_RAYS,
                first = rays_before_rows(*frame);
    for (int ray : grid_stride(ray_count)) {
        for (int k = 0; k < 3; ++k) move(k * plane + first + ray, k * (int64)ray_count + ray);
    }
}
extern "C" __global__ void take_rows(const ViewFrame* frame, const float* sums, int ray_count, float* part) {
    each_of_rows(frame, ray_count, [=](int64 of_film, int64 of_rows) { part[of_rows] = sums[of_film]; });
}
extern "C" __global__ void put_rows(const ViewFrame* frame, float* sums, int ray_count, const float* part) {
    each_of_rows(frame, ray_count, [=](int64 of_film, int64 of_rows) { sums[of_film] = part[of_rows]; });
}

// `kept`: the sums as they are now. Items are floats.
extern "C" __global__ void keep_sums(const float* sums, int float_count, float* kept) {
    for (int i : grid_stride(float_count)) kept[i] = sums[i];
}

// Near what a screen's levels are to linear light; below 0 and above 1 there is nothing to see.
__device__ __forceinline__ Real3 seen_levels(int tone, Real3 light) {
    const Real none = splat(0.0f), most = splat(1.0f), power = splat(1.0f / 2.2f);
    const Real3 color = toned(tone, light);
    return {power_of(min(max(color.x, none), most), power), power_of(min(max(color.y, none), most), power),
            power_of(min(max(color.z, none), most), power)};
}
// For each tile of 8 x 8 pixels the root of the mean squared difference, as a screen shows it, between the first
// `kept_count` samples, whose sums are `kept`, and those since then; below 0 where a tile has no pixel.
extern "C" __global__ void compare_samples(const ViewFrame* frame, const float* sums, const float* kept, int kept_count,
                                           int tile_count, float* differences) {
    const int width = frame->width, height = frame->height;
    const int64 plane = (int64)tile_count * TILE_RAYS;
    const Real scale = splat(frame->exposure / (float)kept_count),
               scale_since = splat(frame->exposure / (float)max(frame->sample_count - kept_count, 1));
    for (int tile : grid_stride(tile_count)) {
        float total = 0.0f;
        int pixels = 0;
        for (int ray = 0; ray < TILE_RAYS; ray += PACK) {
            const int first = tile * TILE_RAYS + ray;
            const unsigned inside = mask_bits(pixels_of(first, width, height).inside);
            const Real3 sum = {load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)};
            const Real3 before = {load(kept + first), load(kept + plane + first), load(kept + 2 * plane + first)};
            const Real3 apart = seen_levels(frame->tone, before * scale) -
                                seen_levels(frame->tone, (sum - before) * scale_since);
            const Real square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                if (!(inside >> i & 1u)) continue;
                total += lane(square, i);
                ++pixels;
            }
        }
        differences[tile] = pixels > 0 ? sqrtf(total / (3.0f * (float)pixels)) : -1.0f;
    }
}
