// A box that all blocks grow together: six words of memory that they share, lower then upper, as ordered integers. Who
// grows it first must find it empty (empty_words).
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

__device__ __forceinline__ void empty_words(int* words) {
    for (int i = 0; i < 6; ++i) words[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
}
// Nothing where the box is empty.
__device__ __forceinline__ void merge_box_into(int* words, const Aabb& box) {
    if (is_empty(box)) return;
    atomic_min_float(words + 0, box.lower.x);
    atomic_min_float(words + 1, box.lower.y);
    atomic_min_float(words + 2, box.lower.z);
    atomic_max_float(words + 3, box.upper.x);
    atomic_max_float(words + 4, box.upper.y);
    atomic_max_float(words + 5, box.upper.z);
}

// The box of all threads' boxes, which all get; every thread of the block calls it.
__device__ __forceinline__ Aabb block_box(const Aabb& of_thread) {
    const float3 lower = make_float3(block_min(of_thread.lower.x), block_min(of_thread.lower.y),
                                     block_min(of_thread.lower.z));
    const float3 upper = make_float3(block_max(of_thread.upper.x), block_max(of_thread.upper.y),
                                     block_max(of_thread.upper.z));
    return {lower, upper};
}

// The same into `words`. Nothing where all are empty.
__device__ __forceinline__ void merge_block_box(const Aabb& of_thread, int* words) {
    const Aabb box = block_box(of_thread);
    if (thread_index() == 0) merge_box_into(words, box);
}
__device__ __forceinline__ Aabb box_of_words(const int* words) {
    return {make_float3(ordered_float(words[0]), ordered_float(words[1]), ordered_float(words[2])),
            make_float3(ordered_float(words[3]), ordered_float(words[4]), ordered_float(words[5]))};
}
