// The pool's small tasks: a block takes one and splits it down to leaves in shared memory, a level of all its nodes at
// once, and writes the references in their final order. Below SWEEP_LEVELS levels sets are halved, which bounds the
// depth. Unit constants: BINS, CHUNK, SMALL, SPLITS_BY_SAH, SWEEP_LEVELS.
#include "gpu/hierarchy/bvh/builders/task_pool/pool.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"
#include "gpu/hierarchy/bvh/sweep.cuh"

// The item of a place moves to its subset. Whether that will be split again.
__device__ __forceinline__ bool split_at(Swept& swept, int side, int place, int level, int offset, const Links& links) {
    const int first = swept.first[side][place], end = swept.end[side][place];
    SweepPlane plane = {NO_AXIS, 0.0f};
    if (level < SWEEP_LEVELS)
        plane = SPLITS_BY_SAH ? cheapest_plane(swept, side, first, end) : middle_plane(swept, side, first, end);
    const SweepChild child = child_of(swept, side, place, plane);
    move_item(swept, side, place, child);
    if (child.to == child.first) swept.nodes[1 - side][child.to] = child.is_left ? 1 : 0;
    if (place == first) {
        const int node_id = offset + (swept.nodes[side][first] ? end - 1 : first);
        links.write_inner_node(node_id, offset + first, offset + (child.is_left ? child.end : child.first) - 1,
                               offset + end - 1);
    }
    return child.end - child.first > links.max_leaf_size;
}

extern "C" __global__ void finish_tasks(const int* counts, const int4* small_data, const float4* boxes, const int* list,
                                        const int* other_list, int max_leaf_size, int max_depth, float4* nodes,
                                        int* parent, uint8* flags, int* long_leaves, int* order) {
    SHARED Swept swept;
    SHARED int prim_ids[SMALL];
    const int task_count = counts[SMALL_TASKS];
    for (int number = block_index(); number < task_count; number += block_count()) {
        const Task task = ((const Task*)small_data)[number];
        for (int place : block_stride(task.count)) {
            const int prim_id = (task.side() == 0 ? list : other_list)[task.first + place];
            prim_ids[place] = prim_id;
            swept.put(place, load_box(boxes, prim_id), 1, task.count);
            if (place == 0) swept.nodes[0][0] = task.is_left;
        }
        block_sync();
        int side = 0;
        bool is_unfinished = task.count > max_leaf_size && task.depth < max_depth;
        for (int level = 0; is_unfinished; ++level, side = 1 - side) {
            const bool ends_here = task.depth + level + 1 == max_depth;  // children are leaves, however large
            const Links links = {nodes, parent, flags, ends_here ? SMALL : max_leaf_size, long_leaves};
            if (SPLITS_BY_SAH) {
                for (int candidate : block_stride(3 * task.count)) {
                    const bool is_set = swept.set_size(side, candidate / 3) > max_leaf_size && level < SWEEP_LEVELS;
                    swept.costs[candidate] = is_set ? sweep_cost(swept, side, candidate / 3, candidate % 3) : -1.0f;
                }
                block_sync();
            }
            int unfinished_places = 0;
            for (int place : block_stride(task.count)) {
                if (swept.set_size(side, place) <= max_leaf_size) keep_item(swept, side, place);
                else unfinished_places += split_at(swept, side, place, level, task.first, links) ? 1 : 0;
            }
            is_unfinished = block_sum(unfinished_places) > 0;
            block_sync();
        }
        for (int place : block_stride(task.count)) order[task.first + place] = prim_ids[swept.items[side][place]];
        block_sync();
    }
}
