// The boxes of all primitives, a thread each.
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

// Calls `each` with the number and the box of every primitive.
template <class Kind, class Each>
__device__ __forceinline__ void over_boxes(const Kind& primitives, const Each& each) {
    if (!STAGES_TRIANGLES) {
        for (int i : grid_stride(primitives.count)) each(i, primitives.aabb(i));
        return;
    }
    for (int first = block_index() * THREADS; first < primitives.count; first += block_count() * THREADS) {
        const Aabb box = staged_box<THREADS>(primitives, first);
        if (first + thread_index() < primitives.count) each(first + thread_index(), box);
    }
}
