// A box that all blocks grow together: six words of memory that they share, lower then upper, as ordered integers.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

// The box of all threads' boxes into `words`; every thread of the block calls it. Nothing where all are empty.
__device__ __forceinline__ void merge_block_box(const Aabb& of_thread, int* words) {
    const float3 lower = make_float3(block_min(of_thread.lower.x), block_min(of_thread.lower.y), block_min(of_thread.lower.z));
    const float3 upper = make_float3(block_max(of_thread.upper.x), block_max(of_thread.upper.y), block_max(of_thread.upper.z));
    if (thread_index() > 0 || !(lower.x <= upper.x)) return;
    atomic_min_float(words + 0, lower.x);
    atomic_min_float(words + 1, lower.y);
    atomic_min_float(words + 2, lower.z);
    atomic_max_float(words + 3, upper.x);
    atomic_max_float(words + 4, upper.y);
    atomic_max_float(words + 5, upper.z);
}
