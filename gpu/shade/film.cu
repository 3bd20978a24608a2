// The film's last step: mean of the samples, exposure, tone, clamp, sRGB, RGBA8 into the picture (row 0 on top, alpha 255).
#include "gpu/device/color.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/shade/tone.cuh"
#include "gpu/trace/ray_sources.cuh"

// `sums`: three planes of ray_count floats, in ray order. `image` is written four bytes at a time.
extern "C" __global__ void resolve_film(const ViewFrame* frame, const float* sums, int pack_count, const uint8* first_level, const float* thresholds,
                                        uint8* image) {
    const int width = frame->width, height = frame->height;
    const int64 plane = (int64)pack_count * PACK;
    const Real scale = splat(frame->exposure / (float)max(frame->sample_count, 1));
    unsigned* pixels = (unsigned*)image;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PackPixels at = pixels_of(first, width, height);
        if (!any(at.inside)) continue;
        const Real3 color = toned(frame->tone, Real3{load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)} * scale);
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
