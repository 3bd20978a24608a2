// The task queue as Lauterbach et al. (2009) have it and Meister (2014, 5.2.2) retells it: a block a task, from the
// root to the leaves. PLANES planes per axis part the node's box at equal distances, and each of the block's
// 3 * PLANES threads finds what its plane costs from all references of the task; a reduction finds the cheapest. Then
// the block moves the references, by flags and their prefix sums, and writes two tasks to the places 2 i and 2 i + 1 of
// the output queue, whose holes a compaction removes.
//
// A reference is on the left of a plane where its box's centre is. References that are inactive are on the right of
// all.
//
// Launch order: begin_tasks, write_task_references, compact_tasks; then for every level split_tasks, compact_tasks;
// then, where the depth ends before tasks do, close_tasks. Results depend neither on the order of tasks nor on blocks.
// Unit constant: PLANES.
#include "gpu/hierarchy/bvh/task_queue.cuh"

constexpr int CANDIDATES = 3 * PLANES;
constexpr int NO_CANDIDATE = 0x7fffffff;
constexpr int TASKS = 0;  // in `counts`

extern "C" __global__ void begin_tasks(int n, int max_leaf_size, int budget, int* counts, int4* out_tasks,
                                       int* out_boxes, int* parent, int* root, int* long_leaves) {
    if (block_index() > 0 || thread_index() > 0) return;
    begin_queue(n, max_leaf_size, budget, out_tasks, parent, root, long_leaves);
    counts[TASKS] = 0;
    empty_words(out_boxes);
    empty_words(out_boxes + 6);
}

extern "C" __global__ void write_task_references(Primitives primitives, float4* references, int* order, uint8* flags,
                                                 int* out_boxes) {
    Aabb all = empty_aabb();
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        if (!is_empty(box)) all = merge(all, box);
        store_reference(references, i, {box, i});
        order[i] = i;
        if (i < primitives.count - 1) flags[i] = 0;
    }
    merge_block_box(all, out_boxes);
}

// What lies on both sides of a plane.
struct Sides {
    Aabb left, right;
    int left_count;

    __device__ void add(const Aabb& box, bool is_left) {
        if (is_left) ++left_count;
        if (is_empty(box)) return;
        if (is_left) left = merge(left, box);
        else right = merge(right, box);
    }
    // FLOAT_MAX where a side has nothing, or where the areas are too large.
    __device__ float cost(int count) const {
        if (left_count == 0 || left_count == count) return FLOAT_MAX;
        const float sum = half_area(left) * (float)left_count + half_area(right) * (float)(count - left_count);
        return sum <= FLOAT_MAX ? sum : FLOAT_MAX;
    }
};

struct TaskPlanes {
    float places[CANDIDATES];  // of axis * PLANES + plane
    Sides sides[CANDIDATES];
    Aabb staged[CANDIDATES];

    __device__ static bool is_left(const Aabb& box, int axis, float place) {
        return !is_empty(box) && along(centre(box), axis) < place;
    }
    __device__ void place_planes(const Aabb& box) {
        for (int i : block_stride(CANDIDATES)) {
            const float lower = along(box.lower, i / PLANES), extent = along(box.upper, i / PLANES) - lower;
            places[i] = lower + extent * ((float)(i % PLANES + 1) / (float)(PLANES + 1));
            sides[i] = {empty_aabb(), empty_aabb(), 0};
        }
        block_sync();
    }
    // Each thread adds up what lies on both sides of its plane; all read the same references, from shared memory.
    __device__ void add_references(const float4* references, int first, int count) {
        for (int start = 0; start < count; start += CANDIDATES) {
            const int here = min(CANDIDATES, count - start);
            for (int i : block_stride(here)) staged[i] = load_reference(references, first + start + i).box;
            block_sync();
            for (int candidate : block_stride(CANDIDATES)) {
                Sides mine = sides[candidate];
                for (int i = 0; i < here; ++i)
                    mine.add(staged[i], is_left(staged[i], candidate / PLANES, places[candidate]));
                sides[candidate] = mine;
            }
            block_sync();
        }
    }
    // Of equal costs the lower axis wins, then the lower plane.
    __device__ int cheapest(int count) const {
        float least = FLOAT_MAX;
        int found = NO_CANDIDATE;
        for (int candidate : block_stride(CANDIDATES)) {
            const float cost = sides[candidate].cost(count);
            if (cost < least) {
                least = cost;
                found = candidate;
            }
        }
        const float best = block_min(least);
        return block_min(least == best ? found : NO_CANDIDATE);
    }
};

// Where a task is split: at `place` along an axis, or, where that is MEDIAN, after `left_count` references as they lie.
constexpr int MEDIAN = -1;
struct PlaneSplit {
    int axis, left_count;
    float place;

    __device__ bool is_left(const Aabb& box, int i) const {
        return axis == MEDIAN ? i < left_count : TaskPlanes::is_left(box, axis, place);
    }
};

// The references of a task to their side, in their order, and both sides' boxes.
__device__ __forceinline__ void partition_task(const int4& task, const PlaneSplit& split, const float4* references,
                                               float4* partitioned, int* order, int* out_boxes) {
    int lefts = 0;
    Aabb left = empty_aabb(), right = left;
    for (int first = 0; first < task.y; first += block_threads()) {
        const int i = first + thread_index();
        const BoxedReference reference = load_reference(references, task.x + min(i, task.y - 1));
        const bool is_there = i < task.y, is_left = is_there && split.is_left(reference.box, i);
        int all;
        const int left_place = lefts + block_exclusive_scan(is_left ? 1 : 0, all);
        lefts += all;
        if (is_there) {
            const int to = task.x + (is_left ? left_place : split.left_count + i - left_place);
            store_reference(partitioned, to, reference);
            order[to] = reference.prim_id;
            const Aabb box = is_empty(reference.box) ? empty_aabb() : reference.box;
            if (is_left) left = merge(left, box);
            else right = merge(right, box);
        }
    }
    merge_block_box(left, out_boxes);
    merge_block_box(right, out_boxes + 6);
}

// One block per task. A task that the levels left could not split into leaves by medians alone any more, or that its
// nodes could not, is split at its median; one whose nodes are used up is a leaf.
extern "C" __global__ void split_tasks(const int* counts, int levels_left, int max_leaf_size, const int4* tasks,
                                       const int* task_boxes, const float4* references, float4* partitioned, int* order,
                                       int4* out_tasks, int* out_boxes, float4* nodes, int* parent, uint8* flags,
                                       int* root, int* long_leaves) {
    SHARED TaskPlanes planes;
    const Links links = {nodes, parent, flags, max_leaf_size, long_leaves};
    const Stopping stopping = {max_leaf_size, 0, 1.0f, 1.0f};
    const int task_count = counts[TASKS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const int4 mine = tasks[task];
        const bool ends = stopping.ends_at_once(mine.y, budget_of(mine));
        const bool may_choose = !ends && has_nodes_to_choose(mine.y, budget_of(mine)) &&
                                ceil_log2((mine.y + max_leaf_size - 1) / max_leaf_size) < levels_left;
        int chosen = NO_CANDIDATE;
        if (may_choose) {
            planes.place_planes(box_of_words(task_boxes + 6 * task));
            planes.add_references(references, mine.x, mine.y);
            chosen = planes.cheapest(mine.y);
        }
        PlaneSplit split = {MEDIAN, mine.y / 2, 0.0f};
        if (chosen != NO_CANDIDATE) split = {chosen / PLANES, planes.sides[chosen].left_count, planes.places[chosen]};
        if (thread_index() == 0) {
            const int last = mine.x + mine.y - 1;
            int4* const halves = out_tasks + 2 * task;
            halves[0] = halves[1] = task_over(0, 0, 0, 0);
            empty_words(out_boxes + 12 * task);
            empty_words(out_boxes + 12 * task + 6);
            if (ends) {
                links.close(mine.z, mine.x, last, root);
            } else {
                links.write_inner_node(mine.z, mine.x, mine.x + split.left_count - 1, last);
                queue_halves(mine, split.left_count, halves);
            }
        }
        block_sync();
        if (!ends) partition_task(mine, split, references, partitioned, order, out_boxes + 12 * task);
        block_sync();
    }
}

// One block: the output queue without its holes, which leaves are too, becomes the input queue. `is_first`: it holds
// the root alone.
extern "C" __global__ void compact_tasks(int is_first, int max_leaf_size, const int4* out_tasks, const int* out_boxes,
                                         int* counts, int4* tasks, int* task_boxes) {
    if (block_index() > 0) return;
    const int places = is_first ? 1 : 2 * counts[TASKS];
    int task_count = 0;
    for (int first = 0; first < places; first += block_threads()) {
        const int i = first + thread_index();
        const int4 task = i < places ? out_tasks[i] : task_over(0, 0, 0, 0);
        const bool is_task = task.y > max_leaf_size;
        int all;
        const int place = task_count + block_exclusive_scan(is_task ? 1 : 0, all);
        if (is_task) {
            tasks[place] = task;
            for (int k = 0; k < 6; ++k) task_boxes[6 * place + k] = out_boxes[6 * i + k];
        }
        task_count += all;
    }
    block_sync();
    if (thread_index() == 0) counts[TASKS] = task_count;
}

// The tasks that are left where the depth ends: leaves, however large. Their order is written.
extern "C" __global__ void close_tasks(const int* counts, const int4* tasks, float4* nodes, int* parent, uint8* flags,
                                       int* root, int* long_leaves) {
    const Links links = {nodes, parent, flags, 0, long_leaves};
    for (int task : grid_stride(counts[TASKS])) {
        const int4 mine = tasks[task];
        links.close(mine.z, mine.x, mine.x + mine.y - 1, root);
    }
}
