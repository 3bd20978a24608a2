// The pool of tasks (task_pool): what a task is, how its items are cut into chunks of work, where node ids come from.
// Unit constants: BINS, CHUNK, SMALL.
// from gpu.hierarchy.bvh.builders.task_pool import TaskRow
#pragma once
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/bvh/binning.cuh"

// References [first, first + count) that are to be split; its node has Karras' id (tree.py): the last reference of a
// left child, the first of a right one.
struct Task : TaskRow {
    __device__ int side() const { return depth & 1; }  // which of the two lists holds the references
    __device__ int last() const { return first + count - 1; }
    __device__ int node_id() const { return is_left ? last() : first; }
    __device__ int chunk_count() const { return (count + CHUNK - 1) / CHUNK; }
};

// A chunk of work: `number` of its task. Chunks of a task lie beside each other.
struct Chunk {
    int task, number;

    __device__ int first(const Task& owner) const { return owner.first + number * CHUNK; }
    __device__ int count(const Task& owner) const { return min(CHUNK, owner.count - number * CHUNK); }
};

// Counters of a pool. A round finds `tasks` and `chunks`, its last kernel leaves those of the next; `small` only grows.
constexpr int TASKS = 0, CHUNKS = 1, SMALL_TASKS = 2;

// Bounds of centroids, as block_box.cuh has them.
__device__ __forceinline__ BinGrid grid_of(const int* bounds) {
    return BinGrid::over(make_float3(ordered_float(bounds[0]), ordered_float(bounds[1]), ordered_float(bounds[2])),
                         make_float3(ordered_float(bounds[3]), ordered_float(bounds[4]), ordered_float(bounds[5])));
}

// A box of the list of boxes, 32 bytes per primitive.
__device__ __forceinline__ Aabb load_box(const float4* boxes, int prim_id) {
    const float4 lower = boxes[2 * (int64)prim_id], upper = boxes[2 * (int64)prim_id + 1];
    return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z)};
}

// A plane: axis * BINS + the last bin on the left side, or HALVE, by position.
constexpr int HALVE = -1;

__device__ __forceinline__ bool goes_left(int plane, const BinGrid& grid, const Aabb& box, int position, int half) {
    return plane == HALVE ? position < half : grid.bin(plane / BINS, box) <= plane % BINS;
}
