// What the large and the small tasks of the builders with a task queue share (sah_queue.py): where a task is split,
// and small ones in a word less. Unit constants: BINS, SMALL (most references of a small task), CHUNK
// (references of a large task that one block works on).
#pragma once
#include "gpu/hierarchy/bvh/binning.cuh"
#include "gpu/hierarchy/bvh/task_queue.cuh"

// References lie in one of two arrays, which levels take in turn. Small tasks have their depth above their count.
constexpr int COUNT_BITS = 16;
__device__ __forceinline__ int4 small_task_over(const int4& task, int depth) {
    return make_int4(task.x, task.y | depth << COUNT_BITS, task.z, task.w);
}
__device__ __forceinline__ int depth_of(const int4& small_task) { return small_task.y >> COUNT_BITS; }
__device__ __forceinline__ int count_of(const int4& small_task) { return small_task.y & ((1 << COUNT_BITS) - 1); }

// Bounds of centroids as ordered integers: lower x, y, z, upper x, y, z.
struct CentroidBounds {
    float3 lower, upper;

    __device__ static CentroidBounds none() { return {empty_aabb().lower, empty_aabb().upper}; }
    __device__ static CentroidBounds load(const int* bounds) {
        return {make_float3(ordered_float(bounds[0]), ordered_float(bounds[1]), ordered_float(bounds[2])),
                make_float3(ordered_float(bounds[3]), ordered_float(bounds[4]), ordered_float(bounds[5]))};
    }
    __device__ static void clear(int* bounds) {
        for (int k = 0; k < 6; ++k) bounds[k] = ordered_int(k < 3 ? FLOAT_MAX : -FLOAT_MAX);
    }
    __device__ BinGrid grid() const { return BinGrid::over(lower, upper); }
    __device__ void grow(const Aabb& box) {
        if (is_empty(box)) return;
        const float3 centroid = centre(box);
        lower = min(lower, centroid);
        upper = max(upper, centroid);
    }
    // The whole block's bounds into memory that blocks share.
    __device__ void merge_block_into(int* bounds) const { merge_block_box({lower, upper}, bounds); }
};

// Where a task is split: after the bin `bin` of an axis, or, where that is BY_RANK, after the first `left_count` along
// it, or, where `axis` is MEDIAN, after `left_count` references as they lie.
constexpr int MEDIAN = -1, BY_RANK = -1;
struct Split {
    int axis, bin, left_count;

    __device__ static Split of(uint64 plane, const Bin* bins, int count) {
        if (plane == NO_PLANE) return {MEDIAN, 0, count / 2};
        const Split split = {plane_axis(plane), plane_bin(plane), 0};
        int left_count = 0;
        for (int bin = 0; bin <= split.bin; ++bin) left_count += bins[split.axis * BINS + bin].count;
        return {split.axis, split.bin, left_count};
    }
    // `place`: the reference's among those of its task.
    __device__ bool is_left(const BinGrid& grid, const Aabb& box, int place) const {
        return axis == MEDIAN ? place < left_count : grid.bin(axis, box) <= bin;
    }
};
