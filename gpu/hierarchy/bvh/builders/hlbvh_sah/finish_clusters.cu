// The rest of the top levels: a block takes a task and splits it down to single clusters, in shared memory, a level of
// all its nodes at once. Here every cluster is a candidate on every axis (a full sweep): so few of them need no bins.
//
// A task that is still larger than SMALL after all rounds is first halved along the Morton curve. Below SAH_LEVELS
// levels sets are halved too, which bounds the depth. Unit constants: CODE_BITS, CLUSTER_BITS, SMALL, ROUNDS,
// SAH_LEVELS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/clusters.cuh"
#include "gpu/hierarchy/bvh/sweep.cuh"

constexpr int STACK = CLUSTER_BITS + 2;  // tasks that wait while one is halved: one per level

// What lies at a place: a cluster.
struct SweptClusters {
    Swept swept;  // `nodes`: the number of a set's node
    int clusters[SMALL];
};

// The cluster of one place moves to its half of the set, and is linked to its parent if it is alone there. Returns
// whether it is not alone.
__device__ __forceinline__ bool distribute(SweptClusters& shared, int side, int place, int level, const TopTask& task,
                                           const TopTree& tree, int cluster_count, int max_leaf_size) {
    Swept& swept = shared.swept;
    const int first = swept.first[side][place];
    SweepPlane plane = {NO_AXIS, 0.0f};
    if (level < SAH_LEVELS) plane = cheapest_plane(swept, side, first, swept.end[side][place]);
    const SweepChild child = child_of(swept, side, place, plane);
    move_item(swept, side, place, child);
    const int link = 2 * top_node_id(tree.ranges, swept.nodes[side][first]) + (child.is_left ? 0 : 1);
    const bool is_set = child.end - child.first > 1;
    if (!is_set) {
        tree.hang(cluster_word(tree.ranges, shared.clusters[swept.items[side][place]], cluster_count, max_leaf_size),
                  link);
    } else if (child.to == child.first) {
        const int top = task.start + (child.is_left ? child.end - 1 : child.first);
        swept.nodes[1 - side][child.to] = top;
        tree.add({task.start + child.first, child.end - child.first, top, link});
    }
    return is_set;
}

// A task of at most SMALL clusters, all of it.
__device__ __forceinline__ void sweep_task(SweptClusters& shared, const TopTask& task, const unsigned* list,
                                           const int* boxes, const TopTree& tree, int cluster_count,
                                           int max_leaf_size) {
    Swept& swept = shared.swept;
    for (int place : block_stride(task.count)) {
        const int cluster = (int)(list[task.start + place] & ((1u << (32 - ROUNDS)) - 1));
        const int* at = boxes + 6 * cluster;
        const Aabb box = {make_float3(ordered_float(at[0]), ordered_float(at[1]), ordered_float(at[2])),
                          make_float3(ordered_float(at[3]), ordered_float(at[4]), ordered_float(at[5]))};
        swept.put(place, box, tree.ranges[cluster].y - tree.ranges[cluster].x + 1, task.count);
        shared.clusters[place] = cluster;
        if (place == 0 && task.count == 1)
            tree.hang(cluster_word(tree.ranges, cluster, cluster_count, max_leaf_size), task.link);
        if (place == 0 && task.count > 1) {
            swept.nodes[0][0] = task.top;
            tree.add(task);
        }
    }
    block_sync();
    bool is_unfinished = task.count > 1;
    for (int level = 0, side = 0; is_unfinished; ++level, side = 1 - side) {
        for (int candidate : block_stride(3 * task.count)) {
            const bool is_set = swept.set_size(side, candidate / 3) > 1 && level < SAH_LEVELS;
            swept.costs[candidate] = is_set ? sweep_cost(swept, side, candidate / 3, candidate % 3) : -1.0f;
        }
        block_sync();
        int set_places = 0;
        for (int place : block_stride(task.count)) {
            if (swept.set_size(side, place) == 1) keep_item(swept, side, place);
            else set_places += distribute(shared, side, place, level, task, tree, cluster_count, max_leaf_size) ? 1 : 0;
        }
        is_unfinished = block_sum(set_places) > 0;
        block_sync();
    }
}

// One block per slot. `list`: the clusters sorted by slot, then by number.
extern "C" __global__ void finish_clusters(const int* cluster_count, int task_count, const int4* task_data,
                                           const unsigned* list, const int2* ranges, const int* boxes, float4* nodes,
                                           int* parent, uint8* flags, int* root, int max_leaf_size) {
    SHARED SweptClusters shared;
    SHARED TopTask waiting[STACK];
    const TopTree tree = {nodes, parent, flags, root, ranges};
    for (int slot = block_index(); slot < task_count; slot += block_count()) {
        int waiting_count = 1;
        if (thread_index() == 0) waiting[0] = ((const TopTask*)task_data)[slot];
        block_sync();
        while (waiting_count > 0) {
            const TopTask task = waiting[--waiting_count];
            block_sync();
            if (task.count == 0) continue;
            if (task.count <= SMALL) {
                sweep_task(shared, task, list, boxes, tree, *cluster_count, max_leaf_size);
                continue;
            }
            if (thread_index() == 0) {
                const int node_id = tree.add(task);
                waiting[waiting_count] = right_task(task, task.count / 2, node_id);
                waiting[waiting_count + 1] = left_task(task, task.count / 2, node_id);
            }
            waiting_count += 2;
            block_sync();
        }
    }
}
