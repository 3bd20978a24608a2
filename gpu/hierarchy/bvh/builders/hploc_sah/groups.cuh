// A group of chunks that one block splits from above (sweep_groups.cu): what lies in shared memory, how it gets there,
// and what becomes of it. Unit constants: MOST_ITEMS, LEVELS_LEFT_OPEN, MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST,
// WRITES_BVH2, CODE_BITS.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/segments.cuh"
#include "gpu/hierarchy/bvh/builders/hploc_sah/chunks.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"
#include "gpu/hierarchy/bvh/link_root.cuh"

constexpr int POSITIONS = 3 * MOST_ITEMS;
constexpr int NO_CUT = 255;  // no plane lies behind the last item
static_assert(MOST_ITEMS <= 256, "items are bytes, and so are both halves of a plane's number");
constexpr int AXIS_BITS = 10;  // for a count of items on each axis, in one word
constexpr int MOST_OPEN = 1 << LEVELS_LEFT_OPEN;

template <class T>
using Values = PositionValues<T, MOST_ITEMS>;

// What lies on one side of a plane, on all axes at once: three scans that do not wait for each other. Weights have 16
// bits, two in a word.
struct Sides {
    Aabb boxes[3];
    int weights[2];

    __device__ __forceinline__ float cost(int axis) const {
        return half_area(boxes[axis]) * (float)(axis < 2 ? weights[0] >> 16 * axis & 0xffff : weights[1]);
    }
};
struct JoinSides {
    __device__ __forceinline__ Sides operator()(const Sides& a, const Sides& b) const {
        return {{merge(a.boxes[0], b.boxes[0]), merge(a.boxes[1], b.boxes[1]), merge(a.boxes[2], b.boxes[2])},
                {a.weights[0] + b.weights[0], a.weights[1] + b.weights[1]}};
    }
};
struct Plane {
    uint64 word;
};
struct BetterPlane {
    __device__ __forceinline__ Plane operator()(const Plane& a, const Plane& b) const {
        return {better(a.word, b.word)};
    }
};
struct Add {
    __device__ __forceinline__ int operator()(int a, int b) const { return a + b; }
};

// What a place's thread knows of its set.
struct Set {
    uint8 above;  // the cut of its parent; of none NO_CUT
    uint8 is_right;  // of its parent's children
    uint8 way;  // from above, a bit a level left open
};

// A node, known by its cut: the boxes of both sides, which the sets there enter, and the places [first, last]. `level`
// is NO_LEVEL where there is none; `above`: the cut of its parent.
struct CutNode {
    Aabb sides[2];
    uint8 first, last, level, above, is_right;
};
constexpr int NO_LEVEL = 255;

// A set of at most TILE_ITEMS items, in one word each of its places.
struct SmallSet {
    uint8 first, size;
    Set set;
};

struct Group {
    float4 low[MOST_ITEMS], high[MOST_ITEMS];  // the items as they came
    uint8 order[2][POSITIONS];  // the item at each position, for this level and the next
    uint64 planes[MOST_ITEMS];  // at a set's first place: its best plane
    float centres[POSITIONS];
    uint8 is_left[MOST_ITEMS];
    CutNode cut_nodes[MOST_ITEMS];  // at each cut
    // there, too: whether a child of it is collapsed, so that it is not itself
    int holds_collapsed[MOST_ITEMS];
    int offsets[MOST_ITEMS + 1];  // of each chunk's items; every chunk has one
    int last_side, level_count;  // of `order`, where the last level left it; levels below the sets that are left open
    int small_count;  // sets that a warp finishes
    SmallSet small[MOST_ITEMS / 2];
    int heights[MOST_OPEN], open_ways;  // of sets that are left open; their ways from above, one bit each
    uint8 open[MOST_OPEN];  // the cuts of these; or the place of one that is an item as it came

    __device__ PackedCluster packed(int item) const { return {low[item], high[item]}; }
    __device__ Cluster item(int item) const { return unpack(packed(item)); }
    __device__ int id_of(int place) const { return item(place).place - 1; }
    // The word of a node's child over the places [first, last]; and whether it was collapsed, as far as that is known:
    // if it is an item.
    __device__ int word_of(int first, int last, bool is_right) const {
        return first == last ? item(in_order(first)).word() : id_of(is_right ? first : last);
    }
    __device__ bool is_collapsed_item(int first, int last) const {
        return first == last && item(in_order(first)).is_collapsed;
    }
    // What lies at a position on all axes; `at`: of the order's, on the first.
    __device__ __forceinline__ Sides sides_at(const uint8* at) const {
        const PackedCluster x = packed(at[0]), y = packed(at[MOST_ITEMS]), z = packed(at[2 * MOST_ITEMS]);
        return {{box_of(x), box_of(y), box_of(z)}, {2 + height_of(x) | (2 + height_of(y)) << 16, 2 + height_of(z)}};
    }
    // The item at a place in the end, when the sets are single.
    __device__ int in_order(int place) const { return order[last_side][place]; }
};

__device__ __forceinline__ int axis_of(int position) { return position / MOST_ITEMS; }
__device__ __forceinline__ int place_of(int position) { return position % MOST_ITEMS; }

// -- in --------------------------------------------------------------------------------------------------

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
__device__ __forceinline__ int load_items(Group& group, const int2* chunks, int first, int last, int kept,
                                          const float4* slots) {
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

// -- sets, planes and nodes ------------------------------------------------------------------------------

// The best plane behind `place`, of the places [first, end) of a set. Of planes of one cost the nearest to the middle
// is best, then the first.
__device__ __forceinline__ uint64 best_plane(const Sides& left, const Sides& right, const Segment& segment, int place) {
    const int off_middle = abs(2 * (place + 1) - segment.first - segment.end) / 2;
    uint64 best = NO_PLANE;
    for (int axis = 0; axis < 3; ++axis) {
        const float cost = left.cost(axis) + right.cost(axis);
        if (cost <= FLOAT_MAX) best = better(best, plane_word(cost, off_middle << 16 | axis << 8 | place));
    }
    return best;
}

// Where a set is split: the axis, and the last place of its left half. Without a plane in the middle of its places.
struct Cut {
    int axis, place;
};
__device__ __forceinline__ Cut cut_of(uint64 plane, const Segment& segment) {
    if (plane == NO_PLANE) return {0, segment.first + segment.size() / 2 - 1};
    return {plane_number(plane) >> 8 & 255, plane_number(plane) & 255};
}
// Where the item of a place goes: `lefts` of the items up to it go left, itself included.
__device__ __forceinline__ int goes_to(const Segment& segment, int place, int cut, bool is_left, int lefts) {
    return is_left ? segment.first + lefts - 1 : cut + 1 + place - segment.first - lefts;
}
__device__ __forceinline__ Segment child_of(const Segment& segment, int place, int cut) {
    return place <= cut ? Segment{segment.first, cut + 1} : Segment{cut + 1, segment.end};
}
// The box of a set is a side of its parent's.
__device__ __forceinline__ void enter_side(Group& group, const Set& set, const Aabb& box) {
    if (set.above != NO_CUT) group.cut_nodes[set.above].sides[set.is_right] = box;
}
// An item that is alone in its set from now on. `level`: of the set's parent.
__device__ __forceinline__ void end_item(Group& group, int item, int cut, bool is_left, const Set& set, int level) {
    const PackedCluster packed = group.packed(item);
    block_atomic_max(&group.heights[set.way], height_of(packed) + level + 1);
    group.cut_nodes[cut].sides[is_left ? 0 : 1] = box_of(packed);
}
// The node of a set, by one thread.
__device__ __forceinline__ void begin_node(Group& group, const Segment& segment, int cut, const Set& set, int level) {
    CutNode& node = group.cut_nodes[cut];
    node.first = (uint8)segment.first;
    node.last = (uint8)(segment.end - 1);
    node.level = (uint8)level;
    node.above = set.above;
    node.is_right = set.is_right;
    if (level == 0) group.open[set.way] = (uint8)cut;
}

// -- out -------------------------------------------------------------------------------------------------

// All nodes of the group. A node is collapsed where none of its children is: from the lowest level up.
__device__ __forceinline__ void write_nodes(Group& group, int count, const ClusterOutput& out) {
    for (int cut : block_stride(count)) {
        const CutNode& node = group.cut_nodes[cut];
        if (node.level == NO_LEVEL) continue;
        const int node_id = group.id_of(node.is_right ? node.first : node.last);
        const int left = group.word_of(node.first, cut, false), right = group.word_of(cut + 1, node.last, true);
        store_node(out.nodes, node_id, merge(node.sides[0], node.sides[1]), left, right);
        if (WRITES_BVH2) store_bvh2_node(out.bvh2, node_id, node.sides[0], left, node.sides[1], right);
        if (!is_leaf(left)) out.parent[left] = node_id;
        if (!is_leaf(right)) out.parent[right] = node_id;
        group.holds_collapsed[cut] = group.is_collapsed_item(node.first, cut) ||
                                             group.is_collapsed_item(cut + 1, node.last)
                                         ? 1
                                         : 0;
    }
    block_sync();
    for (int level = group.level_count - 1; level > 0; --level) {
        for (int cut : block_stride(count)) {
            if (group.cut_nodes[cut].level == level && !group.holds_collapsed[cut])
                block_atomic_max(&group.holds_collapsed[group.cut_nodes[cut].above], 1);
        }
        block_sync();
    }
    for (int cut : block_stride(count)) {
        const CutNode& node = group.cut_nodes[cut];
        if (node.level == NO_LEVEL) continue;
        const bool is_bottom = is_leaf(group.word_of(node.first, cut, false)) &&
                               is_leaf(group.word_of(cut + 1, node.last, true));
        out.flags[group.id_of(node.is_right ? node.first : node.last)] = (uint8)(NODE_EXISTS |
                                                                                 (group.holds_collapsed[cut]
                                                                                      ? 0
                                                                                      : NODE_IS_COLLAPSED) |
                                                                                 (is_bottom ? NODE_IS_BOTTOM : 0));
    }
}

// The sets that were left open become the clusters of one chunk; their number.
__device__ __forceinline__ int store_open(const Group& group, int first_slot, float4* slots) {
    const unsigned ways = (unsigned)group.open_ways;
    for (int way : block_stride(MOST_OPEN)) {
        if (!(ways >> way & 1)) continue;
        const int cut = group.open[way], slot = first_slot + __popc(ways & ((1u << way) - 1u));
        const CutNode& node = group.cut_nodes[cut];
        Cluster cluster = group.item(group.in_order(cut));
        if (node.level != NO_LEVEL) {
            cluster = {merge(node.sides[0], node.sides[1]), group.id_of(node.last), 0, 0, group.heights[way],
                       1 - group.holds_collapsed[cut]};
        }
        cluster.place = group.item(node.level == NO_LEVEL ? cut : node.first).place;
        const PackedCluster stored = pack(cluster);
        slots[2 * (int64)slot] = stored.low;
        slots[2 * (int64)slot + 1] = stored.high;
    }
    return __popc(ways);
}
