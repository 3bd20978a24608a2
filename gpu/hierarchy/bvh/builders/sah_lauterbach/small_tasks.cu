// The rest of the tree: tasks of at most SMALL references, one block of a single warp each, which parts its task down to the leaves with a queue of its
// own in shared memory (Lauterbach et al. 2009, 4.2: small splits). The smaller half goes on first, so that the queue holds log2 SMALL nodes at most.
//
// Unit constants: BINS, SMALL (at most 256), SMALL_LEVELS (levels below a small task's node).
#include "gpu/hierarchy/bvh/builders/sah_lauterbach/tasks.cuh"

constexpr int MOST_WAITING = 16;
static_assert(SMALL <= 256, "places are bytes, and log2 SMALL nodes fit the queue");
constexpr int SMALLS = 2;  // in `counts`

struct LocalNode {
    int first, count, node_id, levels_left;
};

struct LocalTask {
    Aabb boxes[SMALL];
    int prim_ids[SMALL];
    uint8 order[SMALL], parted[SMALL];
    Bin bins[3 * BINS];
    float above[3][BINS];
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
        return {make_float3(warp_min(low.x), warp_min(low.y), warp_min(low.z)), make_float3(warp_max(high.x), warp_max(high.y), warp_max(high.z))};
    }

    __device__ Split choose(const LocalNode& node, const BinGrid& grid) {
        if (ceil_log2(node.count) >= node.levels_left) return {MEDIAN, 0, node.count / 2};
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
    __device__ void part(const LocalNode& node, const BinGrid& grid, const Split& split) {
        int lefts = 0;
        for (int first = 0; first < node.count; first += block_threads()) {
            const int i = first + thread_index();
            const bool is_there = i < node.count;
            const int place = is_there ? order[node.first + i] : 0;
            const bool is_left = is_there && split.is_left(grid, boxes[place], i);
            const unsigned left_lanes = warp_ballot(is_left);
            const int left_place = lefts + __popc(left_lanes & ((1u << warp_lane()) - 1u));
            if (is_there) parted[node.first + (is_left ? left_place : split.left_count + i - left_place)] = (uint8)place;
            lefts += __popc(left_lanes);
        }
        block_sync();
        for (int i : block_stride(node.count)) order[node.first + i] = parted[node.first + i];
        block_sync();
    }
};

extern "C" __global__ void part_small_tasks(const int* counts, const int4* small_tasks, const float4* references, const float4* other_references,
                                            int max_leaf_size, int* order, float4* nodes, int* parent, uint8* flags) {
    SHARED LocalTask local;
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int task_count = counts[SMALLS];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const int4 mine = small_tasks[task];
        local.load(mine.w ? other_references : references, mine.x, mine.y);
        LocalNode node = {0, mine.y, mine.z, SMALL_LEVELS};
        int waiting = 0;
        bool is_done = mine.y <= max_leaf_size;
        while (!is_done) {
            const BinGrid grid = local.bounds_of(node).grid();
            const Split split = local.choose(node, grid);
            local.part(node, grid, split);
            const int gap = mine.x + node.first + split.left_count - 1;
            if (thread_index() == 0) links.part(node.node_id, mine.x + node.first, gap, mine.x + node.first + node.count - 1);
            const LocalNode left = {node.first, split.left_count, gap, node.levels_left - 1};
            const LocalNode right = {node.first + split.left_count, node.count - split.left_count, gap + 1, node.levels_left - 1};
            const LocalNode smaller = left.count <= right.count ? left : right, larger = left.count <= right.count ? right : left;
            if (smaller.count > max_leaf_size) {
                if (thread_index() == 0) local.waiting[waiting] = larger;
                ++waiting;
                node = smaller;
            } else if (larger.count > max_leaf_size) {
                node = larger;
            } else if (waiting > 0) {
                node = local.waiting[--waiting];
            } else {
                is_done = true;
            }
            block_sync();
        }
        for (int i : block_stride(mine.y)) order[mine.x + i] = local.prim_ids[local.order[i]];
        block_sync();
    }
}
