// Four floats that are loaded, weighed and added together: sixteen bytes a load on CUDA, one vector register on the
// host. The last may be idle.
#pragma once
#include "gpu/device/vec.cuh"

#ifdef CUDA_ON_HOST
typedef float Quad __attribute__((vector_size(16), may_alias));
typedef int QuadMask __attribute__((vector_size(16)));

__device__ __forceinline__ Quad make_quad(float x, float y, float z, float w) { return Quad{x, y, z, w}; }
__device__ __forceinline__ Quad load_quad(const float4* at) { return *reinterpret_cast<const Quad*>(at); }
__device__ __forceinline__ void store_quad(float4* at, Quad value) { *reinterpret_cast<Quad*>(at) = value; }
__device__ __forceinline__ float x_of(Quad a) { return a[0]; }
__device__ __forceinline__ float y_of(Quad a) { return a[1]; }
__device__ __forceinline__ float z_of(Quad a) { return a[2]; }
__device__ __forceinline__ Quad turned3(Quad a) { return Quad{a[1], a[2], a[0], a[3]}; }
__device__ __forceinline__ Quad min(Quad a, Quad b) { return a < b ? a : b; }
__device__ __forceinline__ Quad max(Quad a, Quad b) { return a > b ? a : b; }
// Without a branch.
__device__ __forceinline__ Quad select(bool which, Quad a, Quad b) { return QuadMask{} - (which ? 1 : 0) ? a : b; }
#else
using Quad = float4;

__device__ __forceinline__ Quad make_quad(float x, float y, float z, float w) { return make_float4(x, y, z, w); }
__device__ __forceinline__ Quad load_quad(const float4* at) { return *at; }
__device__ __forceinline__ void store_quad(float4* at, Quad value) { *at = value; }
__device__ __forceinline__ float x_of(Quad a) { return a.x; }
__device__ __forceinline__ float y_of(Quad a) { return a.y; }
__device__ __forceinline__ float z_of(Quad a) { return a.z; }
__device__ __forceinline__ Quad turned3(Quad a) { return make_float4(a.y, a.z, a.x, a.w); }
__device__ __forceinline__ Quad operator+(Quad a, Quad b) {
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}
__device__ __forceinline__ Quad operator-(Quad a, Quad b) {
    return make_float4(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w);
}
__device__ __forceinline__ Quad operator*(Quad a, Quad b) {
    return make_float4(a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w);
}
__device__ __forceinline__ Quad operator*(Quad a, float s) { return make_float4(a.x * s, a.y * s, a.z * s, a.w * s); }
__device__ __forceinline__ Quad min(Quad a, Quad b) {
    return make_float4(min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w));
}
__device__ __forceinline__ Quad max(Quad a, Quad b) {
    return make_float4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w));
}
__device__ __forceinline__ Quad select(bool which, Quad a, Quad b) { return which ? a : b; }
#endif

__device__ __forceinline__ Quad splat_quad(float value) { return make_quad(value, value, value, value); }

// The first three as a vector.
__device__ __forceinline__ Quad cross3(Quad a, Quad b) { return turned3(a * turned3(b) - turned3(a) * b); }
__device__ __forceinline__ float dot3(Quad a, Quad b) {
    const Quad products = a * b;
    return x_of(products) + y_of(products) + z_of(products);
}
__device__ __forceinline__ Quad normalize3(Quad a) {
    const float squared = dot3(a, a);
    return squared > 0.0f ? a * (1.0f / sqrtf(squared)) : a;
}
__device__ __forceinline__ bool is_finite3(Quad a) {
    const Quad nothing = a - a;
    return x_of(nothing) + y_of(nothing) + z_of(nothing) == 0.0f;
}
__device__ __forceinline__ void store3(float* values, int64 index, Quad value) {
    float* at = values + 3 * index;
    at[0] = x_of(value);
    at[1] = y_of(value);
    at[2] = z_of(value);
}
