// From where nodes begin and end (direct.cu) to the tree in order of depth. The depth of a node is how many have begun
// less how many have ended. At any point, the nodes around it are the newest ones of each depth: a warp goes along a
// span of points with the numbers of those, so a node's parent is the newest node one depth above. How many nodes of a
// depth a span has is counted before, and prefix sums, depth by depth, give the number of its first one.
//
// Unit constants: BITS, IS_FULL, SPAN (points of a warp), WARPS (of a block).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/octree/gaps.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

constexpr int DEPTHS = MAX_DEPTH + 1;

// What begins and ends at a point. Depths of what begins: `depth` .. `leaf_depth`; of what ends: from `closed_depth`
// on.
struct Event {
    unsigned opened;
    int depth, leaf_depth, closed_depth;
    bool is_opened, is_closed;

    __device__ int first_depth() const { return min(is_opened ? depth : DEPTHS, is_closed ? closed_depth : DEPTHS); }
    __device__ int last_depth() const { return is_opened || is_closed ? leaf_depth : -1; }
    __device__ bool opens(int at) const { return at >= depth && at <= leaf_depth; }
    __device__ bool closes(int at) const { return at >= closed_depth && at <= leaf_depth; }
};

// What direct.cu wrote of a point. `above`: how many nodes are open before it.
struct Ends {
    Pointer<const int> opens, closes, above;
    int count;

    struct AtPoint {
        unsigned opened, closed;
        int depth;
    };
    // Over no points there is a root that holds none.
    __device__ AtPoint load(int point) const {
        if (point < count) return {(unsigned)opens[point], (unsigned)closes[point], above[point]};
        const unsigned root = count == 0 && point == 0 ? LEAF : 0u;
        return {root, root, 0};
    }
};

__device__ __forceinline__ Event event_of(const Ends::AtPoint& at) {
    const int leaf_depth = at.depth + __popc(at.opened) - 1;
    return {at.opened, at.depth, leaf_depth, leaf_depth + 1 - __popc(at.closed), at.opened != 0, at.closed != 0};
}

// Of each depth the number of the next node: a lane of the warp has one, or the only lane all.
struct NextNodes {
    static constexpr int EACH = (DEPTHS + WARP_LANES - 1) / WARP_LANES;
    static_assert(EACH == 1 || WARP_LANES == 1, "a depth has a lane of its own");
    int mine[EACH];

    __device__ void load(const int* before, int spans, int span) {
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int depth = warp_lane() + k;
            mine[k] = depth < DEPTHS ? before[depth * spans + span] : 0;
        }
    }
    __device__ int of(int depth) const {
        return EACH == 1 ? warp_broadcast(mine[0], depth) : mine[min(depth, EACH - 1)];
    }
    __device__ void add(int depth, int nodes) {
        if (EACH == 1 && warp_lane() != depth) return;
        mine[EACH == 1 ? 0 : depth] += nodes;
    }
};

// Calls on_depth(point, event, depth, newest) for every depth at which something begins or ends at a point, shallow
// ones first, all lanes of the warp together; `newest` is the number of the newest node of the depth there. Points are
// loaded while those before are gone through.
template <class OnDepth>
__device__ __forceinline__ void walk_span(const Ends& ends, int span, NextNodes& next, OnDepth& on_depth) {
    const int lane = warp_lane(), end = min(span * SPAN + SPAN, max(ends.count, 1));
    const Ends::AtPoint nothing = {0u, 0u, 0};
    Ends::AtPoint ahead = span * SPAN + lane < end ? ends.load(span * SPAN + lane) : nothing;
    for (int base = span * SPAN; base < end; base += WARP_LANES) {
        const int point = base + lane;
        const Event event = event_of(ahead);
        ahead = point + WARP_LANES < end ? ends.load(point + WARP_LANES) : nothing;
        const int first = warp_min(event.first_depth()), last = warp_max(event.last_depth());
        if (first > last) continue;
        on_depth.begin(event, first > 0 ? next.of(first - 1) - 1 : -1);
        for (int depth = first; depth <= last; ++depth) {
            const unsigned opened = warp_ballot(event.opens(depth));
            const int newest = next.of(depth) + __popc(opened & (2u << lane) - 1u) - 1;
            on_depth(point, event, depth, newest);
            next.add(depth, __popc(opened));
        }
    }
}

// `tallies`: of each depth, of each span, how many nodes. What begins at a point has depths without a gap: it counts
// where they begin, and against where they end.
extern "C" __global__ void tally_depths(const int* opens, const int* closes, const int* above, int spans, int* counts,
                                        int* tallies) {
    SHARED int shared[WARPS][DEPTHS + 1];
    const int warp = thread_index() / WARP_LANES, count = counts[TREE_COUNTS::points];
    const Ends ends = {opens, closes, above, count};
    int* begun = shared[warp];
    int leaves = 0;
    for (int span = block_index() * WARPS + warp; span < spans; span += block_count() * WARPS) {
        for (int depth : lane_stride(DEPTHS + 1)) begun[depth] = 0;
        warp_sync();
        for (int k : lane_stride(min(SPAN, max(count, 1) - span * SPAN))) {
            const Event event = event_of(ends.load(span * SPAN + k));
            leaves += (event.opened & LEAF) != 0 ? 1 : 0;
            block_atomic_add(begun + event.depth, event.is_opened ? 1 : 0);
            block_atomic_add(begun + event.leaf_depth + 1, event.is_opened ? -1 : 0);
        }
        warp_sync();
        for (int depth : lane_stride(DEPTHS)) {
            int nodes = 0;
            for (int d = 0; d <= depth; ++d) nodes += begun[d];
            tallies[depth * spans + span] = nodes;
        }
        warp_sync();
    }
    leaves = block_sum(leaves);
    if (thread_index() == 0) atomic_add(counts + TREE_COUNTS::leaves, leaves);
}

// Where depths begin, and whether all nodes fit. `before`: the prefix sums of the tallies.
extern "C" __global__ void begin_depths(const uint64* codes, const int* tallies, const int* before, int spans,
                                        int leaf_points, int capacity, int* depth_first, int* counts) {
    if (block_index() != 0 || thread_index() != 0) return;
    const int nodes = before[DEPTHS * spans - 1] + tallies[DEPTHS * spans - 1];
    const bool fits = nodes <= capacity;
    int depths = 0;
    for (int d = 0; d < DEPTHS; ++d) {
        const int first = before[d * spans];
        depths += first < nodes ? 1 : 0;
        depth_first[d] = fits ? first : 0;
    }
    depth_first[DEPTHS] = counts[TREE_COUNTS::nodes] = fits ? nodes : 0;
    counts[TREE_COUNTS::needed] = nodes;
    counts[TREE_COUNTS::status] = fits ? 0 : TREE_FULL;
    counts[TREE_COUNTS::depths] = depths;
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    if (IS_FULL)
        counts[TREE_COUNTS::chains] += nodes - counts[TREE_COUNTS::leaves] - (sorted.has_root_beside() ? 1 : 0);
}

// Nodes where they begin and end. `last_point` and `last_child` stand where counts will be.
struct WriteNodes {
    Pointer<int> level, parent, first_child, last_child, first_point, last_point;
    int above;  // the newest node one depth above
    unsigned levels;  // of what begins at the point and has not been written

    __device__ void begin(const Event& event, int newest_above) {
        above = newest_above;
        levels = event.opened & ~LEAF;
    }
    __device__ void operator()(int point, const Event& event, int depth, int newest) {
        if (event.opens(depth)) open(point, event, depth, newest);
        if (event.closes(depth)) {
            last_point[newest] = point;
            if (depth > event.closed_depth) last_child[above] = newest;
        }
        above = newest;
    }
    __device__ void open(int point, const Event& event, int depth, int node) {
        const int own = levels != 0 ? 31 - __clz((int)(levels & (0u - levels))) : BITS;
        levels &= levels - 1u;
        level[node] = own;
        first_point[node] = point;
        parent[node] = above;
        if (depth > event.depth) first_child[above] = node;
        if (depth == event.leaf_depth) first_child[node] = -1;
    }
};

extern "C" __global__ void write_nodes(const int* opens, const int* closes, const int* above, const int* before,
                                       int spans, const int* counts, int* level, int* parent, int* first_child,
                                       int* last_child, int* first_point, int* last_point) {
    const int warp = thread_index() / WARP_LANES;
    if (counts[TREE_COUNTS::nodes] == 0) return;
    const Ends ends = {opens, closes, above, counts[TREE_COUNTS::points]};
    WriteNodes written = {level, parent, first_child, last_child, first_point, last_point, -1, 0u};
    for (int span = block_index() * WARPS + warp; span < spans; span += block_count() * WARPS) {
        NextNodes next;
        next.load(before, spans, span);
        walk_span(ends, span, next, written);
    }
}

// Counts, cells, and the levels of leaves that hold points of several cells.
extern "C" __global__ void finish_nodes(const uint64* codes, const int* counts, int leaf_points, const int* first_point,
                                        const int* first_child, uint64* code, int* level, int* child_count,
                                        int* point_count) {
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    for (int i : grid_stride(counts[TREE_COUNTS::nodes])) {
        const int first = first_point[i], last = sorted.count == 0 ? -1 : point_count[i];
        const bool is_leaf = first_child[i] < 0;
        child_count[i] = is_leaf ? 0 : child_count[i] - first_child[i] + 1;
        point_count[i] = last - first + 1;
        int own = level[i];
        if (is_leaf && (i == 0 || last > first))
            level[i] = own = sorted.count == 0 ? 0 : sorted.level_of_leaf(first, last);
        code[i] = sorted.count == 0 ? 0 : cell_at(codes[first], own);
    }
}
