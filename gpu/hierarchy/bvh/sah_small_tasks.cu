// The rest of the tree: tasks of at most SMALL references, one block of a single warp each, which splits its task down
// to the leaves with a queue of its own in shared memory (Lauterbach et al. 2009, 4.2: small splits). The smaller half
// goes on first, so that the queue holds log2 SMALL nodes at most.
//
// Sets of at most SWEEP references are not binned: every plane between two of them is a candidate, on all axes. There
// the cost may end the splitting.
//
// `most_levels`: below a small task's node, for which it is split; `max_depth`: of the tree, where sets become leaves
// whatever they hold. Unit constants: BINS, SMALL (at most 256), SWEEP (0: all sets are binned).
#include "gpu/hierarchy/bvh/rank_sweep.cuh"
#include "gpu/hierarchy/bvh/sah_tasks.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

constexpr int MOST_WAITING = 16, MOST_SWEPT = SWEEP > 0 ? SWEEP : 1;
static_assert(SMALL <= 256, "places are bytes, and log2 SMALL nodes fit the queue");
constexpr int SMALLS = 2;  // in `counts`

struct LocalNode {
    int first, count, node_id, levels_left, budget, depth;
};

struct LocalTask {
    Aabb boxes[SMALL];
    int prim_ids[SMALL];
    uint8 order[SMALL], partitioned[SMALL];
    Bin bins[3 * BINS];
    float above[3][BINS];
    RankSweep<MOST_SWEPT> swept;
    LocalNode waiting[MOST_WAITING];

    __device__ void load(const float4* references, int first, int count) {
        for (int i : block_stride(count)) {
            const BoxedReference reference = load_reference(references, first + i);
            boxes[i] = reference.box;
            prim_ids[i] = reference.prim_id;
            order[i] = (uint8)i;
        }
        block_sync();
    }

    // The bounds of a node's centroids; every lane has them.
    __device__ CentroidBounds bounds_of(const LocalNode& node) const {
        CentroidBounds bounds = CentroidBounds::none();
        for (int i : block_stride(node.count)) bounds.grow(boxes[order[node.first + i]]);
        const float3 low = bounds.lower, high = bounds.upper;
        return {make_float3(warp_min(low.x), warp_min(low.y), warp_min(low.z)),
                make_float3(warp_max(high.x), warp_max(high.y), warp_max(high.z))};
    }

    // The node of at most SWEEP references: the cheapest plane between any two of them. `ends`: testing all of them
    // costs less.
    __device__ Split sweep(const LocalNode& node, const Stopping& stopping, bool& ends) {
        float area = 0.0f;
        const uint64 plane = swept.sweep(node.count, [&](int i) { return boxes[order[node.first + i]]; }, area);
        ends = stopping.ends_by_cost(node.count, area, plane == NO_PLANE ? FLOAT_MAX : plane_cost(plane));
        if (plane == NO_PLANE) return {MEDIAN, 0, node.count / 2};
        return {swept.axis_of(plane), BY_RANK, swept.left_count_of(plane)};
    }

    __device__ Split choose(const LocalNode& node, const BinGrid& grid) {
        if (ceil_log2(node.count) >= node.levels_left || !has_nodes_to_choose(node.count, node.budget))
            return {MEDIAN, 0, node.count / 2};
        for (int bin : block_stride(3 * BINS)) bins[bin].clear();
        block_sync();
        for (int i : block_stride(node.count)) {
            const Aabb box = boxes[order[node.first + i]];
            for (int axis = 0; axis < 3; ++axis) bins[axis * BINS + grid.bin(axis, box)].grow_in_block(box);
        }
        block_sync();
        uint64 plane = NO_PLANE;
        for (int axis : block_stride(3)) plane = better(plane, best_plane(bins + axis * BINS, axis, above[axis]));
        for (int lane = 0; lane < 3; ++lane) plane = better(plane, warp_broadcast(plane, lane));
        return Split::of(plane, bins, node.count);
    }

    // Left references in front, each side in its order.
    __device__ void partition(const LocalNode& node, const BinGrid& grid, const Split& split) {
        int lefts = 0;
        for (int first = 0; first < node.count; first += block_threads()) {
            const int i = first + thread_index();
            const bool is_there = i < node.count;
            const int place = is_there ? order[node.first + i] : 0;
            bool is_left = is_there && split.is_left(grid, boxes[place], i);
            if (SWEEP > 0 && split.axis != MEDIAN && split.bin == BY_RANK)
                is_left = is_there && swept.ranks[split.axis][i] < split.left_count;
            const unsigned left_lanes = warp_ballot(is_left);
            const int left_place = lefts + __popc(left_lanes & ((1u << warp_lane()) - 1u));
            if (is_there)
                partitioned[node.first + (is_left ? left_place : split.left_count + i - left_place)] = (uint8)place;
            lefts += __popc(left_lanes);
        }
        block_sync();
        for (int i : block_stride(node.count)) order[node.first + i] = partitioned[node.first + i];
        block_sync();
    }

    // The node after one with these sides, while the larger of them waits; false at the end. Leaves are no nodes.
    __device__ __forceinline__ bool go_on(const LocalNode& smaller, const LocalNode& larger, int max_leaf_size,
                                          LocalNode& node, int& waiting_count) {
        if (smaller.count > max_leaf_size) {
            if (thread_index() == 0) waiting[waiting_count] = larger;
            ++waiting_count;
            node = smaller;
        } else if (larger.count > max_leaf_size) {
            node = larger;
        } else if (waiting_count > 0) {
            node = waiting[--waiting_count];
        } else {
            return false;
        }
        return true;
    }
};

extern "C" __global__ void split_small_tasks(const int* counts, const int4* small_tasks, const float4* references,
                                             const float4* other_references, int most_levels, int max_depth,
                                             int max_leaf_size, int by_cost, float traversal_cost,
                                             float intersection_cost, int* order, float4* nodes, int* parent,
                                             uint8* flags, int* root, int* long_leaves) {
    SHARED LocalTask local;
    const Stopping stopping = {max_leaf_size, by_cost, traversal_cost, intersection_cost};
    const Links links = {nodes, parent, flags, by_cost ? 1 : max_leaf_size, long_leaves};
    const int task_count = counts[SMALLS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const int4 mine = small_tasks[task];
        const int task_size = count_of(mine), depth = depth_of(mine);
        local.load(depth % 2 ? other_references : references, mine.x, task_size);
        LocalNode node = {0, task_size, mine.z, most_levels, budget_of(mine), depth};
        int waiting = 0;
        bool is_done = task_size <= links.max_leaf_size;
        while (!is_done) {
            const int first = mine.x + node.first, last = first + node.count - 1;
            const bool has_levels = ceil_log2(node.count) < node.levels_left;
            bool ends = node.depth >= max_depth || stopping.ends_at_once(node.count, node.budget) ||
                        (!has_levels && node.count <= max_leaf_size);
            LocalNode smaller = {0, 0, 0, 0, 0, 0}, larger = smaller;
            if (!ends) {
                Split split;
                BinGrid grid = {};
                if (SWEEP > 0 && node.count <= SWEEP && has_levels) {
                    split = local.sweep(node, stopping, ends);
                } else {
                    grid = local.bounds_of(node).grid();
                    split = local.choose(node, grid);
                }
                if (!ends) {
                    local.partition(node, grid, split);
                    const int count = split.left_count, rest = node.count - count, gap = first + count - 1,
                              levels = node.levels_left - 1;
                    if (thread_index() == 0) links.write_inner_node(node.node_id, first, gap, last);
                    const LocalNode left = {
                        node.first, count, gap, levels, share_of_left(node.budget, count, node.count), node.depth + 1};
                    const LocalNode right = {
                        node.first + count, rest, gap + 1, levels, share_of_right(node.budget, count, node.count),
                        node.depth + 1};
                    smaller = count <= rest ? left : right;
                    larger = count <= rest ? right : left;
                }
            }
            if (ends && thread_index() == 0) links.close(node.node_id, first, last, root);
            is_done = !local.go_on(smaller, larger, links.max_leaf_size, node, waiting);
            block_sync();
        }
        for (int i : block_stride(task_size)) order[mine.x + i] = local.prim_ids[local.order[i]];
        block_sync();
    }
}
