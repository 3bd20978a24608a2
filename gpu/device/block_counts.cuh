// Counts that a block adds up for all, without an overflow: in ints of its shared memory, which go over to the 64-bit
// totals at the end, and before one of them could pass 2^31.
//
//     SHARED int in_block[N];                  every thread of the block, in uniform control flow:
//     BlockCounts counts = {in_block, totals};
//     counts.begin(N);
//     counts.add(place, many);                 any thread, at most LARGEST_COUNT at a time
//     counts.end(N);
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

// A place holds less than FULL_COUNT before each thread of a block, of which there are up to 1024, adds once more.
constexpr int FULL_COUNT = 1 << 30, LARGEST_COUNT = 1 << 20;

struct BlockCounts {
    Pointer<int> in_block;
    Pointer<uint64> totals;

    __device__ __forceinline__ void begin(int count) const {
        for (int i : block_stride(count)) in_block[i] = 0;
        block_sync();
    }
    __device__ __forceinline__ void add(int place, int many) const {
        if (block_atomic_add(&in_block[place], many) >= FULL_COUNT) empty(place);
    }
    __device__ __forceinline__ void end(int count) const {
        block_sync();
        for (int i : block_stride(count)) empty(i);
    }
    __device__ __forceinline__ void empty(int place) const {
        const int gathered = block_atomic_exchange(&in_block[place], 0);
        if (gathered > 0) atomic_add(&totals[place], (uint64)gathered);
    }
};
