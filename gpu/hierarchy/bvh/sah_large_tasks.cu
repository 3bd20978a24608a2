// The top of the tree by task queues, after Lauterbach et al., Fast BVH Construction on GPUs (2009), section 4: every
// level splits all tasks of the queue, writes their children to the places 2 i and 2 i + 1 of an output queue, and a
// compaction removes its holes (4.2). Unlike there a task is not one block's: it is cut into chunks of CHUNK
// references, so that the few tasks near the root fill the device as the many further down do.
//
// Launch order: start_queue, write_references, compact_queue; then for every level bin_chunks, choose_splits,
// partition_chunks, compact_queue; then, where the depth ends before large tasks do, close_tasks. Results depend
// neither on the order of tasks in the queue nor on blocks. Unit constants: BINS, SMALL, CHUNK.
#include "gpu/hierarchy/bvh/sah_tasks.cuh"

constexpr int ALL_BINS = 3 * BINS;
// in `counts`: of the input queue, of its chunks, of the small tasks so far
constexpr int TASKS = 0, CHUNKS = 1, SMALLS = 2;

__device__ __forceinline__ int chunks_of(int count) { return (count + CHUNK - 1) / CHUNK; }

// An output queue of one task, all references; no small task yet.
extern "C" __global__ void start_queue(int n, int max_leaf_size, int budget, int* counts, int4* out_tasks,
                                       int* out_bounds, int* parent, int* root, int* long_leaves) {
    if (block_index() > 0 || thread_index() > 0) return;
    counts[TASKS] = 1;
    counts[CHUNKS] = counts[SMALLS] = 0;
    begin_queue(n, max_leaf_size, budget, out_tasks, parent, root, long_leaves);
    CentroidBounds::clear(out_bounds);
    CentroidBounds::clear(out_bounds + 6);
}

extern "C" __global__ void write_references(Primitives primitives, float4* references, int* out_bounds, uint8* flags,
                                            int bin_count, Bin* bins) {
    CentroidBounds bounds = CentroidBounds::none();
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        bounds.grow(box);
        store_reference(references, i, {box, i});
        if (i < primitives.count - 1) flags[i] = 0;
    }
    for (int i : grid_stride(bin_count)) bins[i].clear();
    bounds.merge_block_into(out_bounds);
}

// One block per chunk: its bins, merged into its task's. `chunk_counts` keeps how many of its references each bin has.
extern "C" __global__ void bin_chunks(const int* counts, const int4* tasks, const int* first_chunks,
                                      const int* task_bounds, const float4* references, Bin* bins, int* task_of_chunk,
                                      int* chunk_counts) {
    SHARED Bin of_block[ALL_BINS];
    const int task_count = counts[TASKS], chunk_count = counts[CHUNKS];
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        int task = 0;  // the last one whose first chunk is not past this
        for (int above = task_count; above - task > 1;) {
            const int middle = (task + above) / 2;
            if (first_chunks[middle] <= chunk) task = middle;
            else above = middle;
        }
        for (int bin : block_stride(ALL_BINS)) of_block[bin].clear();
        if (thread_index() == 0) task_of_chunk[chunk] = task;
        block_sync();
        const int4 mine = tasks[task];
        const BinGrid grid = CentroidBounds::load(task_bounds + 6 * task).grid();
        const int start = (chunk - first_chunks[task]) * CHUNK;
        for (int i : block_stride(min(CHUNK, mine.y - start))) {
            const Aabb box = load_reference(references, mine.x + start + i).box;
            for (int axis = 0; axis < 3; ++axis) of_block[axis * BINS + grid.bin(axis, box)].grow_in_block(box);
        }
        block_sync();
        for (int bin : block_stride(ALL_BINS)) {
            chunk_counts[chunk * ALL_BINS + bin] = of_block[bin].count;
            if (of_block[bin].count > 0) bins[task * ALL_BINS + bin].merge(of_block[bin]);
        }
        block_sync();
    }
}

// How many of a chunk's references go to the left.
__device__ __forceinline__ int left_of_chunk(const Split& split, const int* chunk_counts, int chunk, int start,
                                             int count) {
    if (split.axis == MEDIAN) return max(0, min(CHUNK, min(count, split.left_count) - start));
    int sum = 0;
    for (int bin = 0; bin <= split.bin; ++bin) sum += chunk_counts[chunk * ALL_BINS + split.axis * BINS + bin];
    return sum;
}

// One block per task: the best plane, the node's links, its children in the output queue, and where each chunk's left
// references go. A task that the levels left could not split into small ones by medians alone any more, or that its
// nodes could not, is split at its median. The bins are left clear.
extern "C" __global__ void choose_splits(const int* counts, int levels_left, int max_leaf_size, const int4* tasks,
                                         const int* first_chunks, Bin* bins, const int* chunk_counts, int4* splits,
                                         int* left_before, int4* out_tasks, int* out_bounds, float4* nodes, int* parent,
                                         uint8* flags) {
    SHARED Split chosen;
    SHARED float above[3][BINS];
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int task_count = counts[TASKS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const int4 mine = tasks[task];
        Bin* const of_task = bins + task * ALL_BINS;
        uint64 plane = NO_PLANE;
        const bool may_choose = ceil_log2((mine.y + SMALL - 1) / SMALL) < levels_left &&
                                has_nodes_to_choose(mine.y, budget_of(mine));
        for (int axis : block_stride(may_choose ? 3 : 0))
            plane = better(plane, best_plane(of_task + axis * BINS, axis, above[axis]));
        for (int lane = 0; lane < 3; ++lane) plane = better(plane, warp_broadcast(plane, lane));
        if (thread_index() == 0) {
            const Split split = chosen = Split::of(plane, of_task, mine.y);
            const int gap = mine.x + split.left_count - 1;
            splits[task] = make_int4(split.axis, split.bin, split.left_count, 0);
            links.write_inner_node(mine.z, mine.x, gap, mine.x + mine.y - 1);
            queue_halves(mine, split.left_count, out_tasks + 2 * task);
            CentroidBounds::clear(out_bounds + 12 * task);
            CentroidBounds::clear(out_bounds + 12 * task + 6);
        }
        block_sync();
        const Split split = chosen;
        for (int bin : block_stride(ALL_BINS)) of_task[bin].clear();
        const int chunk_count = chunks_of(mine.y), first_chunk = first_chunks[task];
        int before = 0;
        for (int first = 0; first < chunk_count; first += block_threads()) {
            const int i = first + thread_index(), chunk = first_chunk + i;
            const int here = i < chunk_count ? left_of_chunk(split, chunk_counts, chunk, i * CHUNK, mine.y) : 0;
            int all;
            const int before_here = block_exclusive_scan(here, all);
            if (i < chunk_count) left_before[chunk] = before + before_here;
            before += all;
        }
        block_sync();
    }
}

// One block per chunk: its references to their side, in their order, and the bounds of both sides' centroids.
extern "C" __global__ void partition_chunks(const int* counts, const int4* tasks, const int* first_chunks,
                                            const int* task_bounds, const int* task_of_chunk, const int4* splits,
                                            const int* left_before, const float4* references, float4* partitioned,
                                            int* out_bounds) {
    const int chunk_count = counts[CHUNKS];
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        const int task = task_of_chunk[chunk];
        const int4 mine = tasks[task], where = splits[task];
        const Split split = {where.x, where.y, where.z};
        const BinGrid grid = CentroidBounds::load(task_bounds + 6 * task).grid();
        const int start = (chunk - first_chunks[task]) * CHUNK, count = min(CHUNK, mine.y - start);
        int lefts = left_before[chunk];
        CentroidBounds left = CentroidBounds::none(), right = CentroidBounds::none();
        for (int first = 0; first < count; first += block_threads()) {
            const int i = first + thread_index();
            const bool is_there = i < count;
            const BoxedReference reference = load_reference(references, mine.x + start + min(i, count - 1));
            const bool is_left = is_there && split.is_left(grid, reference.box, start + i);
            int all;
            const int left_place = lefts + block_exclusive_scan(is_left ? 1 : 0, all);
            if (is_there)
                store_reference(partitioned,
                                mine.x + (is_left ? left_place : split.left_count + start + i - left_place), reference);
            if (is_left) left.grow(reference.box);
            else if (is_there) right.grow(reference.box);
            lefts += all;
        }
        left.merge_block_into(out_bounds + 12 * task);
        right.merge_block_into(out_bounds + 12 * task + 6);
    }
}

// One block: the output queue without its holes becomes the input queue, small tasks go to their list, and chunks are
// numbered. `depth`: of the tasks.
extern "C" __global__ void compact_queue(int depth, const int4* out_tasks, const int* out_bounds, int* counts,
                                         int4* tasks, int* first_chunks, int* task_bounds, int4* small_tasks) {
    if (block_index() > 0) return;
    const int places = depth == 0 ? 1 : 2 * counts[TASKS];
    int task_count = 0, chunk_count = 0, small_count = counts[SMALLS];
    for (int first = 0; first < places; first += block_threads()) {
        const int i = first + thread_index();
        const int4 task = i < places ? out_tasks[i] : task_over(0, 0, 0, 0);
        const bool is_large = task.y > SMALL, is_small = task.y > 0 && !is_large;
        int larges, smalls, chunks;
        const int large_place = task_count + block_exclusive_scan(is_large ? 1 : 0, larges);
        const int small_place = small_count + block_exclusive_scan(is_small ? 1 : 0, smalls);
        const int first_chunk = chunk_count + block_exclusive_scan(is_large ? chunks_of(task.y) : 0, chunks);
        if (is_large) {
            tasks[large_place] = task;
            first_chunks[large_place] = first_chunk;
            for (int k = 0; k < 6; ++k) task_bounds[6 * large_place + k] = out_bounds[6 * i + k];
        }
        if (is_small) small_tasks[small_place] = small_task_over(task, depth);
        task_count += larges;
        chunk_count += chunks;
        small_count += smalls;
    }
    block_sync();
    if (thread_index() > 0) return;
    counts[TASKS] = task_count;
    counts[CHUNKS] = chunk_count;
    counts[SMALLS] = small_count;
}

// The tasks that are left where the depth ends: leaves, however large.
extern "C" __global__ void close_tasks(const int* counts, const int4* tasks, const float4* references, int* order,
                                       float4* nodes, int* parent, uint8* flags, int* root, int* long_leaves) {
    const Links links = {nodes, parent, flags, 0, long_leaves};
    const int task_count = counts[TASKS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const int4 mine = tasks[task];
        for (int i : block_stride(mine.y)) order[mine.x + i] = load_reference(references, mine.x + i).prim_id;
        if (thread_index() == 0) links.close(mine.z, mine.x, mine.x + mine.y - 1, root);
    }
}
