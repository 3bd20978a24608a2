// float3 arithmetic, and the few scalar helpers everybody needs.
#pragma once
#include "gpu/device/checks.cuh"

__device__ __forceinline__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
__device__ __forceinline__ float3 operator-(float3 a, float3 b) { return make_float3(a.x - b.x, a.y - b.y, a.z - b.z); }
__device__ __forceinline__ float3 operator*(float3 a, float3 b) { return make_float3(a.x * b.x, a.y * b.y, a.z * b.z); }
__device__ __forceinline__ float3 operator*(float3 a, float s) { return make_float3(a.x * s, a.y * s, a.z * s); }
__device__ __forceinline__ float3 operator*(float s, float3 a) { return a * s; }
__device__ __forceinline__ float3 operator/(float3 a, float s) { return make_float3(a.x / s, a.y / s, a.z / s); }
__device__ __forceinline__ float3 operator-(float3 a) { return make_float3(-a.x, -a.y, -a.z); }
__device__ __forceinline__ float3& operator+=(float3& a, float3 b) {
    a = a + b;
    return a;
}
__device__ __forceinline__ float3& operator*=(float3& a, float s) {
    a = a * s;
    return a;
}

__device__ __forceinline__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ float3 cross(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ float length(float3 a) { return sqrtf(dot(a, a)); }

// A zero vector stays zero.
__device__ __forceinline__ float3 normalize(float3 a) {
    const float squared = dot(a, a);
    return squared > 0.0f ? a * (1.0f / sqrtf(squared)) : a;
}

// One instruction each: minss on the host (of a NaN, the second argument), FMNMX on CUDA (of a NaN, the other
// argument). So a NaN must not get here where the result matters: primitives with one are inactive, and inverse
// directions are clamped.
#ifdef CUDA_ON_HOST
__device__ float min(float a, float b) { return a < b ? a : b; }
__device__ float max(float a, float b) { return a > b ? a : b; }
#else
__device__ __forceinline__ float min(float a, float b) { return fminf(a, b); }
__device__ __forceinline__ float max(float a, float b) { return fmaxf(a, b); }
#endif
__device__ __forceinline__ float clamp(float a, float low, float high) { return min(max(a, low), high); }
__device__ __forceinline__ float lerp(float a, float b, float t) { return a + (b - a) * t; }
__device__ __forceinline__ float3 lerp(float3 a, float3 b, float t) { return a + (b - a) * t; }
__device__ __forceinline__ float3 min(float3 a, float3 b) {
    return make_float3(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z));
}
__device__ __forceinline__ float3 max(float3 a, float3 b) {
    return make_float3(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z));
}
__device__ __forceinline__ float3 reflect(float3 direction, float3 normal) {
    return direction - normal * (2.0f * dot(direction, normal));
}

__device__ __forceinline__ float along(float3 point, int axis) {
    return axis == 0 ? point.x : axis == 1 ? point.y : point.z;
}
__device__ __forceinline__ void set_along(float3& point, int axis, float value) {
    if (axis == 0) point.x = value;
    else if (axis == 1) point.y = value;
    else point.z = value;
}

__device__ __forceinline__ bool is_finite(float a) { return a - a == 0.0f; }
__device__ __forceinline__ bool is_finite(float3 a) { return is_finite(a.x) && is_finite(a.y) && is_finite(a.z); }

// Packed vectors of three floats: 12 bytes per vertex.
__device__ __forceinline__ float3 load3(Pointer<const float> values, int64 index) {
    const float* at = values + 3 * index;
    return make_float3(at[0], at[1], at[2]);
}
__device__ __forceinline__ void store3(float* values, int64 index, float3 value) {
    float* at = values + 3 * index;
    at[0] = value.x;
    at[1] = value.y;
    at[2] = value.z;
}
__device__ __forceinline__ int3 load3(Pointer<const int> values, int64 index) {
    const int* at = values + 3 * index;
    return make_int3(at[0], at[1], at[2]);
}

// The same for threads that read places far from each other: there a GPU looks up a line for every thread and load, so
// two loads are better than three. Of three words in a row, two begin at a multiple of eight bytes.
#ifdef CUDA_ON_HOST
__device__ float3 gather3(Pointer<const float> values, int64 index) { return load3(values, index); }
__device__ int3 gather3(Pointer<const int> values, int64 index) { return load3(values, index); }
#else
__device__ __forceinline__ float3 gather3(Pointer<const float> values, int64 index) {
    const float* at = values + 3 * index;
    const bool pair_first = ((uint64)at & 4) == 0;
    const float2 pair = *(const float2*)(at + (pair_first ? 0 : 1));
    const float single = at[pair_first ? 2 : 0];
    return pair_first ? make_float3(pair.x, pair.y, single) : make_float3(single, pair.x, pair.y);
}
__device__ __forceinline__ int3 gather3(Pointer<const int> values, int64 index) {
    const float3 words = gather3((const float*)values, index);
    return make_int3(__float_as_int(words.x), __float_as_int(words.y), __float_as_int(words.z));
}
#endif
