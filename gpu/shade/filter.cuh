// What the kernels of the filter share: its arrays, and how close two pixels' surfaces are. One lane a pixel; pictures
// in rows.
// from gpu.shade.filter import BLOCK_ACROSS, BLOCK_DOWN, FilterView
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/trace/ray_sources.cuh"

struct Pixel {
    int x, y;
    bool inside;
};
// Items in blocks of pixels, so that neighbours share what they read.
__device__ __forceinline__ Pixel pixel_of_item(int item, int width, int height) {
    const int block = item / (BLOCK_ACROSS * BLOCK_DOWN), local = item % (BLOCK_ACROSS * BLOCK_DOWN);
    const int across = (width + BLOCK_ACROSS - 1) / BLOCK_ACROSS;
    const int x = block % across * BLOCK_ACROSS + local % BLOCK_ACROSS,
              y = block / across * BLOCK_DOWN + local / BLOCK_ACROSS;
    return {x, y, x < width && y < height};
}

// A unit vector in 32 bits (Cigolle et al., A Survey of Efficient Representations for Independent Unit Vectors, 2014:
// the octahedron).
__device__ __forceinline__ float packed_normal(float3 n) {
    const float length = fabsf(n.x) + fabsf(n.y) + fabsf(n.z);
    // of no surface, or of one without area
    if (!(length > 0.0f && length < 1e30f)) n = make_float3(0.0f, 0.0f, 1.0f);
    const float scale = 1.0f / max(fabsf(n.x) + fabsf(n.y) + fabsf(n.z), LEAST_SUM);
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
    const float u = ((float)(bits & 32767) - 16384.0f) * (1.0f / 16383.0f),
                v = ((float)(bits >> 15 & 32767) - 16384.0f) * (1.0f / 16383.0f);
    const float z = 1.0f - fabsf(u) - fabsf(v), fold = max(-z, 0.0f);
    const float3 n = make_float3(u + (u < 0.0f ? fold : -fold), v + (v < 0.0f ? fold : -fold), z);
    const float scale = 1.0f / sqrtf(max(n.x * n.x + n.y * n.y + n.z * n.z, LEAST_NORMAL2));
    return make_float3(n.x * scale, n.y * scale, n.z * scale);
}

__device__ __forceinline__ float brightness(float4 color) {
    return 0.2126f * color.x + 0.7152f * color.y + 0.0722f * color.z;
}

// The logarithm (to base 2) of how much pixel q of `guide` says about one of normal n and surface `at`, `far` pixels
// away; -100: nothing.
__device__ __forceinline__ float closeness(float4 at, float3 n, float4 other, float far) {
    if (at.w != other.w) return -100.0f;
    const float3 m = unpacked_normal(other.x);
    const float cosine = n.x * m.x + n.y * m.y + n.z * m.z;
    const float apart = fabsf(at.y - other.y) / (at.z * far + at.y * FILTER_DEPTH + LEAST_DIVISOR);
    return cosine <= 0.0f ? -100.0f : -96.0f * (1.0f - cosine) - apart;
}
