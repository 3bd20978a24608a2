// What becomes of the nodes of a level: children, leaves, and where their references and events go.
// from gpu.hierarchy.kdtree.builders.sah_events.memory import NODE_TILE
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

constexpr int NODE_ITEMS = NODE_TILE / THREADS;
__device__ __forceinline__ int node_tiles_of(int count) { return (count + NODE_TILE - 1) / NODE_TILE; }

// What a node adds to the level's totals.
struct Additions {
    int splits, leaf_references, slots, references, lefts, rights, large_slots, large_references;

    __device__ __forceinline__ void add(const Additions& b) {
        splits += b.splits;
        leaf_references += b.leaf_references;
        slots += b.slots;
        references += b.references;
        lefts += b.lefts;
        rights += b.rights;
        large_slots += b.large_slots;
        large_references += b.large_references;
    }
};

// A node's fate: its split, unless its share of references forbids it.
struct Fate {
    Split split;
    int first, count, node_id, left, right;
    bool is_left_leaf, is_right_leaf;
    float share;

    __device__ __forceinline__ Additions additions() const {
        if (split.axis == NO_SPLIT) return {0, count, 0, 0, left, right, 0, 0};
        const int leaf_references = (is_left_leaf ? left : 0) + (is_right_leaf ? right : 0);
        const int slots = 2 - (is_left_leaf ? 1 : 0) - (is_right_leaf ? 1 : 0);
        const bool is_left_large = !is_left_leaf && !is_small(left),
                   is_right_large = !is_right_leaf && !is_small(right);
        const int large_references = (is_left_large ? left : 0) + (is_right_large ? right : 0);
        return {1,
                leaf_references,
                slots,
                left + right - leaf_references,
                left,
                right,
                (is_left_large ? 1 : 0) + (is_right_large ? 1 : 0),
                large_references};
    }
};
__device__ __forceinline__ Fate fate_of(const float4* cells, const int4* ranges, const int4* splits, int2 sides,
                                        int slot, int max_leaf_size, int ends_here) {
    const int4 range = ranges[slot];
    Fate fate;
    fate.split = load_split(splits, slot);
    fate.first = range.x;
    fate.count = range.y;
    fate.node_id = range.z;
    fate.left = sides.x;
    fate.right = sides.y;
    fate.is_left_leaf = ends_here || fate.left <= max_leaf_size;
    fate.is_right_leaf = ends_here || fate.right <= max_leaf_size;
    fate.share = fate.split.axis == NO_SPLIT
                     ? 0.0f
                     : cells[2 * (int64)slot + 1].w * (float)fate.count / (float)(fate.left + fate.right);
    if (fate.share < 1.0f) fate.split.axis = NO_SPLIT;
    return fate;
}

constexpr int IS_LEAF = -1, WAS_LEAF = -2;  // instead of a child's slot

// Where a node's children and their references go: a side's references to `base` + how many of that side come before in
// the level, their events likewise to twice `base`. `slot` of the child, or IS_LEAF; WAS_LEAF where the node itself is
// one.
struct Plan {
    Fate fate;
    int left_id, left_leaf_reference, right_leaf_reference, left_slot, right_slot, left_first, right_first, left_base,
        right_base;
};

// Where the next node of a kind goes in the next level.
struct NextPlace {
    int slot, first;

    __device__ __forceinline__ void pass(int count) {
        ++slot;
        first += count;
    }
};

// What number_nodes has written: before each node in its tile, and before each tile.
struct Numbers {
    Pointer<const int4> of_nodes;
    Pointer<const int> of_tiles;
    int row, first_child, first_leaf_reference, large_nodes, large_references;

    __device__ __forceinline__ int2 sides(int slot) const {
        const int4 words = of_nodes[3 * (int64)slot + 2];
        return make_int2(words.z, words.w);
    }
    __device__ __forceinline__ Additions before(int slot) const {
        const int4 a = of_nodes[3 * (int64)slot], b = of_nodes[3 * (int64)slot + 1], c = of_nodes[3 * (int64)slot + 2];
        const int* tile = of_tiles + slot / NODE_TILE;
        return {a.x + tile[0],       a.y + tile[row],     a.z + tile[2 * row], a.w + tile[3 * row],
                b.x + tile[4 * row], b.y + tile[5 * row], c.x + tile[6 * row], c.y + tile[7 * row]};
    }
    __device__ __forceinline__ Plan plan(const Fate& fate, int slot) const {
        const Additions here = before(slot);
        const int leaf_reference = first_leaf_reference + here.leaf_references;
        Plan to = {fate, 0, leaf_reference, leaf_reference, WAS_LEAF, WAS_LEAF, 0, 0, leaf_reference - fate.first, 0};
        if (fate.split.axis == NO_SPLIT) return to;
        to.left_id = first_child + 2 * here.splits;
        to.right_leaf_reference = leaf_reference + (fate.is_left_leaf ? fate.left : 0);
        NextPlace large = {here.large_slots, here.large_references};
        NextPlace small = {large_nodes + here.slots - here.large_slots,
                           large_references + here.references - here.large_references};
        NextPlace& left = is_small(fate.left) ? small : large;
        to.left_first = left.first;
        to.left_slot = fate.is_left_leaf ? IS_LEAF : left.slot;
        if (!fate.is_left_leaf) left.pass(fate.left);
        const NextPlace& right = is_small(fate.right) ? small : large;
        to.right_first = right.first;
        to.right_slot = fate.is_right_leaf ? IS_LEAF : right.slot;
        to.left_base = (fate.is_left_leaf ? leaf_reference : to.left_first) - here.lefts;
        to.right_base = (fate.is_right_leaf ? to.right_leaf_reference : to.right_first) - here.rights;
        return to;
    }
};

// A side of a reference in `moves`: its number in the next level, or these: in a leaf and in a small node it has no
// events.
constexpr int NOT_THERE = -1, WITHOUT_EVENTS = -2;
__device__ __forceinline__ int sides_of(int2 move) {
    return (move.x != NOT_THERE ? 1 : 0) | (move.y != NOT_THERE ? 2 : 0);
}
