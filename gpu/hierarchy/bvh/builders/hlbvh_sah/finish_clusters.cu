// The rest of the top levels: a block takes a task and splits it down to single clusters, in shared memory, a level of all its nodes at once. Here
// every cluster is a candidate on every axis (a full sweep): so few of them need no bins.
//
// A task that is still larger than SMALL after all rounds is first halved along the Morton curve. Below SAH_LEVELS levels sets are halved too,
// which bounds the depth. Unit constants: CODE_BITS, CLUSTER_BITS, SMALL, ROUNDS, SAH_LEVELS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/clusters.cuh"

constexpr int STACK = CLUSTER_BITS + 2;  // tasks that wait while one is halved: one a level

// Up to SMALL clusters, and the sets that they make, level by level. A place is a position in the list; a set is the places [first, end).
struct Swept {
    Aabb boxes[SMALL];
    float3 centres[SMALL];
    int reference_counts[SMALL], clusters[SMALL];
    int items[2][SMALL], first[2][SMALL], end[2][SMALL];  // at each place: what lies there, and its set
    int tops[2][SMALL];                                    // at a set's first place: the number of its node
    float costs[3 * SMALL];
};

__device__ __forceinline__ float along(float3 point, int axis) { return axis == 0 ? point.x : axis == 1 ? point.y : point.z; }

// What it costs to part the set of `place` behind the item there, on an axis; below 0 where nothing would remain.
__device__ __forceinline__ float sweep_cost(const Swept& swept, int side, int place, int axis) {
    const float plane = along(swept.centres[swept.items[side][place]], axis);
    Aabb left = empty_aabb(), right = empty_aabb();
    int left_count = 0, right_count = 0;
    for (int other = swept.first[side][place]; other < swept.end[side][place]; ++other) {
        const int item = swept.items[side][other];
        if (along(swept.centres[item], axis) <= plane) {
            left = merge(left, swept.boxes[item]);
            left_count += swept.reference_counts[item];
        } else {
            right = merge(right, swept.boxes[item]);
            right_count += swept.reference_counts[item];
        }
    }
    if (right_count == 0) return -1.0f;
    return min(half_area(left) * (float)left_count + half_area(right) * (float)right_count, FLOAT_MAX);
}

// The cheapest candidate of a set, of equal ones the first: 3 * place + axis, or -1 where no axis tells its clusters apart.
__device__ __forceinline__ int find_cheapest(const Swept& swept, int first, int end) {
    int best = -1;
    for (int candidate = 3 * first; candidate < 3 * end; ++candidate) {
        const float cost = swept.costs[candidate];
        if (cost >= 0.0f && (best < 0 || cost < swept.costs[best])) best = candidate;
    }
    return best;
}

// The item of one place moves to its part of the set, and hangs itself up if it is alone there. Whether it is not.
__device__ __forceinline__ bool distribute(Swept& swept, int side, int place, int split, const TopTask& task, const TopTree& tree, int cluster_count,
                                           int max_leaf_size) {
    const int first = swept.first[side][place], end = swept.end[side][place], item = swept.items[side][place];
    int left_count = (end - first) / 2, before = min(place - first, left_count);
    bool is_left = place - first < left_count;
    if (split >= 0) {
        const int axis = split % 3;
        const float plane = along(swept.centres[swept.items[side][split / 3]], axis);
        left_count = before = 0;
        for (int other = first; other < end; ++other) {
            const bool goes_left = along(swept.centres[swept.items[side][other]], axis) <= plane;
            if (goes_left && other < place) ++before;
            if (goes_left) ++left_count;
        }
        is_left = along(swept.centres[item], axis) <= plane;
    }
    const int node_id = top_node_id(tree.ranges, swept.tops[side][first]), link = 2 * node_id + (is_left ? 0 : 1);
    const int to = is_left ? first + before : first + left_count + (place - first - before);
    const int part_first = is_left ? first : first + left_count, part_end = is_left ? first + left_count : end;
    swept.items[1 - side][to] = item;
    swept.first[1 - side][to] = part_first;
    swept.end[1 - side][to] = part_end;
    const bool is_set = part_end - part_first > 1;
    if (!is_set) {
        tree.hang(cluster_word(tree.ranges, swept.clusters[item], cluster_count, max_leaf_size), link);
    } else if (to == part_first) {
        const int top = task.start + (is_left ? part_end - 1 : part_first);
        swept.tops[1 - side][to] = top;
        tree.add({task.start + part_first, part_end - part_first, top, link});
    }
    return is_set;
}

// A task of at most SMALL clusters, all of it.
__device__ __forceinline__ void sweep_task(Swept& swept, const TopTask& task, const unsigned* list, const int* boxes, const TopTree& tree,
                                           int cluster_count, int max_leaf_size) {
    for (int place : block_stride(task.count)) {
        const int cluster = (int)(list[task.start + place] & ((1u << (32 - ROUNDS)) - 1));
        const int* at = boxes + 6 * cluster;
        const Aabb box = {make_float3(ordered_float(at[0]), ordered_float(at[1]), ordered_float(at[2])),
                          make_float3(ordered_float(at[3]), ordered_float(at[4]), ordered_float(at[5]))};
        swept.boxes[place] = box;
        swept.centres[place] = centre(box);
        swept.clusters[place] = cluster;
        swept.reference_counts[place] = tree.ranges[cluster].y - tree.ranges[cluster].x + 1;
        swept.items[0][place] = place;
        swept.first[0][place] = 0;
        swept.end[0][place] = task.count;
        if (place == 0 && task.count == 1) tree.hang(cluster_word(tree.ranges, cluster, cluster_count, max_leaf_size), task.link);
        if (place == 0 && task.count > 1) {
            swept.tops[0][0] = task.top;
            tree.add(task);
        }
    }
    block_sync();
    bool is_unfinished = task.count > 1;
    for (int level = 0, side = 0; is_unfinished; ++level, side = 1 - side) {
        for (int candidate : block_stride(3 * task.count)) {
            const int place = candidate / 3;
            const bool is_set = swept.end[side][place] - swept.first[side][place] > 1;
            swept.costs[candidate] = is_set && level < SAH_LEVELS ? sweep_cost(swept, side, place, candidate % 3) : -1.0f;
        }
        block_sync();
        int set_places = 0;
        for (int place : block_stride(task.count)) {
            const int first = swept.first[side][place], end = swept.end[side][place];
            if (end - first > 1) {
                set_places += distribute(swept, side, place, find_cheapest(swept, first, end), task, tree, cluster_count, max_leaf_size) ? 1 : 0;
            } else {
                swept.items[1 - side][place] = swept.items[side][place];
                swept.first[1 - side][place] = first;
                swept.end[1 - side][place] = end;
            }
        }
        is_unfinished = block_sum(set_places) > 0;
        block_sync();
    }
}

// One block a slot. `list`: the clusters sorted by slot, then by number.
extern "C" __global__ void finish_clusters(const int* cluster_count, int task_count, const int4* task_data, const unsigned* list,
                                           const int2* ranges, const int* boxes,
                                           float4* nodes, int* parent, uint8* flags, int* root, int max_leaf_size) {
    SHARED Swept swept;
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
                sweep_task(swept, task, list, boxes, tree, *cluster_count, max_leaf_size);
                continue;
            }
            if (thread_index() == 0) {
                const int node_id = tree.add(task);
                waiting[waiting_count] = right_part(task, task.count / 2, node_id);
                waiting[waiting_count + 1] = left_part(task, task.count / 2, node_id);
            }
            waiting_count += 2;
            block_sync();
        }
    }
}
