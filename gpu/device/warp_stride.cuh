// Items shared out to warps: for (int item : warp_stride(n)), and within, lane_stride for what an item has.
#pragma once
#include "gpu/device/block.cuh"

__device__ __forceinline__ Stride warp_stride(int n) {
    const int warps = block_threads() / WARP_LANES;
    return {block_index() * warps + thread_index() / WARP_LANES, n, block_count() * warps};
}
