// The threads of a warp or a block, shared out over what a node has (its places, its points: a pack each) and over
// slices of the lists that it hears of, so that a long list is not a single thread's. On the host one thread has all.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/warp_stride.cuh"

struct Slices {
    int width;  // packs side by side: at most a warp's lanes, a power of two
    int pack, slice, count;  // this thread's own, and how many slices there are
};
__device__ __forceinline__ Slices slices_of(int packs, int thread, int threads) {
    int width = 1;
    while (width < packs && width < WARP_LANES) width *= 2;
    return {width, thread % width, thread / width, threads / width};
}
