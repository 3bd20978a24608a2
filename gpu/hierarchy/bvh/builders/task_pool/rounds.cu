// The rounds of the pool: every task of more than SMALL references does one step of its splitting in each kernel, with
// as many chunks of work as it is large. After Vinkler, Bittner, Havran and Hapala 2013, as Meister 2014, 5.6, tells
// it: phases of a task are binning, choice of the plane, counting, moving; here they are kernels, because no block may
// wait for another. References keep their order within a child (prefix sums instead of two counters that run towards
// each other), so that the tree is the same whoever comes first.
//
// Launch order: clear_pool, begin_pool; a round is open_tasks, bin_chunks (SAH alone), count_chunks, move_chunks,
// close_round; then, where the depth ends before the rounds do, keep_tasks. Unit constants: BINS, CHUNK, SMALL,
// SPLITS_BY_SAH.
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/builders/task_pool/pool.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

constexpr int TASK_BINS = 3 * BINS;

// The root's task, and bounds that begin_pool can merge into.
extern "C" __global__ void clear_pool(int n, int* bounds, int* counts, int4* tasks, int* first_chunks, int4* small,
                                      int* parent, int* root, int max_leaf_size) {
    if (block_index() != 0 || thread_index() != 0) return;
    const bool is_small = n <= SMALL;
    const Task whole = {0, n, 0, 0};
    empty_words(bounds);
    ((Task*)(is_small ? small : tasks))[0] = whole;
    counts[TASKS] = is_small ? 0 : 1;
    counts[CHUNKS] = is_small ? 0 : whole.chunk_count();
    counts[SMALL_TASKS] = is_small ? 1 : 0;
    first_chunks[0] = 0;
    *root = n <= max_leaf_size ? leaf_child(0, n) : 0;
    if (n > 1) parent[0] = -1;
}

// Boxes, the list in the order of the scene, the bounds of all centroids.
extern "C" __global__ void begin_pool(Primitives primitives, float4* boxes, int* prim_ids, int* bounds, uint8* flags) {
    Aabb mine = empty_aabb();
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        boxes[2 * (int64)i] = make_float4(box.lower.x, box.lower.y, box.lower.z, 0.0f);
        boxes[2 * (int64)i + 1] = make_float4(box.upper.x, box.upper.y, box.upper.z, 0.0f);
        prim_ids[i] = i;
        if (i < primitives.count - 1) flags[i] = 0;
        if (!is_empty(box)) mine = grow(mine, centre(box));
    }
    merge_block_box(mine, bounds);
}

// A task's bins, chunks and children are made ready; without SAH its plane is known: the middle of the greatest extent.
// With `halves` all are halved.
extern "C" __global__ void open_tasks(const int* counts, const int4* task_data, const int* first_chunks,
                                      const int* bounds, int halves, int2* chunk_data, float* bin_data, int* planes,
                                      int* arrived, int* child_bounds) {
    const int task_count = counts[TASKS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const Task mine = ((const Task*)task_data)[task];
        for (int i : block_stride(mine.chunk_count())) chunk_data[first_chunks[task] + i] = make_int2(task, i);
        if (SPLITS_BY_SAH) {
            for (int i : block_stride(TASK_BINS)) ((Bin*)bin_data)[(int64)task * TASK_BINS + i].clear();
        }
        if (thread_index() != 0) continue;
        empty_words(child_bounds + 12 * (int64)task);
        empty_words(child_bounds + 12 * (int64)task + 6);
        arrived[task] = 0;
        const int* at = bounds + 6 * (int64)task;
        const float3 extent = make_float3(ordered_float(at[3]) - ordered_float(at[0]),
                                          ordered_float(at[4]) - ordered_float(at[1]),
                                          ordered_float(at[5]) - ordered_float(at[2]));
        const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
        planes[task] = halves || SPLITS_BY_SAH ? HALVE : axis * BINS + BINS / 2 - 1;
    }
}

// -- binning and the choice of the plane -----------------------------------------------------------------

// A block bins a chunk in shared memory and adds what it found to the task's bins; the last one of a task chooses
// (Vinkler's "last finished warp").
extern "C" __global__ void bin_chunks(const int* counts, const int4* task_data, const int2* chunk_data,
                                      const int* bounds, const float4* boxes, const int* list, const int* other_list,
                                      float* bin_data, int* arrived, int* planes) {
    SHARED Bin bins[TASK_BINS];
    SHARED int is_last;
    SHARED uint64 best[3];
    SHARED float above[3][BINS];
    const int chunk_count = counts[CHUNKS];
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        const Chunk mine = {chunk_data[chunk].x, chunk_data[chunk].y};
        const Task task = ((const Task*)task_data)[mine.task];
        const BinGrid grid = grid_of(bounds + 6 * (int64)mine.task);
        const int* references = task.side() == 0 ? list : other_list;
        Bin* all = (Bin*)bin_data + (int64)mine.task * TASK_BINS;
        for (int i : block_stride(TASK_BINS)) bins[i].clear();
        block_sync();
        const int first = mine.first(task);
        for (int i : block_stride(mine.count(task))) {
            const Aabb box = load_box(boxes, references[first + i]);
            for (int axis = 0; axis < 3; ++axis) bins[axis * BINS + grid.bin(axis, box)].grow_in_block(box);
        }
        block_sync();
        for (int i : block_stride(TASK_BINS)) {
            if (bins[i].count > 0) all[i].merge(bins[i]);
        }
        block_sync();
        if (thread_index() == 0) is_last = atomic_arrive(arrived + mine.task) == task.chunk_count() - 1;
        block_sync();
        if (is_last) {
            for (int i : block_stride(TASK_BINS)) bins[i] = all[i];
            block_sync();
            for (int axis : block_stride(3)) best[axis] = best_plane(bins + axis * BINS, axis, above[axis]);
            block_sync();
            const uint64 plane = better(best[0], better(best[1], best[2]));
            if (thread_index() == 0 && plane != NO_PLANE)
                planes[mine.task] = plane_axis(plane) * BINS + plane_bin(plane);
        }
        block_sync();
    }
}

// -- reordering ------------------------------------------------------------------------------------------

extern "C" __global__ void count_chunks(const int* counts, const int4* task_data, const int2* chunk_data,
                                        const int* bounds, const float4* boxes, const int* list, const int* other_list,
                                        const int* planes, int* left_counts) {
    const int chunk_count = counts[CHUNKS];
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        const Chunk mine = {chunk_data[chunk].x, chunk_data[chunk].y};
        const Task task = ((const Task*)task_data)[mine.task];
        const BinGrid grid = grid_of(bounds + 6 * (int64)mine.task);
        const int* references = task.side() == 0 ? list : other_list;
        const int plane = planes[mine.task], first = mine.first(task);
        int left_count = 0;
        for (int i : block_stride(mine.count(task))) {
            left_count += goes_left(plane, grid, load_box(boxes, references[first + i]), first + i - task.first,
                                    task.count / 2)
                              ? 1
                              : 0;
        }
        left_count = block_sum(left_count);
        if (thread_index() == 0) left_counts[chunk] = left_count;
    }
}

// The references of a chunk go to their child's range in the other list, in their order: behind those of the chunks
// before. A plane that leaves a child empty gives way to halving. The first chunk writes the node.
extern "C" __global__ void move_chunks(const int* counts, const int4* task_data, const int2* chunk_data,
                                       const int* bounds, const float4* boxes, const int* planes,
                                       const int* left_counts, int max_leaf_size, int max_depth, float4* nodes,
                                       int* parent, uint8* flags, int* long_leaves, int* list, int* other_list,
                                       int4* child_data, int* child_bounds) {
    const int chunk_count = counts[CHUNKS];
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        const Chunk mine = {chunk_data[chunk].x, chunk_data[chunk].y};
        const Task task = ((const Task*)task_data)[mine.task];
        const BinGrid grid = grid_of(bounds + 6 * (int64)mine.task);
        const int* from = task.side() == 0 ? list : other_list;
        int* to = task.side() == 0 ? other_list : list;
        const int first = mine.first(task), count = mine.count(task), half = task.count / 2;
        int all_left = 0, left_before = 0, plane = planes[mine.task];
        for (int i : block_stride(task.chunk_count())) {
            const int here = left_counts[chunk - mine.number + i];
            all_left += here;
            if (i < mine.number) left_before += here;
        }
        all_left = block_sum(all_left);
        left_before = block_sum(left_before);
        if (all_left == 0 || all_left == task.count) {
            plane = HALVE;
            all_left = half;
            left_before = min(first - task.first, half);
        }
        Aabb left_centres = empty_aabb(), right_centres = empty_aabb();
        for (int start = 0; start < count; start += block_threads()) {
            const int i = start + thread_index();
            const bool is_here = i < count;
            const int prim_id = is_here ? from[first + i] : 0;
            const Aabb box = load_box(boxes, prim_id);
            const bool is_left = is_here && goes_left(plane, grid, box, first + i - task.first, half);
            int total;
            const int before = left_before + block_exclusive_scan(is_left ? 1 : 0, total);
            left_before += total;
            if (!is_here) continue;
            const int position = first + i - task.first;
            to[task.first + (is_left ? before : all_left + position - before)] = prim_id;
            if (is_empty(box)) continue;
            if (is_left) left_centres = grow(left_centres, centre(box));
            else right_centres = grow(right_centres, centre(box));
        }
        int* left_bounds = child_bounds + 12 * (int64)mine.task;
        merge_block_box(left_centres, left_bounds);
        merge_block_box(right_centres, left_bounds + 6);
        if (mine.number == 0 && thread_index() == 0) {
            const bool ends_here = task.depth + 1 == max_depth;  // children are leaves, however large
            const Links links = {nodes, parent, flags, ends_here ? task.count : max_leaf_size, long_leaves};
            Task* children = (Task*)child_data + 2 * (int64)mine.task;
            links.write_inner_node(task.node_id(), task.first, task.first + all_left - 1, task.last());
            children[0] = {task.first, all_left, 1, task.depth + 1};
            children[1] = {task.first + all_left, task.count - all_left, 0, task.depth + 1};
        }
    }
}

// One block: the children become the tasks of the next round, in their order, by prefix sums; small ones go to the list
// that finish.cu takes.
extern "C" __global__ void close_round(int* counts, const int4* child_data, const int* child_bounds, int4* task_data,
                                       int* first_chunks, int* bounds, int4* small_data) {
    if (block_index() != 0) return;
    const int child_count = 2 * counts[TASKS];
    int small_count = counts[SMALL_TASKS], task_count = 0, chunk_count = 0;
    for (int start = 0; start < child_count; start += block_threads()) {
        const int i = start + thread_index();
        Task child = {0, 0, 0, 0};
        if (i < child_count) child = ((const Task*)child_data)[i];
        const bool is_small = child.count > 0 && child.count <= SMALL, is_task = child.count > SMALL;
        int children_here, chunks_here;
        const int before = block_exclusive_scan(is_task ? 1 << 16 : is_small ? 1 : 0, children_here);
        const int chunks_before = block_exclusive_scan(is_task ? child.chunk_count() : 0, chunks_here);
        if (is_small) ((Task*)small_data)[small_count + (before & 0xffff)] = child;
        if (is_task) {
            const int task = task_count + (before >> 16);
            ((Task*)task_data)[task] = child;
            first_chunks[task] = chunk_count + chunks_before;
            for (int k = 0; k < 6; ++k) bounds[6 * (int64)task + k] = child_bounds[6 * (int64)i + k];
        }
        small_count += children_here & 0xffff;
        task_count += children_here >> 16;
        chunk_count += chunks_here;
    }
    block_sync();
    if (thread_index() == 0) {
        counts[TASKS] = task_count;
        counts[CHUNKS] = chunk_count;
        counts[SMALL_TASKS] = small_count;
    }
}

// The tasks that are left where the depth ends: leaves, as their nodes know already.
extern "C" __global__ void keep_tasks(const int* counts, const int4* task_data, const int* list, const int* other_list,
                                      int* order) {
    const int task_count = counts[TASKS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const Task mine = ((const Task*)task_data)[task];
        for (int i : block_stride(mine.count))
            order[mine.first + i] = (mine.side() == 0 ? list : other_list)[mine.first + i];
    }
}
