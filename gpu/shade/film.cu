// The film's last step: mean of the samples, exposure, tone, clamp, sRGB, RGBA8 into the picture (row 0 on top, alpha
// 255). And the sums of some rows of it, brought together and back, so that a sample of them is drawn like a picture.
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
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (!(inside >> i & 1u)) continue;
            const unsigned r = encode_srgb(lane(color.x, i), first_level, thresholds);
            const unsigned g = encode_srgb(lane(color.y, i), first_level, thresholds);
            const unsigned b = encode_srgb(lane(color.z, i), first_level, thresholds);
            pixels[(int64)lane(at.y, i) * width + lane(at.x, i)] = r | g << 8 | b << 16 | 0xff000000u;
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
