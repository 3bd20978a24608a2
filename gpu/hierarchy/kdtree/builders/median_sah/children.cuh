// From a level's nodes to their children: which of the three planes splits each node, who becomes a node of the next
// level, a small root or an empty leaf, and where references go. All of it follows from counts and the order of the
// nodes, so that the same input gives the same bytes.
#pragma once
#include "gpu/hierarchy/kdtree/builders/median_sah/large.cuh"

// Open nodes as arrays.
struct OpenNodes {
    Pointer<float4> cells;
    Pointer<int4> ranges;
    int capacity;

    __device__ __forceinline__ void add(int slot, const OpenNode& node) const {
        if (slot < capacity) store_open_node(cells, ranges, slot, node);
    }
};

// The tree as far as it has grown.
struct Grown {
    Pointer<int2> nodes;
    Pointer<int> parent;
    int capacity;

    // An inner node and the parent of its children, which lie at `left` and behind.
    __device__ __forceinline__ void add_inner(int node_id, int axis, float plane, int left) const {
        if (left + 1 >= capacity) return;
        store_kd_inner(nodes, node_id, axis, plane, left);
        parent[left] = parent[left + 1] = node_id;
    }
    __device__ __forceinline__ void add_empty_leaf(int node_id) const {
        if (node_id < capacity) store_kd_leaf(nodes, node_id, 0, 0);
    }
};

// What a node adds to the level's totals: inner nodes and large children, chunks and small roots, references of either
// kind; 32 bits each.
struct Additions {
    uint64 nodes, lists, references;

    __device__ __forceinline__ void add(const Additions& b) {
        nodes += b.nodes;
        lists += b.lists;
        references += b.references;
    }
    // Those of the threads before, and of all.
    __device__ __forceinline__ Additions scan(Additions& all) const {
        Additions before;
        before.nodes = block_exclusive_scan(nodes, all.nodes);
        before.lists = block_exclusive_scan(lists, all.lists);
        before.references = block_exclusive_scan(references, all.references);
        return before;
    }
};
__device__ __forceinline__ uint64 pair_of(int high, int low) { return (uint64)(unsigned)high << 32 | (unsigned)low; }
__device__ __forceinline__ int high_of(uint64 pair) { return (int)(pair >> 32); }
__device__ __forceinline__ int low_of(uint64 pair) { return (int)(unsigned)pair; }

//  byte  0             1                2             4        8            12                 16
//        | inner nodes | large children | small roots | chunks | references | small references |
__device__ __forceinline__ int4 packed_additions(const Additions& a) {
    return make_int4(high_of(a.nodes) | low_of(a.nodes) << 8 | low_of(a.lists) << 16, high_of(a.lists),
                     high_of(a.references), low_of(a.references));
}
__device__ __forceinline__ Additions unpacked_additions(int4 packed) {
    return {pair_of(packed.x & 255, packed.x >> 8 & 255), pair_of(packed.y, packed.x >> 16),
            pair_of(packed.z, packed.w)};
}

// What becomes of a node. Axis LEAF_AXIS: it is no longer split, and a small root however many references it has.
struct Fate {
    OpenNode node;
    Cuts cuts;
    int axis, left, right;
    float plane, share;
    bool is_left_large, is_right_large;

    __device__ __forceinline__ Additions additions() const {
        if (axis == LEAF_AXIS) return {0, pair_of(0, 1), pair_of(0, node.count)};
        const int large = (is_left_large ? 1 : 0) + (is_right_large ? 1 : 0),
                  small = (left > 0 ? 1 : 0) + (right > 0 ? 1 : 0) - large;
        const int chunks = (is_left_large ? chunks_of(left) : 0) + (is_right_large ? chunks_of(right) : 0);
        const int references = (is_left_large ? left : 0) + (is_right_large ? right : 0);
        return {pair_of(cuts.count + 1, large), pair_of(chunks, small), pair_of(references, left + right - references)};
    }
};

// The paper takes the longest axis. Where all references lie on both sides of its middle, or more than the node's share
// allows, the next longest one is tried; where none is left the node is not split.
__device__ __forceinline__ Fate fate_of(const OpenNode& node, const Aabb& box, const int* side_counts,
                                        const LargeRules& rules, int small_count) {
    Fate fate = {node, cuts_of(node, box, rules), LEAF_AXIS, 0, 0, 0.0f, 0.0f, false, false};
    const int axes = axes_by_length(fate.cuts.cell);
#pragma unroll 1
    for (int i = 0; i < 3 && fate.axis == LEAF_AXIS && node.depth < rules.max_depth; ++i) {
        const int axis = axes >> 2 * i & 3, left = side_counts[axis], right = side_counts[3 + axis];
        const float plane = middle_of(fate.cuts.cell, axis),
                    share = node.share * (float)node.count / (float)(left + right);
        if (!(plane > along(fate.cuts.cell.lower, axis) && plane < along(fate.cuts.cell.upper, axis))) continue;
        if ((left == node.count && right == node.count) || !(share >= 1.0f)) continue;
        fate.axis = axis;
        fate.plane = plane;
        fate.share = share;
        fate.left = left;
        fate.right = right;
    }
    fate.is_left_large = fate.left > small_count && !rules.ends_here;
    fate.is_right_large = fate.right > small_count && !rules.ends_here;
    return fate;
}

// Where a level's children go. `first_*`: what there was before this level; `small_end`: where the free room of the
// next half ends.
struct Destination {
    Grown tree;
    OpenNodes next, roots;
    Pointer<int> boxes;
    Pointer<int> side_counts;
    int first_node, first_root, first_reference, small_end;

    // A child with its number of references; gives where these begin.
    __device__ int add_child(OpenNode child, bool is_large, const Additions& at) const {
        if (child.count == 0) {
            tree.add_empty_leaf(child.node_id);
            return 0;
        }
        if (!is_large) {
            child.first = small_end - low_of(at.references) - child.count;
            child.first_chunk = 0;
            roots.add(first_root + low_of(at.lists), child);
            return child.first;
        }
        const int slot = low_of(at.nodes);
        child.first = first_reference + high_of(at.references);
        child.first_chunk = high_of(at.lists);
        next.add(slot, child);
        if (slot < next.capacity) {
            clear_box(boxes, slot);
            for (int i = 0; i < COUNT_STRIDE; ++i) side_counts[COUNT_STRIDE * (int64)slot + i] = 0;
        }
        return child.first;
    }
};

__device__ __forceinline__ Additions additions_of_child(int count, bool is_large) {
    if (is_large) return {pair_of(0, 1), pair_of(chunks_of(count), 0), pair_of(count, 0)};
    return {0, pair_of(0, count > 0 ? 1 : 0), pair_of(0, count)};
}

// Writes a node, its children and its plan; `at` holds the totals of the nodes before it.
__device__ __forceinline__ Plan make_children_of(const Fate& fate, Additions at, const Destination& to) {
    OpenNode child = fate.node;
    if (fate.axis == LEAF_AXIS) return {LEAF_AXIS, 0.0f, to.add_child(child, false, at), 0};
    int node_id = fate.node.node_id, left_id = to.first_node + 2 * high_of(at.nodes);
    for (int side = 0; side < 6; ++side) {
        if ((fate.cuts.cuts >> side & 1) == 0) continue;
        const int axis = side / 2, is_high = side & 1;
        to.tree.add_inner(node_id, axis, along(is_high ? fate.cuts.cell.upper : fate.cuts.cell.lower, axis), left_id);
        to.tree.add_empty_leaf(left_id + is_high);
        node_id = left_id + 1 - is_high;
        left_id += 2;
    }
    to.tree.add_inner(node_id, fate.axis, fate.plane, left_id);
    child.cell = fate.cuts.cell;
    child.share = fate.share;
    child.depth = fate.node.depth + fate.cuts.count + 1;
    child.count = fate.left;
    child.node_id = left_id;
    set_along(child.cell.upper, fate.axis, fate.plane);
    const int left_base = to.add_child(child, fate.is_left_large, at);
    at.add(additions_of_child(fate.left, fate.is_left_large));
    child.cell = fate.cuts.cell;
    child.count = fate.right;
    child.node_id = left_id + 1;
    set_along(child.cell.lower, fate.axis, fate.plane);
    return {fate.axis, fate.plane, left_base, to.add_child(child, fate.is_right_large, at)};
}

// Room for a level's children.
struct Room {
    int nodes, working, slots, roots;
};

// A level's children by its row of counters.
__device__ __forceinline__ Destination destination_of(const int* level, int half, const Room& room, const Grown& tree,
                                                      const OpenNodes& next, const OpenNodes& roots, int* boxes,
                                                      int* side_counts) {
    const int end = (half + 1) * room.working - level[LEVEL_TAILS + half];
    return {
        tree, next, roots, boxes, side_counts, level[LEVEL_FIRST_NODE], level[LEVEL_FIRST_ROOT], half * room.working,
        end};
}

// The counters after a level; `half` is the one that the children's references lie in.
__device__ __forceinline__ void count_level(const Additions& all, const Room& room, int half, const int* level,
                                            int* next_level, int* totals, int* counts) {
    const int nodes = level[LEVEL_FIRST_NODE] + 2 * high_of(all.nodes),
              roots = level[LEVEL_FIRST_ROOT] + low_of(all.lists);
    const int tail = level[LEVEL_TAILS + half] + low_of(all.references), references = high_of(all.references);
    int status = counts[STATUS_NOW];
    if (nodes > room.nodes) status |= NODES_FULL;
    if (references + tail > room.working || low_of(all.nodes) > room.slots || roots > room.roots)
        status |= WORKING_FULL;
    counts[NODES_NOW] = nodes;
    counts[STATUS_NOW] = status;
    counts[WORKING_NOW] = max(counts[WORKING_NOW], references + tail);
    totals[SMALL_ROOTS] = status == 0 ? roots : 0;
    next_level[LEVEL_NODES] = status == 0 ? low_of(all.nodes) : 0;
    next_level[LEVEL_CHUNKS] = status == 0 ? high_of(all.lists) : 0;
    next_level[LEVEL_FIRST_NODE] = nodes;
    next_level[LEVEL_FIRST_ROOT] = roots;
    next_level[LEVEL_TAILS + half] = tail;
    next_level[LEVEL_TAILS + 1 - half] = level[LEVEL_TAILS + 1 - half];
}
