// Groups of chunks, joined from above: a block takes the clusters of some neighbouring chunks, at most MOST_ITEMS, and parts them by the surface area
// heuristic, every cluster a candidate on every axis (a full sweep, as `sweep_sah` has it), a level of all sets at once. The first LEVELS_LEFT_OPEN levels
// do not become nodes: the sets below them go on as clusters of one chunk, and the next launch parts them anew among others. So what lies on both sides
// of a group's border can still come together.
//
// An item weighs what a ray that meets it is expected to pay, about a node a level: its height, and 2. Numbers of references in its place would make large
// boxes over few of them too cheap (docs/performance/clusters.md).
//
// Items lie sorted along each axis, set after set; a set has the same positions on all axes, and each position is a thread's (device/segments.cuh). Ids
// need no counter: of the items as they came, all in Morton order, each but the first gives its place, less one. A part at a gap takes the place before it
// as a left set, behind it as a right one (range_links.cuh has the reason), a subtree its last; what remains is its first, which goes on as its own.
//
// `kept`: the most clusters of a chunk, a power of two; `is_last`: all chunks are one group. Unit constants: MOST_ITEMS, MOST_LEVELS, LEVELS_LEFT_OPEN,
// MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST, WRITES_BVH2, CODE_BITS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/segments.cuh"
#include "gpu/hierarchy/bvh/builders/hploc/chunks.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"

constexpr int POSITIONS = 3 * MOST_ITEMS, MOST_CHUNKS = MOST_ITEMS / 8;
static_assert(MOST_ITEMS <= 256, "items are bytes, and so are parts of a plane's number");
constexpr int MOST_OPEN = 1 << LEVELS_LEFT_OPEN;

template <class T> using Values = PositionValues<T, POSITIONS>;

// What lies on one side of a plane.
struct Side {
    Aabb box;
    int weight;
    __device__ float cost() const { return half_area(box) * (float)weight; }
};
struct JoinSides {
    __device__ __forceinline__ Side operator()(const Side& a, const Side& b) const { return {merge(a.box, b.box), a.weight + b.weight}; }
};
struct Plane {
    uint64 word;
};
struct BetterPlane {
    __device__ __forceinline__ Plane operator()(const Plane& a, const Plane& b) const { return {better(a.word, b.word)}; }
};
struct Add {
    __device__ __forceinline__ int operator()(int a, int b) const { return a + b; }
};

// A node, known by its cut: both sides, and the places [first, last]. `level` is NO_LEVEL where there is none; `above`: the cut of its parent.
struct Part {
    Aabb left, right;
    uint8 first, last, level, above, is_right;
};
constexpr int NO_LEVEL = 255;

struct Group {
    float4 low[MOST_ITEMS], high[MOST_ITEMS];  // the items as they came
    uint8 order[2][POSITIONS];                 // the item at each position, for this level and the next
    uint64 planes[POSITIONS];                  // at a set's first position of each axis: the best plane of it
    float centres[POSITIONS];
    uint8 is_left[MOST_ITEMS];
    Part parts[MOST_ITEMS];                    // at each cut
    int holds_absorbed[MOST_ITEMS];            // there, too: whether a child of it is absorbed, so that it is not itself
    int offsets[MOST_CHUNKS + 1];
    int last_side;  // of `order`, where the last level left it
    int heights[MOST_OPEN], open_ways;         // of sets that are left open; their ways from above, one bit each
    uint8 open[MOST_OPEN];                     // the cuts of these; or the place of one that is an item as it came

    __device__ PackedCluster packed(int item) const { return {low[item], high[item]}; }
    __device__ Cluster item(int item) const { return unpack(packed(item)); }
    __device__ int id_of(int place) const { return item(place).place - 1; }
    // The word of a node's child over the places [first, last]; and whether it was absorbed, as far as that is known: if it is an item.
    __device__ int word_of(int first, int last, bool is_right) const {
        return first == last ? item(in_order(first)).word() : id_of(is_right ? first : last);
    }
    __device__ bool is_absorbed_item(int first, int last) const { return first == last && item(in_order(first)).is_absorbed; }
    // The item at a place in the end, when the sets are single.
    __device__ int in_order(int place) const { return order[last_side][place]; }
};

// What a position's thread knows of its set.
struct Set {
    uint8 above;     // the cut of its parent
    uint8 is_right;  // of its parent's parts
    uint8 way;       // from above, a bit a level left open
};

__device__ __forceinline__ int axis_of(int position) { return position / MOST_ITEMS; }
__device__ __forceinline__ int place_of(int position) { return position % MOST_ITEMS; }

// -- in and out ----------------------------------------------------------------------------------------------------------

// The last chunk of the group that ends in a window of chunks. All lanes have it.
__device__ __forceinline__ int last_of_window(const int2* chunks, int chunk_count, int window_size, int window) {
    unsigned best = 0;
    for (int i : lane_stride(window_size)) {
        const int chunk = window * window_size + i;
        if (chunk < chunk_count) best = max(best, cut_word(rank_of(chunks[chunk]), i));
    }
    return window * window_size + cut_index(warp_max(best));
}

// The clusters of the chunks [first, last], in their order; their number.
__device__ __forceinline__ int load_items(Group& group, const int2* chunks, int first, int last, int kept, const float4* slots) {
    const int chunk_count = last - first + 1;
    for (int i : block_stride(chunk_count + 1)) {
        int before = 0;
        for (int other = 0; other < i; ++other) before += clusters_of(chunks[first + other]);
        group.offsets[i] = before;
    }
    block_sync();
    for (int i : block_stride(chunk_count * kept)) {
        const int chunk = i / kept, cluster = i % kept, item = group.offsets[chunk] + cluster;
        if (item >= group.offsets[chunk + 1]) continue;
        const int slot = (first + chunk == 0 ? 0 : chunks[first + chunk - 1].x + 1) + cluster;
        group.low[item] = slots[2 * (int64)slot];
        group.high[item] = slots[2 * (int64)slot + 1];
    }
    block_sync();
    return group.offsets[chunk_count];
}

// Items sorted along each axis, of equal ones in their order; inactive ones last.
__device__ __forceinline__ void sort_items(Group& group, int count) {
    for (int i : block_stride(POSITIONS)) {
        if (place_of(i) >= count) continue;
        const Aabb box = box_of(group.packed(place_of(i)));
        group.centres[i] = is_empty(box) ? FLOAT_MAX : along(centre(box), axis_of(i));
    }
    block_sync();
    for (int i : block_stride(POSITIONS)) {
        const int item = place_of(i), axis_start = i - item;
        if (item >= count) continue;
        const float at = group.centres[i];
        int before = 0;
#pragma unroll 4
        for (int other = 0; other < count; ++other) {
            const float there = group.centres[axis_start + other];
            before += there < at || (there == at && other < item) ? 1 : 0;
        }
        group.order[0][axis_start + before] = (uint8)item;
    }
    block_sync();
}

// -- a level ---------------------------------------------------------------------------------------------------------------

// The best plane of each set, that is, of its positions on its own axis, to `planes`. Candidates of one cost: the nearest to the middle, then the first.
__device__ __forceinline__ void find_planes(Group& group, const Values<Segment>& segments, const Values<Side>& left, const Values<Side>& right,
                                            int levels_left) {
    Values<Plane> candidates;
    for (int i : block_stride(POSITIONS)) {
        const Segment segment = segments[i];
        candidates[i] = {NO_PLANE};
        if (i + 1 >= segment.end || ceil_log2(segment.size()) >= levels_left) continue;
        const float cost = left[i].cost() + right[i].cost();
        const int off_middle = abs(2 * (i + 1) - segment.first - segment.end) / 2;
        if (cost <= FLOAT_MAX) candidates[i].word = plane_word(cost, off_middle << 16 | axis_of(i) << 8 | place_of(i));
    }
    const Values<Plane> best = segment_scan(candidates, segments, BetterPlane());
    for (int i : block_stride(POSITIONS)) {
        if (i + 1 == segments[i].end) group.planes[segments[i].first] = best[i].word;
    }
}

// Where the set of a position parts: the axis, and the last place of the left part. Without a plane in the middle of its places.
struct Cut {
    int axis, place;
};
__device__ __forceinline__ Cut cut_of(const Group& group, const Segment& segment) {
    const int first = place_of(segment.first);
    uint64 plane = NO_PLANE;
    for (int axis = 0; axis < 3; ++axis) plane = better(plane, group.planes[axis * MOST_ITEMS + first]);
    if (plane == NO_PLANE) return {0, first + segment.size() / 2 - 1};
    return {plane_number(plane) >> 8 & 255, plane_number(plane) & 255};
}

// Sets that go on alone are left as they are from now on. `level`: below those that were left open.
__device__ __forceinline__ void begin_open_sets(Group& group, const uint8* order, const Values<Segment>& segments, const Values<Set>& sets, int count) {
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

// One level: every set of more than one item parts. `level` counts from the sets that are left open; above them it is below 0, and nothing is written.
__device__ __forceinline__ void part_sets(Group& group, int side, int level, int levels_left, int count, Values<Segment>& segments, Values<Set>& sets) {
    Values<Side> items, right;
    Values<int> is_left;
    for (int i : block_stride(POSITIONS)) {
        if (place_of(i) >= count) continue;
        const PackedCluster item = group.packed(group.order[side][i]);
        items[i] = {box_of(item), 2 + height_of(item)};
    }
    const Values<Side> left = segment_sides(items, segments, JoinSides(), right);
    find_planes(group, segments, left, right, levels_left);
    block_sync();
    for (int i : block_stride(POSITIONS)) {
        const Segment segment = segments[i];
        if (segment.size() == 1) continue;
        const Cut cut = cut_of(group, segment);
        if (axis_of(i) == cut.axis) group.is_left[group.order[side][i]] = place_of(i) <= cut.place ? 1 : 0;
        if (i != cut.axis * MOST_ITEMS + cut.place || level < 0) continue;
        const int first = place_of(segment.first), last = first + segment.size() - 1;
        const Set& set = sets[i];
        group.parts[cut.place] = {left[i].box, right[i].box, (uint8)first, (uint8)last, (uint8)level, set.above, set.is_right};
        if (level == 0) group.open[set.way] = (uint8)cut.place;
    }
    block_sync();
    for (int i : block_stride(POSITIONS)) is_left[i] = segments[i].size() > 1 ? group.is_left[group.order[side][i]] : 0;
    const Values<int> lefts = segment_scan(is_left, segments, Add());
    for (int i : block_stride(POSITIONS)) {
        if (place_of(i) >= count) continue;
        const int item = group.order[side][i];
        Segment& segment = segments[i];
        int to = i;
        if (segment.size() > 1) {
            const Cut cut = cut_of(group, segment);
            const int axis_start = i - place_of(i), middle = axis_start + cut.place + 1;
            const bool goes_left = is_left[i] != 0, is_part_left = i < middle;
            to = goes_left ? segment.first + lefts[i] - 1 : middle + i - segment.first - lefts[i];
            const bool is_alone = goes_left ? middle - segment.first == 1 : segment.end - middle == 1;
            if (is_alone && level >= 0 && axis_start == 0) block_atomic_max(&group.heights[sets[i].way], height_of(group.packed(item)) + level + 1);
            segment = is_part_left ? Segment{segment.first, middle} : Segment{middle, segment.end};
            if (level < 0) sets[i].way = (uint8)(2 * sets[i].way + (is_part_left ? 0 : 1));
            else sets[i] = {(uint8)cut.place, (uint8)(is_part_left ? 0 : 1), sets[i].way};
        } else if (level < 0) {
            sets[i].way = (uint8)(2 * sets[i].way);
        }
        group.order[1 - side][to] = (uint8)item;
    }
    block_sync();
}

// -- out -------------------------------------------------------------------------------------------------------------------

// All nodes of the group. A wide layout absorbs a node of which it absorbs no child: from the lowest level up.
__device__ __forceinline__ void write_nodes(Group& group, int count, int level_count, const ClusterOutput& out) {
    for (int cut : block_stride(count)) {
        const Part& part = group.parts[cut];
        if (part.level == NO_LEVEL) continue;
        const int node_id = group.id_of(part.is_right ? part.first : part.last);
        const int left = group.word_of(part.first, cut, false), right = group.word_of(cut + 1, part.last, true);
        store_node(out.nodes, node_id, merge(part.left, part.right), left, right);
        if (WRITES_BVH2) store_bvh2_node(out.bvh2, node_id, part.left, left, part.right, right);
        if (!is_leaf(left)) out.parent[left] = node_id;
        if (!is_leaf(right)) out.parent[right] = node_id;
        group.holds_absorbed[cut] = group.is_absorbed_item(part.first, cut) || group.is_absorbed_item(cut + 1, part.last) ? 1 : 0;
    }
    block_sync();
    for (int level = level_count - 1; level > 0; --level) {
        for (int cut : block_stride(count)) {
            if (group.parts[cut].level == level && !group.holds_absorbed[cut]) block_atomic_max(&group.holds_absorbed[group.parts[cut].above], 1);
        }
        block_sync();
    }
    for (int cut : block_stride(count)) {
        const Part& part = group.parts[cut];
        if (part.level == NO_LEVEL) continue;
        const bool is_lowest = is_leaf(group.word_of(part.first, cut, false)) && is_leaf(group.word_of(cut + 1, part.last, true));
        out.flags[group.id_of(part.is_right ? part.first : part.last)] =
            (uint8)(NODE_EXISTS | (group.holds_absorbed[cut] ? 0 : NODE_IS_ABSORBED) | (is_lowest ? NODE_IS_LOWEST : 0));
    }
}

// The sets that were left open become the clusters of one chunk; their number.
__device__ __forceinline__ int store_open(const Group& group, int first_slot, float4* slots) {
    const unsigned ways = (unsigned)group.open_ways;
    for (int way : block_stride(MOST_OPEN)) {
        if (!(ways >> way & 1)) continue;
        const int cut = group.open[way], slot = first_slot + __popc(ways & ((1u << way) - 1u));
        const Part& part = group.parts[cut];
        Cluster cluster = group.item(group.in_order(cut));
        if (part.level != NO_LEVEL) cluster = {merge(part.left, part.right), group.id_of(part.last), 0, 0, group.heights[way], 1 - group.holds_absorbed[cut]};
        cluster.place = group.item(part.level == NO_LEVEL ? cut : part.first).place;
        const PackedCluster stored = pack(cluster);
        slots[2 * (int64)slot] = stored.low;
        slots[2 * (int64)slot + 1] = stored.high;
    }
    return __popc(ways);
}

// -- a group ---------------------------------------------------------------------------------------------------------------

// All levels of a group of `count` items; returns how many there are below the sets that are left open.
__device__ __forceinline__ int part_group(Group& group, int count, bool is_last) {
    Values<Segment> segments;
    Values<Set> sets;
    for (int i : block_stride(POSITIONS)) {
        const int axis_start = i - place_of(i);
        segments[i] = place_of(i) < count ? Segment{axis_start, axis_start + count} : Segment{i, i + 1};
        sets[i] = {0, 0, 0};
    }
    for (int i : block_stride(count)) group.parts[i].level = NO_LEVEL;
    const int first_level = is_last ? 0 : -LEVELS_LEFT_OPEN;
    for (int level = first_level, side = 0;; ++level, side = 1 - side) {
        if (level == 0) begin_open_sets(group, group.order[side], segments, sets, count);
        int largest = 1;
        for (int i : block_stride(POSITIONS)) largest = max(largest, segments[i].size());
        if (block_max(largest) == 1 && level >= 0) {
            if (thread_index() == 0) group.last_side = side;
            block_sync();
            return level;
        }
        part_sets(group, side, level, MOST_LEVELS - (level - first_level), count, segments, sets);
    }
}

// One block a group.
extern "C" __global__ void __launch_bounds__(POSITIONS)
    sweep_groups(int chunk_count, int group_count, int kept, int is_last, const int2* chunks, int2* groups, float4* nodes, int* parent,
                 uint8* flags, int* root, float4* bvh2, float4* slots) {
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
        write_nodes(group, count, part_group(group, count, is_last != 0), out);
        if (is_last) {
            if (thread_index() == 0) root[0] = group.id_of(count - 1);
        } else {
            const int left = store_open(group, first == 0 ? 0 : chunks[first - 1].x + 1, slots);
            if (thread_index() == 0) groups[index] = chunk_entry(chunks[last].x, left, rank_of(chunks[last]));
        }
        block_sync();
    }
}
