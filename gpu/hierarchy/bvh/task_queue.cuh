// What builders with a queue of tasks from the top have in common: references that carry their boxes with them, and
// tasks.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

//  byte  0       12        16      28      32
//        | lower | prim_id | upper | 0     |
struct BoxedReference {
    Aabb box;
    int prim_id;
};
__device__ __forceinline__ BoxedReference load_reference(const float4* references, int index) {
    const float4 low = references[2 * (int64)index], high = references[2 * (int64)index + 1];
    return {{make_float3(low.x, low.y, low.z), make_float3(high.x, high.y, high.z)}, __float_as_int(low.w)};
}
__device__ __forceinline__ void store_reference(float4* references, int index, const BoxedReference& reference) {
    const Aabb& box = reference.box;
    references[2 * (int64)index] = make_float4(box.lower.x, box.lower.y, box.lower.z,
                                               __int_as_float(reference.prim_id));
    references[2 * (int64)index + 1] = make_float4(box.upper.x, box.upper.y, box.upper.z, 0.0f);
}

// A node to be split: its references [first, first + count), its id and its share of the nodes.
__device__ __forceinline__ int4 task_over(int first, int count, int node_id, int budget) {
    return make_int4(first, count, node_id, budget);
}
__device__ __forceinline__ int budget_of(const int4& task) { return task.w; }

// An output queue of one task, all references, by one thread; or the tree is a leaf.
__device__ __forceinline__ void begin_queue(int n, int max_leaf_size, int budget, int4* out_tasks, int* parent,
                                            int* root, int* long_leaves) {
    out_tasks[0] = task_over(0, n, 0, budget);
    out_tasks[1] = task_over(0, 0, 0, 0);
    root[0] = n <= max_leaf_size ? leaf_child(0, n, long_leaves) : 0;
    if (n > 1) parent[0] = -1;
}
// The two tasks that a node's parts become, split at `gap`, in the places 2 i and 2 i + 1.
__device__ __forceinline__ void queue_halves(const int4& task, int left_count, int4* halves) {
    const int gap = task.x + left_count - 1;
    halves[0] = task_over(task.x, left_count, gap, share_of_left(budget_of(task), left_count, task.y));
    halves[1] = task_over(gap + 1, task.y - left_count, gap + 1, share_of_right(budget_of(task), left_count, task.y));
}
