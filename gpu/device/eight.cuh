// Eight numbers worked as one, whatever a pack's width: what one ray of a pack has to do with the children of a wide
// node. Bodies for AVX-512 and AVX2; anywhere else loops.
//
//     Eight                      *, -, min, max; splat_eight, load_eight, store_eight
//     bits_not_above(a, b)       bit i where a <= b at place i
//     bits_below_zero(eight)     bit i where integer i is negative
//     write_chosen(at, eight, chosen)           integers side by side, those whose bit is set; writes eight, always
//     write_chosen(at, eight, chosen, turned)   the same, bit i standing for place i ^ turned
#pragma once
#include "gpu/device/lanes.cuh"

#if defined(__AVX512VL__) && defined(__AVX512DQ__) || defined(__AVX2__)
#include "gpu/device/intrinsics.cuh"
#if defined(NAMED_INTRINSICS) && defined(__AVX512VL__)
#include <avx512vlintrin.h>
//
#include <avx512dqintrin.h>
//
#include <avx512vldqintrin.h>
#endif

struct Eight {
    __m256 v;
};
__device__ __forceinline__ Eight splat_eight(float value) { return {_mm256_set1_ps(value)}; }
__device__ __forceinline__ Eight load_eight(const float* at) { return {_mm256_loadu_ps(at)}; }
__device__ __forceinline__ void store_eight(float* at, Eight value) { _mm256_storeu_ps(at, value.v); }
__device__ __forceinline__ Eight operator*(Eight a, Eight b) { return {a.v * b.v}; }
__device__ __forceinline__ Eight operator-(Eight a, Eight b) { return {a.v - b.v}; }
__device__ __forceinline__ Eight min(Eight a, Eight b) { return {_mm256_min_ps(a.v, b.v)}; }
__device__ __forceinline__ Eight max(Eight a, Eight b) { return {_mm256_max_ps(a.v, b.v)}; }
#else
struct Eight {
    float v[8];
};
__device__ __forceinline__ Eight splat_eight(float value) {
    return {{value, value, value, value, value, value, value, value}};
}
__device__ __forceinline__ Eight load_eight(const float* at) {
    return {{at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]}};
}
__device__ __forceinline__ void store_eight(float* at, Eight value) {
    for (int i = 0; i < 8; ++i) at[i] = value.v[i];
}
__device__ __forceinline__ Eight operator*(Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) a.v[i] *= b.v[i];
    return a;
}
__device__ __forceinline__ Eight operator-(Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) a.v[i] -= b.v[i];
    return a;
}
__device__ __forceinline__ Eight min(Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) a.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
    return a;
}
__device__ __forceinline__ Eight max(Eight a, Eight b) {
    for (int i = 0; i < 8; ++i) a.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
    return a;
}
#endif

#if defined(__AVX512VL__) && defined(__AVX512DQ__)
__device__ __forceinline__ unsigned bits_not_above(Eight a, Eight b) {
    return _mm256_cmp_ps_mask(a.v, b.v, _CMP_LE_OQ);
}
__device__ __forceinline__ unsigned bits_below_zero(const int* eight) {
    return _mm256_movepi32_mask(_mm256_loadu_si256((const __m256i*)eight));
}
__device__ __forceinline__ void write_chosen(int* at, __m256i eight, unsigned chosen) {
    _mm256_storeu_si256((__m256i*)at, _mm256_maskz_compress_epi32((__mmask8)chosen, eight));
}
__device__ __forceinline__ void write_chosen(int* at, const int* eight, unsigned chosen) {
    write_chosen(at, _mm256_loadu_si256((const __m256i*)eight), chosen);
}
__device__ __forceinline__ void write_chosen(int* at, const int* eight, unsigned chosen, int turned) {
    const __m256i places = _mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(turned));
    write_chosen(at, _mm256_permutexvar_epi32(places, _mm256_loadu_si256((const __m256i*)eight)), chosen);
}
#else
#if defined(__AVX2__)
__device__ __forceinline__ unsigned bits_not_above(Eight a, Eight b) {
    return (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_LE_OQ));
}
__device__ __forceinline__ unsigned bits_below_zero(const int* eight) {
    return (unsigned)_mm256_movemask_ps(_mm256_loadu_ps((const float*)eight));
}
#else
__device__ __forceinline__ unsigned bits_not_above(Eight a, Eight b) {
    unsigned bits = 0;
    for (int i = 0; i < 8; ++i) bits |= (unsigned)(a.v[i] <= b.v[i]) << i;
    return bits;
}
__device__ __forceinline__ unsigned bits_below_zero(const int* eight) {
    unsigned bits = 0;
    for (int i = 0; i < 8; ++i) bits |= (unsigned)(eight[i] < 0) << i;
    return bits;
}
#endif
__device__ __forceinline__ void write_chosen(int* at, const int* eight, unsigned chosen, int turned) {
    int side_by_side[8] = {}, count = 0;
    for (int i = 0; i < 8; ++i) {
        side_by_side[count & 7] = eight[i ^ turned];
        count += chosen >> i & 1;
    }
    for (int i = 0; i < 8; ++i) at[i] = side_by_side[i];
}
__device__ __forceinline__ void write_chosen(int* at, const int* eight, unsigned chosen) {
    write_chosen(at, eight, chosen, 0);
}
#endif
