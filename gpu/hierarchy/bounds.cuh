// The box of all finite points, whatever the number of blocks.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

// Adding 0 makes +0 of -0: which of the two is the smaller would depend on the blocks.
__device__ __forceinline__ void store_box(float* boxes, int index, float3 lower, float3 upper) {
    const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
    store3(boxes, 2 * index, lower + zero);
    store3(boxes, 2 * index + 1, upper + zero);
}

// `bounds`: lower and upper x, y, z of all finite points (`points.point(i)` of `count`). `partial`: 6 floats per block;
// the last block to arrive joins them, and leaves `arrived` 0. Every thread of the grid calls it.
template <class Points>
__device__ __forceinline__ void find_bounds(const Points& points, int count, float* partial, int* arrived,
                                            float* bounds) {
    SHARED int is_last;
    Aabb box = empty_aabb();
    for (int i : grid_stride(count)) {
        const float3 point = points.point(i);
        if (is_finite(point)) box = grow(box, point);
    }
    for (int round = 0; round < 2; ++round) {
        const float3 lower = make_float3(block_min(box.lower.x), block_min(box.lower.y), block_min(box.lower.z));
        const float3 upper = make_float3(block_max(box.upper.x), block_max(box.upper.y), block_max(box.upper.z));
        if (round == 1) {
            if (thread_index() == 0) store_box(bounds, 0, lower, upper);
            break;
        }
        if (thread_index() == 0) {
            store_box(partial, block_index(), lower, upper);
            is_last = atomic_arrive(arrived) == block_count() - 1;
            if (is_last) *arrived = 0;
        }
        block_sync();
        if (!is_last) break;
        for (int block : block_stride(block_count()))
            box = merge(box, Aabb{load3(partial, 2 * block), load3(partial, 2 * block + 1)});
    }
}
