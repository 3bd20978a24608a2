// Shared memory, barriers and collectives of a block. On the host a block is one thread: shared memory is a stack array
// and barriers vanish.
//
// Every thread of the block calls a collective, in uniform control flow; all threads get the result. Blocks have a
// multiple of 32 threads.
#pragma once
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"

#ifdef CUDA_ON_HOST
#define SHARED
__device__ void block_sync() {}
template <class Number>
inline Number block_sum(Number value) {
    return value;
}
template <class Number>
inline Number block_min(Number value) {
    return value;
}
template <class Number>
inline Number block_max(Number value) {
    return value;
}
template <class Number>
inline Number block_exclusive_scan(Number value, Number& total) {
    total = value;
    return Number(0);
}
__device__ bool block_any(bool value) { return value; }
#else
#define SHARED __shared__
__device__ __forceinline__ void block_sync() { __syncthreads(); }
// Of any thread; blocks may have any number of threads here.
__device__ __forceinline__ bool block_any(bool value) { return __syncthreads_or(value) != 0; }

struct SumOf {
    template <class Number>
    __device__ static Number warp(Number value) {
        return warp_sum(value);
    }
};
struct MinOf {
    template <class Number>
    __device__ static Number warp(Number value) {
        return warp_min(value);
    }
};
struct MaxOf {
    template <class Number>
    __device__ static Number warp(Number value) {
        return warp_max(value);
    }
};

// One value a warp in shared memory, then every warp reduces those; a lane past the last warp repeats the first one or
// adds nothing.
template <class Operation, class Number>
__device__ __forceinline__ Number block_reduce(Number value, bool is_sum) {
    __shared__ Number of_warp[32];
    value = Operation::warp(value);
    if (warp_lane() == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    const int warps = (blockDim.x + 31) / 32;
    const Number mine = warp_lane() < warps ? of_warp[warp_lane()] : (is_sum ? Number(0) : of_warp[0]);
    const Number result = Operation::warp(mine);
    __syncthreads();
    return result;
}
template <class Number>
__device__ __forceinline__ Number block_sum(Number value) {
    return block_reduce<SumOf>(value, true);
}
template <class Number>
__device__ __forceinline__ Number block_min(Number value) {
    return block_reduce<MinOf>(value, false);
}
template <class Number>
__device__ __forceinline__ Number block_max(Number value) {
    return block_reduce<MaxOf>(value, false);
}

template <class Number>
__device__ __forceinline__ Number block_exclusive_scan(Number value, Number& total) {
    __shared__ Number of_warp[32];
    const Number inclusive = warp_inclusive_scan(value);
    if (warp_lane() == 31) of_warp[threadIdx.x / 32] = inclusive;
    __syncthreads();
    const int warps = blockDim.x / 32;
    const Number mine = warp_lane() < warps ? of_warp[warp_lane()] : Number(0);
    const Number before = warp_inclusive_scan(mine);
    total = warp_broadcast(before, 31);
    const int warp = threadIdx.x / 32;
    const Number offset = warp_broadcast(before - mine, warp);
    __syncthreads();
    return offset + inclusive - value;
}
#endif
