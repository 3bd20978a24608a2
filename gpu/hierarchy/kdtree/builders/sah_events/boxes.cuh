// The boxes of all primitives, a thread each.
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

// Of the unit: STAGES_TRIANGLES, whether numbers of vertices, and those themselves, go through shared memory.
constexpr int STAGES_VERTICES = 2;

// Calls `each` with the number and the box of every primitive.
template <class Kind, class Each>
__device__ __forceinline__ void over_boxes(const Kind& primitives, const Each& each) {
    if (!STAGES_TRIANGLES) {
        for (int i : grid_stride(primitives.count)) each(i, primitives.aabb(i));
        return;
    }
    for (int first = block_index() * THREADS; first < primitives.count; first += block_count() * THREADS) {
        const Aabb box = staged_box<THREADS, STAGES_TRIANGLES == STAGES_VERTICES>(primitives, first);
        if (first + thread_index() < primitives.count) each(first + thread_index(), box);
    }
}
