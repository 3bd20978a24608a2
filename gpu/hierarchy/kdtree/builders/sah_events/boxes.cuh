// The boxes of all primitives, a thread each.
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

// A block's boxes, the first of them at `first`: the numbers of its triangles' vertices are read by neighbours and handed on through shared memory, where
// three words a thread never meet in one bank (6.4 of Kolodzey 2014; his triangles are nine floats in a row, without numbers).
template <class Kind> __device__ __forceinline__ Aabb staged_box(const Kind& triangles, int first, decltype(Kind::indices)* = nullptr) {
    SHARED int corners[3 * THREADS];
    const int count = min(THREADS, triangles.count - first), i = thread_index();
    block_sync();
    for (int word : block_stride(3 * count)) corners[word] = triangles.indices[3 * (int64)first + word];
    block_sync();
    if (i >= count) return empty_aabb();
    return Kind::aabb_of(triangles.point(corners[3 * i]), triangles.point(corners[3 * i + 1]), triangles.point(corners[3 * i + 2]));
}
template <class Kind> __device__ __forceinline__ Aabb staged_box(const Kind& spheres, int first, decltype(Kind::radii)* = nullptr) {
    return first + thread_index() < spheres.count ? spheres.aabb(first + thread_index()) : empty_aabb();
}

// Calls `each` with the number and the box of every primitive.
template <class Kind, class Each> __device__ __forceinline__ void over_boxes(const Kind& primitives, const Each& each) {
    if (!STAGES_TRIANGLES) {
        for (int i : grid_stride(primitives.count)) each(i, primitives.aabb(i));
        return;
    }
    for (int first = block_index() * THREADS; first < primitives.count; first += block_count() * THREADS) {
        const Aabb box = staged_box(primitives, first);
        if (first + thread_index() < primitives.count) each(first + thread_index(), box);
    }
}
