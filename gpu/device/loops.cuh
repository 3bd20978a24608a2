// The loops of every kernel. On CUDA a grid-stride loop steps by the grid, on the host a block takes one contiguous
// chunk.
//
//     for (int i : grid_stride(n)) ...      items 0 .. n-1 spread over all threads of all blocks
//     for (int i : block_stride(n)) ...     items 0 .. n-1 spread over the threads of this block
//     for (int i : lane_stride(n)) ...      items 0 .. n-1 spread over the lanes of this warp
#pragma once
#include "gpu/device/types.cuh"

struct Stride {
    int first, last, step;

    struct Iterator {
        int index, step;
        __device__ int operator*() const { return index; }
        __device__ void operator++() { index += step; }
        __device__ bool operator!=(const Iterator& end) const { return index < end.index; }
    };
    __device__ Iterator begin() const { return {first, step}; }
    __device__ Iterator end() const { return {last, step}; }
};

#ifdef CUDA_ON_HOST
__device__ int block_index() { return cuda_on_host::block_index.x; }
__device__ int block_count() { return cuda_on_host::grid_size.x; }
__device__ int thread_index() { return 0; }
__device__ int block_threads() { return 1; }
__device__ Stride grid_stride(int n) {
    const int64 block = block_index(), count = block_count();
    return {(int)(n * block / count), (int)(n * (block + 1) / count), 1};
}
__device__ Stride block_stride(int n) { return {0, n, 1}; }
__device__ Stride lane_stride(int n) { return {0, n, 1}; }
#else
__device__ __forceinline__ int block_index() { return blockIdx.x; }
__device__ __forceinline__ int block_count() { return gridDim.x; }
__device__ __forceinline__ int thread_index() { return threadIdx.x; }
__device__ __forceinline__ int block_threads() { return blockDim.x; }
__device__ __forceinline__ Stride grid_stride(int n) {
    return {(int)(blockIdx.x * blockDim.x + threadIdx.x), n, (int)(gridDim.x * blockDim.x)};
}
__device__ __forceinline__ Stride block_stride(int n) { return {(int)threadIdx.x, n, (int)blockDim.x}; }
__device__ __forceinline__ Stride lane_stride(int n) { return {(int)(threadIdx.x % 32), n, 32}; }
#endif
