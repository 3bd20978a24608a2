// Groups of chunks, joined from above: a block takes the clusters of some neighbouring chunks, at most MOST_ITEMS, and
// splits them by the surface area heuristic, every cluster a candidate on every axis (a full sweep, as `sweep_sah` has
// it), a level of all sets at once. The first LEVELS_LEFT_OPEN levels do not become nodes: the sets below them go on as
// clusters of one chunk, and the next launch splits them anew among others. So what lies on both sides of a group's
// border can still come together.
//
// An item weighs what a ray that meets it is expected to pay, about a node a level: its height, and 2. Numbers of
// references in its place would make large boxes over few of them too cheap (docs/performance/clusters.md).
//
// Items lie sorted along each axis, set after set; a set has the same positions on all axes, and each position is a
// thread's (device/segments.cuh). Ids need no counter: of the items as they came, all in Morton order, each but the
// first gives its place, less one. A set at a gap takes the place before it as a left set, behind it as a right one
// (range_links.cuh has the reason), a subtree its last; what remains is its first, which goes on as its own. The last
// launch links the root.
//
// `kept`: the most clusters of a chunk, a power of two; `is_last`: all chunks are one group. Unit constants:
// MOST_ITEMS, MOST_LEVELS, LEVELS_LEFT_OPEN, MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST, WRITES_BVH2, CODE_BITS.
#include "gpu/hierarchy/bvh/builders/hploc_sah/groups.cuh"

// -- a level ---------------------------------------------------------------------------------------------

// Sets that go on alone are left as they are from now on.
__device__ __forceinline__ void begin_open_sets(Group& group, const uint8* order, const Values<Segment>& segments,
                                                const Values<Set>& sets, int count) {
    for (int i : block_stride(MOST_ITEMS)) {
        if (i >= count) continue;
        const Segment segment = segments[i];
        const int way = sets[i].way;
        if (segment.size() == 1) {
            group.open[way] = (uint8)i;
            block_atomic_max(&group.heights[way], height_of(group.packed(order[i])));
        }
        if (i == segment.first) block_atomic_add(&group.open_ways, 1 << way);
    }
}

// The best plane of each set, at its first place in `planes`.
__device__ __forceinline__ void find_planes(Group& group, int side, int levels_left, const Values<Segment>& segments,
                                            const Values<Set>& sets) {
    Values<Sides> items, right;
    for (int i : block_stride(MOST_ITEMS)) {
        if (segments[i].size() > 1) items[i] = group.sides_at(group.order[side] + i);
    }
    const Values<Sides> left = segment_sides(items, segments, JoinSides(), right);
    Values<Plane> best;
    for (int i : block_stride(MOST_ITEMS)) {
        const Segment segment = segments[i];
        best[i] = {NO_PLANE};
        if (segment.size() == 1) continue;
        if (i + 1 == segment.end) enter_side(group, sets[i], left[i].boxes[0]);
        else if (ceil_log2(segment.size()) < levels_left) best[i] = {best_plane(left[i], right[i], segment, i)};
    }
    best = segment_scan(best, segments, BetterPlane());
    for (int i : block_stride(MOST_ITEMS)) {
        if (segments[i].size() > 1 && i + 1 == segments[i].end) group.planes[segments[i].first] = best[i].word;
    }
    block_sync();
}

// One level: every set of more than one item is split. `level` counts from the sets that are left open; above them it
// is below 0, and there are no nodes.
__device__ __forceinline__ void split_sets(Group& group, int side, int level, int levels_left, int count,
                                           Values<Segment>& segments, Values<Set>& sets) {
    find_planes(group, side, levels_left, segments, sets);
    Values<Cut> cuts;
    for (int i : block_stride(MOST_ITEMS)) {
        const Segment segment = segments[i];
        if (segment.size() == 1) continue;
        cuts[i] = cut_of(group.planes[segment.first], segment);
        group.is_left[group.order[side][cuts[i].axis * MOST_ITEMS + i]] = i <= cuts[i].place ? 1 : 0;
        if (i == cuts[i].place && level >= 0) begin_node(group, segment, i, sets[i], level);
    }
    block_sync();
    Values<int> is_left;  // on the axes, in a word: AXIS_BITS each
    for (int i : block_stride(MOST_ITEMS)) {
        is_left[i] = 0;
        for (int axis = 0; axis < 3 && segments[i].size() > 1; ++axis) {
            is_left[i] |= group.is_left[group.order[side][axis * MOST_ITEMS + i]] << AXIS_BITS * axis;
        }
    }
    const Values<int> lefts = segment_scan(is_left, segments, Add());
    for (int i : block_stride(MOST_ITEMS)) {
        const Segment segment = segments[i];
        for (int axis = 0; axis < 3 && i < count; ++axis) {
            const int item = group.order[side][axis * MOST_ITEMS + i], mask = (1 << AXIS_BITS) - 1;
            const bool goes_left = is_left[i] >> AXIS_BITS * axis & 1;
            const int to = segment.size() == 1
                               ? i
                               : goes_to(segment, i, cuts[i].place, goes_left, lefts[i] >> AXIS_BITS * axis & mask);
            group.order[1 - side][axis * MOST_ITEMS + to] = (uint8)item;
            if (axis > 0 || level < 0 || segment.size() == 1 || child_of(segment, to, cuts[i].place).size() > 1)
                continue;
            end_item(group, item, cuts[i].place, goes_left, sets[i], level);
        }
    }
    for (int i : block_stride(MOST_ITEMS)) {
        const bool is_right = segments[i].size() > 1 && i > cuts[i].place;
        if (level < 0) sets[i].way = (uint8)(2 * sets[i].way + (is_right ? 1 : 0));
        else if (segments[i].size() > 1) sets[i] = {(uint8)cuts[i].place, (uint8)(is_right ? 1 : 0), sets[i].way};
        if (segments[i].size() > 1) segments[i] = child_of(segments[i], i, cuts[i].place);
    }
    block_sync();
}

// -- small sets ------------------------------------------------------------------------------------------

// A set that a warp holds, and its subsets. Places count from its first one in here, but for those of nodes.
struct SmallSweep {
    Group& group;
    const int base, count;
    uint8 *const order, *const moved;
    TileValues<Segment> segments;
    TileValues<Set> sets;
    TileValues<Cut> cuts;

    __device__ __forceinline__ void begin(const Set& set) {
        for (int i : lane_stride(TILE_ITEMS)) {
            segments[i] = i < count ? Segment{0, count} : Segment{i, i + 1};
            sets[i] = set;
        }
    }
    __device__ __forceinline__ bool is_split(int i) const { return segments[i].size() > 1; }

    __device__ __forceinline__ void find_cuts(int levels_left) {
        TileValues<Sides> items, right;
        for (int i : lane_stride(count)) items[i] = group.sides_at(order + i);
        const TileValues<Sides> left = tile_segment_sides(count, items, segments, JoinSides(), right);
        TileValues<Plane> best;
        TileValues<int> last;
        for (int i : lane_stride(count)) {
            best[i] = {NO_PLANE};
            if (!is_split(i)) continue;
            if (i + 1 == segments[i].end) enter_side(group, sets[i], left[i].boxes[0]);
            else if (ceil_log2(segments[i].size()) < levels_left)
                best[i] = {best_plane(left[i], right[i], segments[i], i)};
        }
        best = tile_segment_scan(count, best, segments, BetterPlane());
        for (int i : lane_stride(TILE_ITEMS)) last[i] = segments[i].end - 1;
        best = tile_read(count, best, last);
        for (int i : lane_stride(count)) cuts[i] = cut_of(best[i].word, segments[i]);
    }
    __device__ __forceinline__ void mark(int level) const {
        for (int i : lane_stride(count)) {
            if (!is_split(i)) continue;
            group.is_left[order[cuts[i].axis * MOST_ITEMS + i]] = i <= cuts[i].place ? 1 : 0;
            if (i == cuts[i].place)
                begin_node(group, {base + segments[i].first, base + segments[i].end}, base + i, sets[i], level);
        }
        warp_sync();
    }
    __device__ __forceinline__ void move(int level) {
        TileValues<int> is_left;
        for (int axis = 0; axis < 3; ++axis) {
            uint8 *const here = order + axis * MOST_ITEMS, *const there = moved + axis * MOST_ITEMS;
            for (int i : lane_stride(count)) is_left[i] = is_split(i) ? group.is_left[here[i]] : 0;
            const unsigned lefts = tile_ballot(count, [&](int i) { return is_left[i] != 0; });
            for (int i : lane_stride(count)) {
                const Segment segment = segments[i];
                const int before = __popc(lefts & ((2u << i) - 1u) & ~0u << segment.first);
                const int to = is_split(i) ? goes_to(segment, i, cuts[i].place, is_left[i] != 0, before) : i;
                there[to] = here[i];
                if (axis > 0 || !is_split(i) || child_of(segment, to, cuts[i].place).size() > 1) continue;
                end_item(group, here[i], base + cuts[i].place, is_left[i] != 0, sets[i], level);
            }
            warp_sync();
            for (int i : lane_stride(count)) here[i] = there[i];
        }
        for (int i : lane_stride(count)) {
            if (!is_split(i)) continue;
            sets[i] = {(uint8)(base + cuts[i].place), (uint8)(i > cuts[i].place ? 1 : 0), sets[i].way};
            segments[i] = child_of(segments[i], i, cuts[i].place);
        }
        warp_sync();
    }
};

// All levels of a set that a warp holds, below `level`.
__device__ __forceinline__ void split_small_set(Group& group, const SmallSet& small, int side, int level,
                                                int levels_left) {
    SmallSweep sweep = {
        group, small.first, small.size, group.order[side] + small.first, group.order[1 - side] + small.first,
        {},    {},          {}};
    sweep.begin(small.set);
    for (; tile_ballot(sweep.count, [&](int i) { return sweep.is_split(i); }) != 0; ++level, --levels_left) {
        sweep.find_cuts(levels_left);
        sweep.mark(level);
        sweep.move(level);
    }
    for (int i : lane_stride(1)) block_atomic_max(&group.level_count, level + i);
}

// What is left of sets, all at one level, warp by warp.
__device__ __forceinline__ void split_small_sets(Group& group, int side, int level, int levels_left, int count,
                                                 const Values<Segment>& segments, const Values<Set>& sets) {
    for (int i : block_stride(MOST_ITEMS)) {
        const Segment segment = segments[i];
        if (i >= count || i != segment.first || segment.size() == 1) continue;
        group.small[block_atomic_add(&group.small_count, 1)] = {(uint8)segment.first, (uint8)segment.size(), sets[i]};
    }
    block_sync();
    const int warp = thread_index() / WARP_LANES, warps = max(block_threads() / WARP_LANES, 1);
    for (int i = warp; i < group.small_count; i += warps)
        split_small_set(group, group.small[i], side, level, levels_left);
    block_sync();
}

// -- a group ---------------------------------------------------------------------------------------------

// All levels of a group of `count` items.
__device__ __forceinline__ void split_group(Group& group, int count, bool is_last) {
    Values<Segment> segments;
    Values<Set> sets;
    for (int i : block_stride(MOST_ITEMS)) {
        segments[i] = i < count ? Segment{0, count} : Segment{i, i + 1};
        sets[i] = {NO_CUT, 0, 0};
        if (i < count) group.cut_nodes[i].level = NO_LEVEL;
    }
    const int first_level = is_last ? 0 : -LEVELS_LEFT_OPEN;
    int level = first_level, side = 0;
    for (;; ++level, side = 1 - side) {
        if (level == 0) begin_open_sets(group, group.order[side], segments, sets, count);
        int largest = 1;
        for (int i : block_stride(MOST_ITEMS)) largest = max(largest, segments[i].size());
        if (block_max(largest) <= TILE_ITEMS && level >= 0) break;
        split_sets(group, side, level, MOST_LEVELS - (level - first_level), count, segments, sets);
    }
    if (thread_index() == 0) {
        group.last_side = side;
        group.level_count = level;
        group.small_count = 0;
    }
    block_sync();
    split_small_sets(group, side, level, MOST_LEVELS - (level - first_level), count, segments, sets);
}

// One block per group.
extern "C" __global__ void __launch_bounds__(MOST_ITEMS, 2)
    sweep_groups(int chunk_count, int group_count, int kept, int is_last, const int2* chunks, int2* groups,
                 float4* nodes, int* parent, uint8* flags, int* root, float4* bvh2, float4* slots) {
    SHARED Group group;
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const int window_size = MOST_ITEMS / 2 / kept;
    for (int index = block_index(); index < group_count; index += block_count()) {
        const int first = is_last || index == 0 ? 0 : last_of_window(chunks, chunk_count, window_size, index - 1) + 1;
        const int last = is_last ? chunk_count - 1 : last_of_window(chunks, chunk_count, window_size, index);
        for (int way : block_stride(MOST_OPEN)) group.heights[way] = 0;
        if (thread_index() == 0) group.open_ways = 0;
        const int count = load_items(group, chunks, first, last, kept, slots);
        sort_items(group, count);
        split_group(group, count, is_last != 0);
        write_nodes(group, count, out);
        if (is_last) {
            block_sync();
            if (thread_index() == 0) {
                root[0] = group.id_of(count - 1);
                RootLinker{nodes, parent, flags, bvh2}.link_root(root);
            }
        } else {
            const int left = store_open(group, first == 0 ? 0 : chunks[first - 1].x + 1, slots);
            if (thread_index() == 0) groups[index] = chunk_entry(chunks[last].x, left, rank_of(chunks[last]));
        }
        block_sync();
    }
}
