// Quick approximations (CUDA's intrinsics) of division and square root: within two units in the last place where the
// divisor is below 2^126. On the host they are exact.
#pragma once
#include "gpu/device/lanes.cuh"

#ifdef CUDA_ON_HOST
__device__ __forceinline__ Real fast_divide(Real a, Real b) { return a / b; }
__device__ __forceinline__ Real fast_sqrt(Real value) { return lanes_sqrt(value); }
__device__ __forceinline__ float fast_inverse(float value) { return 1.0f / value; }
__device__ __forceinline__ float fast_root(float value) { return sqrtf(value); }
#else
__device__ __forceinline__ float fast_divide(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ float fast_sqrt(float value) {
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(value));
    return root;
}
__device__ __forceinline__ float fast_inverse(float value) { return fast_divide(1.0f, value); }
__device__ __forceinline__ float fast_root(float value) { return fast_sqrt(value); }
#endif
