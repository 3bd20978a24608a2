// Lane packs: RAYS_PER_THREAD values worked as one. 1 on CUDA, where Real is float, Int is int and Mask is bool; 8 or
// 16 on the host, where they are vectors (lanes_on_host.cuh). A text written over Real, Int and Mask is a single-ray
// tracer there and a packet tracer here.
//
//     Real, Int, Mask          arithmetic and comparisons by operators; & | ! on masks
//     splat, splat_int, splat_mask, lane_index()
//     select(mask, a, b)       a where the mask is set
//     any, all, mask_bits      of a mask
//     lane, set_lane           one lane's value
//     spread(value, i)         lane i's value in every lane
//     bits_of, real_of_bits    a Real as integers of the same bits, and back; truncated: towards 0
//     load_halves, swap_halves of packs of an even number
//     load, store              RAYS_PER_THREAD consecutive numbers, unaligned
//     load_fours               four numbers from a place of its own for each lane
//     lanes_fma(a, b, c)       a * b + c rounded once, whatever the compiler may fuse
//     lanes_popcount           how many bits of an Int are set
//     splat_as(like, value)    splat where `like` is a Real; a template may be of floats, too, which these four take:
//                              select, any, all, truncated
//     min, max, lanes_sqrt, lanes_abs, lanes_floor, lanes_ceil, gather, horizontal_min, horizontal_max
#pragma once
#include "gpu/device/vec.cuh"

constexpr int PACK = RAYS_PER_THREAD;
// A thread has one ray, as on CUDA, and no other lanes to agree with.
constexpr bool IS_SINGLE_RAY = PACK == 1;
constexpr unsigned PACK_BITS = (unsigned)((1ull << PACK) - 1);

// What a function is that works long on a pack: compiled once in a unit of wide packs, inlined where a pack is one lane
// and a call would cost registers.
#if RAYS_PER_THREAD > 1
#define LONG_ON_PACKS static __attribute__((noinline))
#include "gpu/device/lanes_on_host.cuh"
#else
#define LONG_ON_PACKS __device__ __forceinline__
typedef float Real;
typedef int Int;
typedef bool Mask;

__device__ __forceinline__ Real splat(float value) { return value; }
__device__ __forceinline__ Int splat_int(int value) { return value; }
__device__ __forceinline__ Mask splat_mask(bool value) { return value; }
__device__ __forceinline__ Mask mask_from_bits(unsigned bits) { return bits & 1u; }
__device__ __forceinline__ Int lane_index() { return 0; }
__device__ __forceinline__ Real select(Mask mask, Real a, Real b) { return mask ? a : b; }
__device__ __forceinline__ Int select(Mask mask, Int a, Int b) { return mask ? a : b; }
__device__ __forceinline__ bool any(Mask mask) { return mask; }
__device__ __forceinline__ bool all(Mask mask) { return mask; }
__device__ __forceinline__ unsigned mask_bits(Mask mask) { return mask ? 1u : 0u; }
__device__ __forceinline__ float lane(Real value, int) { return value; }
__device__ __forceinline__ int lane(Int value, int) { return value; }
__device__ __forceinline__ Real spread(Real value, int) { return value; }
__device__ __forceinline__ void set_lane(Real& value, int, float x) { value = x; }
__device__ __forceinline__ void set_lane(Int& value, int, int x) { value = x; }
__device__ __forceinline__ Real load(const float* at) { return *at; }
__device__ __forceinline__ Int load(const int* at) { return *at; }
__device__ __forceinline__ Real load_halves(const float* at, const float*) { return *at; }
__device__ __forceinline__ Real swap_halves(Real value) { return value; }
__device__ __forceinline__ void load_fours(const float4* const* at, Real& x, Real& y, Real& z, Real& w) {
    x = at[0]->x;
    y = at[0]->y;
    z = at[0]->z;
    w = at[0]->w;
}
__device__ __forceinline__ void store(float* at, Real value) { *at = value; }
__device__ __forceinline__ void store(int* at, Int value) { *at = value; }
__device__ __forceinline__ Real gather(Pointer<const float> values, Int index) { return values[index]; }
__device__ __forceinline__ Real lanes_sqrt(Real value) { return sqrtf(value); }
__device__ __forceinline__ Real lanes_abs(Real value) { return fabsf(value); }
__device__ __forceinline__ Real lanes_floor(Real value) { return floorf(value); }
__device__ __forceinline__ Real lanes_ceil(Real value) { return ceilf(value); }
__device__ __forceinline__ Real splat_as(Real, float value) { return value; }
__device__ __forceinline__ Real lanes_fma(Real a, Real b, Real c) { return fmaf(a, b, c); }
__device__ __forceinline__ Int lanes_popcount(Int value) { return __popc((unsigned)value); }
__device__ __forceinline__ Real to_real(Int value) { return (float)value; }
__device__ __forceinline__ Int bits_of(Real value) { return __float_as_int(value); }
__device__ __forceinline__ Real real_of_bits(Int bits) { return __int_as_float(bits); }
__device__ __forceinline__ Int truncated(Real value) { return (int)value; }
#endif

// The smallest and largest value among the lanes of a mask; FLOAT_MAX and -FLOAT_MAX of none.
#if defined(__AVX512F__) && defined(__AVX512VL__) && RAYS_PER_THREAD == 16
inline float horizontal_min(Real value, Mask mask) {
    return _mm512_reduce_min_ps((NativeReal)select(mask, value, splat(FLOAT_MAX)).v);
}
inline float horizontal_max(Real value, Mask mask) {
    return _mm512_reduce_max_ps((NativeReal)select(mask, value, splat(-FLOAT_MAX)).v);
}
#else
__device__ __forceinline__ float horizontal_min(Real value, Mask mask) {
    const Real masked = select(mask, value, splat(FLOAT_MAX));
    float result = lane(masked, 0);
#pragma unroll
    for (int i = 1; i < PACK; ++i) result = min(result, lane(masked, i));
    return result;
}
__device__ __forceinline__ float horizontal_max(Real value, Mask mask) {
    const Real masked = select(mask, value, splat(-FLOAT_MAX));
    float result = lane(masked, 0);
#pragma unroll
    for (int i = 1; i < PACK; ++i) result = max(result, lane(masked, i));
    return result;
}
#endif
