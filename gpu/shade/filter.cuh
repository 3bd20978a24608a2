// What the kernels of the filter share: its arrays, and how close two pixels' surfaces are. One lane a pixel; pictures in rows.
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/trace/ray_sources.cuh"

struct FilterView {
    const ViewFrame* frame;
    ViewFrame* previous;          // of the picture that the history shows; of no width: there is none
    const int* state;             // whether anything but the eye moves; the most samples that history counts while it does
    float4* guide;                // normal (packed), distance, its change from pixel to pixel, material (-1: nothing)
    float4* light;                // of this sample, without albedo
    float4* mean;                 // of it and the past, and its variance
    float4* shown;                // on its way through the passes
    float4* moments;              // mean of brightness and of its square, samples, unused
    float2* place;                // where the point was in the previous picture; far outside: nowhere
    float* depth;                 // how far from the previous eye it was
    float4* albedo;               // kept from sample to sample: their mean since the restart
    float4* glow;                 // so is light without noise, as lamps and the background: it is not filtered
    float* raw;                   // so are the sums of the unfiltered samples
    float4* old_guide;            // kept from picture to picture
    float4* old_mean;
    float4* old_moments;
    float* sums;                  // the film
};
static_assert(sizeof(FilterView) == 136, "filter.py lays this struct out");

struct Pixel {
    int x, y;
    bool inside;
};
// Items in blocks of 32 x 8 pixels, so that neighbours share what they read.
constexpr int BLOCK_ACROSS = 32, BLOCK_DOWN = 8;
__device__ __forceinline__ Pixel pixel_of_item(int item, int width, int height) {
    const int block = item / (BLOCK_ACROSS * BLOCK_DOWN), local = item % (BLOCK_ACROSS * BLOCK_DOWN);
    const int across = (width + BLOCK_ACROSS - 1) / BLOCK_ACROSS;
    const int x = block % across * BLOCK_ACROSS + local % BLOCK_ACROSS, y = block / across * BLOCK_DOWN + local / BLOCK_ACROSS;
    return {x, y, x < width && y < height};
}

// A unit vector in 32 bits (Cigolle et al., A Survey of Efficient Representations for Independent Unit Vectors, 2014: the octahedron).
__device__ __forceinline__ float packed_normal(float3 n) {
    const float length = fabsf(n.x) + fabsf(n.y) + fabsf(n.z);
    if (!(length > 0.0f && length < 1e30f)) n = make_float3(0.0f, 0.0f, 1.0f);   // of no surface, or of one without area
    const float scale = 1.0f / max(fabsf(n.x) + fabsf(n.y) + fabsf(n.z), 1e-12f);
    float u = n.x * scale, v = n.y * scale;
    if (n.z < 0.0f) {
        const float old = u;
        u = (1.0f - fabsf(v)) * (old < 0.0f ? -1.0f : 1.0f);
        v = (1.0f - fabsf(old)) * (v < 0.0f ? -1.0f : 1.0f);
    }
    const int a = (int)(u * 16383.0f + 16384.0f), b = (int)(v * 16383.0f + 16384.0f);
    return __int_as_float(a | b << 15);
}
__device__ __forceinline__ float3 unpacked_normal(float packed) {
    const int bits = __float_as_int(packed);
    const float u = ((float)(bits & 32767) - 16384.0f) * (1.0f / 16383.0f), v = ((float)(bits >> 15 & 32767) - 16384.0f) * (1.0f / 16383.0f);
    const float z = 1.0f - fabsf(u) - fabsf(v), fold = max(-z, 0.0f);
    const float3 n = make_float3(u + (u < 0.0f ? fold : -fold), v + (v < 0.0f ? fold : -fold), z);
    const float scale = 1.0f / sqrtf(max(n.x * n.x + n.y * n.y + n.z * n.z, 1e-12f));
    return make_float3(n.x * scale, n.y * scale, n.z * scale);
}

__device__ __forceinline__ float brightness(float4 color) { return 0.2126f * color.x + 0.7152f * color.y + 0.0722f * color.z; }

// The logarithm (to base 2) of how much pixel q of `guide` says about one of normal n and surface `at`, `far` pixels away; -100: nothing.
__device__ __forceinline__ float closeness(float4 at, float3 n, float4 other, float far) {
    if (at.w != other.w) return -100.0f;
    const float3 m = unpacked_normal(other.x);
    const float cosine = n.x * m.x + n.y * m.y + n.z * m.z;
    const float apart = fabsf(at.y - other.y) / (at.z * far + at.y * 1e-4f + 1e-30f);
    return cosine <= 0.0f ? -100.0f : -96.0f * (1.0f - cosine) - apart;
}
