// Collectives of a warp: 32 lanes on CUDA, one on the host. All lanes call them together.
#pragma once
#include "gpu/device/types.cuh"
#include "gpu/device/vec.cuh"

#ifdef CUDA_ON_HOST
constexpr int WARP_LANES = 1;
__device__ int warp_lane() { return 0; }
template <class Number>
inline Number warp_sum(Number value) {
    return value;
}
template <class Number>
inline Number warp_sum_apart(Number value, int) {
    return value;
}
template <class Number>
inline Number warp_min(Number value) {
    return value;
}
template <class Number>
inline Number warp_max(Number value) {
    return value;
}
template <class Number>
inline Number warp_inclusive_scan(Number value) {
    return value;
}
template <class Number>
inline Number warp_broadcast(Number value, int) {
    return value;
}
template <class Number>
inline Number warp_across(Number value, int) {
    return value;
}
__device__ bool warp_is_whole() { return true; }
__device__ unsigned warp_here() { return 1u; }
__device__ unsigned warp_ballot_among(unsigned, bool value) { return value ? 1u : 0u; }
template <class Number>
inline Number warp_read_among(unsigned, Number value, int) {
    return value;
}
__device__ void warp_sync() {}
__device__ bool warp_any(bool value) { return value; }
__device__ bool warp_all(bool value) { return value; }
__device__ unsigned warp_ballot(bool value) { return value ? 1u : 0u; }
#else
constexpr int WARP_LANES = 32;
constexpr unsigned WARP_ALL = 0xffffffffu;
__device__ __forceinline__ int warp_lane() { return threadIdx.x & 31; }
template <class Number>
__device__ __forceinline__ Number warp_sum(Number value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_xor_sync(WARP_ALL, value, step);
    return value;
}
// Of the lanes whose numbers differ by a multiple of `apart`, a power of two.
template <class Number>
__device__ __forceinline__ Number warp_sum_apart(Number value, int apart) {
    for (int step = 16; step >= apart; step >>= 1) value += __shfl_xor_sync(WARP_ALL, value, step);
    return value;
}
template <class Number>
__device__ __forceinline__ Number warp_min(Number value) {
    for (int step = 16; step > 0; step >>= 1) value = min(value, __shfl_xor_sync(WARP_ALL, value, step));
    return value;
}
template <class Number>
__device__ __forceinline__ Number warp_max(Number value) {
    for (int step = 16; step > 0; step >>= 1) value = max(value, __shfl_xor_sync(WARP_ALL, value, step));
    return value;
}
template <class Number>
__device__ __forceinline__ Number warp_inclusive_scan(Number value) {
    for (int step = 1; step < 32; step <<= 1) {
        const Number before = __shfl_up_sync(WARP_ALL, value, step);
        if (warp_lane() >= step) value += before;
    }
    return value;
}
template <class Number>
__device__ __forceinline__ Number warp_broadcast(Number value, int lane) {
    return __shfl_sync(WARP_ALL, value, lane);
}
// What the lane has whose number differs by the bits of `bits`.
template <class Number>
__device__ __forceinline__ Number warp_across(Number value, int bits) {
    return __shfl_xor_sync(WARP_ALL, value, bits);
}
// Whether all lanes are here at once: what may be asked where some may have left.
__device__ __forceinline__ bool warp_is_whole() { return __activemask() == WARP_ALL; }
// The lanes that are here at once, as bits; and collectives of such lanes, all of which call them together.
__device__ __forceinline__ unsigned warp_here() { return __activemask(); }
__device__ __forceinline__ unsigned warp_ballot_among(unsigned lanes, bool value) {
    return __ballot_sync(lanes, value);
}
template <class Number>
__device__ __forceinline__ Number warp_read_among(unsigned lanes, Number value, int lane) {
    return __shfl_sync(lanes, value, lane);
}
__device__ __forceinline__ void warp_sync() { __syncwarp(WARP_ALL); }
__device__ __forceinline__ bool warp_any(bool value) { return __any_sync(WARP_ALL, value); }
__device__ __forceinline__ bool warp_all(bool value) { return __all_sync(WARP_ALL, value); }
__device__ __forceinline__ unsigned warp_ballot(bool value) { return __ballot_sync(WARP_ALL, value); }
#endif

// The threads of a block run one after the other, as on the host.
constexpr bool RUNS_SERIAL = WARP_LANES == 1;
