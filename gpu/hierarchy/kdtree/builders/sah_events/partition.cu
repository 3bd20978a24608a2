// From one level to the next: sides of references, children and leaves, then the children's references and events, each list in its order
// (4.3.2 and 4.3.3 of Kolodzey 2014).
//
// A reference on both sides is cut along the split's axis alone: its lower event on the right side has the split's plane, its upper event on the left
// side too, and both stay where they are in the order, so that nothing is sorted again. As the plane of an event is read from its reference, an
// event moves as a number. Where it goes follows from counts, so that no two go to one place, whatever the blocks.
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

constexpr int CHILD_THREADS = WARP_LANES == 1 ? 1 : 512;
constexpr int CHILD_ITEMS = 2;
constexpr int IS_LEAF = -1, WAS_LEAF = -2;  // instead of a child's slot

// Where a side's references go: `base` + how many of that side come before it in the level; `slot` of the child, or IS_LEAF; events likewise.
// byte  0           4            8           12           16          20            24                           32
//       | left base | right base | left slot | right slot | left event base | right event base | unused            |
struct Places {
    int left_base, right_base, left_slot, right_slot, left_event_base, right_event_base;
};
__device__ __forceinline__ Places load_places(const int4* places, int slot) {
    const int4 a = places[2 * (int64)slot], b = places[2 * (int64)slot + 1];
    return {a.x, a.y, a.z, a.w, b.x, b.y};
}
__device__ __forceinline__ void store_places(int4* places, int slot, const Places& p) {
    int4 a, b;
    a.x = p.left_base;
    a.y = p.right_base;
    a.z = p.left_slot;
    a.w = p.right_slot;
    b.x = p.left_event_base;
    b.y = p.right_event_base;
    b.z = b.w = 0;
    places[2 * (int64)slot] = a;
    places[2 * (int64)slot + 1] = b;
}

__device__ __forceinline__ void add_sides(int2* side_counts, int slot, int packed) {
    if (lefts_of(packed) != 0) atomic_add(&side_counts[slot].x, lefts_of(packed));
    if (rights_of(packed) != 0) atomic_add(&side_counts[slot].y, rights_of(packed));
}

// `sums`: two rows of tiles, left sides and right ones; `side_counts`: both of each node.
extern "C" __global__ void count_sides(const int* level, const float4* references, const int4* splits, int tile_capacity, int* sums, int2* side_counts) {
    const int count = level[LEVEL_REFERENCES], tiles = tiles_of(count);
    for (int tile = block_index(); tile < tiles; tile += block_count()) {
        const int end = min((tile + 1) * TILE, count), first = tile * TILE + thread_index() * ITEMS, last = min(first + ITEMS, end);
        const int first_slot = slot_of(references, tile * TILE), last_slot = slot_of(references, end - 1);
        int slot = first < last ? slot_of(references, first) : last_slot, of_node = 0, of_thread = 0;
        Split split = load_split(splits, slot);
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const Reference reference = load_reference(references, i);
            if (reference.slot != slot) {
                add_sides(side_counts, slot, of_node);
                of_node = 0;
                slot = reference.slot;
                split = load_split(splits, slot);
            }
            const int here = pack_sides(split.sides(reference));
            of_node += here;
            of_thread += here;
        }
        const int of_tile = block_sum(of_thread);
        if (first_slot != last_slot) add_sides(side_counts, slot, of_node);
        if (thread_index() != 0) continue;
        if (first_slot == last_slot) add_sides(side_counts, first_slot, of_tile);
        sums[tile] = lefts_of(of_tile);
        sums[tile_capacity + tile] = rights_of(of_tile);
    }
}

__device__ __forceinline__ void scan_row(int* row, int count) {
    int before = 0;
    for (int first = 0; first < count; first += CHILD_THREADS) {
        const int i = first + thread_index();
        int part;
        const int here = block_exclusive_scan(i < count ? row[i] : 0, part);
        if (i < count) row[i] = before + here;
        before += part;
    }
}

// What a node adds to the level's totals.
struct Additions {
    int splits, leaf_references, slots, references, lefts, rights, event_lefts, event_rights;

    __device__ __forceinline__ void add(const Additions& b) {
        splits += b.splits;
        leaf_references += b.leaf_references;
        slots += b.slots;
        references += b.references;
        lefts += b.lefts;
        rights += b.rights;
        event_lefts += b.event_lefts;
        event_rights += b.event_rights;
    }
    // Those of the threads before, and of all.
    __device__ __forceinline__ Additions scan(Additions& all) const {
        Additions before;
        before.splits = block_exclusive_scan(splits, all.splits);
        before.leaf_references = block_exclusive_scan(leaf_references, all.leaf_references);
        before.slots = block_exclusive_scan(slots, all.slots);
        before.references = block_exclusive_scan(references, all.references);
        before.lefts = block_exclusive_scan(lefts, all.lefts);
        before.rights = block_exclusive_scan(rights, all.rights);
        before.event_lefts = block_exclusive_scan(event_lefts, all.event_lefts);
        before.event_rights = block_exclusive_scan(event_rights, all.event_rights);
        return before;
    }
};

// A node's fate: its split, unless its share of references forbids it.
struct Fate {
    LevelNode node;
    Split split;
    int left, right;
    bool is_left_leaf, is_right_leaf;
    float share;

    __device__ __forceinline__ Additions additions() const {
        if (split.axis == NO_SPLIT) return {0, node.count, 0, 0, left, right, 0, 0};
        const int leaf_references = (is_left_leaf ? left : 0) + (is_right_leaf ? right : 0);
        return {1, leaf_references, 2 - (is_left_leaf ? 1 : 0) - (is_right_leaf ? 1 : 0), left + right - leaf_references, left, right,
                is_left_leaf ? 0 : left, is_right_leaf ? 0 : right};
    }
};
__device__ __forceinline__ Fate fate_of(const float4* cells, const int4* ranges, const int4* splits, const int2* side_counts, int slot, int max_leaf_size,
                                        int ends_here) {
    Fate fate;
    fate.node = load_level_node(cells, ranges, slot);
    fate.split = load_split(splits, slot);
    fate.left = side_counts[slot].x;
    fate.right = side_counts[slot].y;
    fate.is_left_leaf = ends_here || fate.left <= max_leaf_size;
    fate.is_right_leaf = ends_here || fate.right <= max_leaf_size;
    fate.share = fate.split.axis == NO_SPLIT ? 0.0f : fate.node.share * (float)fate.node.count / (float)(fate.left + fate.right);
    if (fate.share < 1.0f) fate.split.axis = NO_SPLIT;
    return fate;
}

struct Level {
    float4* cells;
    int4* ranges;
    uint64* best;
    int capacity;

    __device__ __forceinline__ void add(int slot, const LevelNode& node) const {
        if (slot >= capacity) return;
        store_level_node(cells, ranges, slot, node);
        best[slot] = 0;
    }
};

// The tree as far as it has grown.
struct Grown {
    int2* nodes;
    int* parent;
    int capacity;

    __device__ __forceinline__ void add_leaf(int node_id, int parent_id, int first, int count) const {
        if (node_id >= capacity) return;
        store_kd_leaf(nodes, node_id, first, count);
        parent[node_id] = parent_id;
    }
};

// Writes a node, its children, and where their references go; `before` holds the totals of the nodes before it, this level's bases included.
__device__ __forceinline__ void make_children_of(const Fate& fate, const Additions& before, int slot, int first_child, int first_leaf_reference,
                                                 const Grown& tree, const Level& next, int4* places) {
    const LevelNode& node = fate.node;
    const int leaf_reference = first_leaf_reference + before.leaf_references;
    Places to = {leaf_reference - node.first, 0, WAS_LEAF, WAS_LEAF, 0, 0};
    if (fate.split.axis == NO_SPLIT) {
        if (node.node_id < tree.capacity) store_kd_leaf(tree.nodes, node.node_id, leaf_reference, node.count);
        store_places(places, slot, to);
        return;
    }
    const int left_id = first_child + 2 * before.splits;
    const int right_leaf_reference = leaf_reference + (fate.is_left_leaf ? fate.left : 0);
    const int right_reference = before.references + (fate.is_left_leaf ? 0 : fate.left);
    if (node.node_id < tree.capacity) store_kd_inner(tree.nodes, node.node_id, fate.split.axis, fate.split.plane, left_id);
    tree.add_leaf(left_id, node.node_id, leaf_reference, fate.left);
    tree.add_leaf(left_id + 1, node.node_id, right_leaf_reference, fate.right);
    to.left_slot = fate.is_left_leaf ? IS_LEAF : before.slots;
    to.right_slot = fate.is_right_leaf ? IS_LEAF : before.slots + (fate.is_left_leaf ? 0 : 1);
    to.left_base = (fate.is_left_leaf ? leaf_reference : before.references) - before.lefts;
    to.right_base = (fate.is_right_leaf ? right_leaf_reference : right_reference) - before.rights;
    to.left_event_base = 2 * (before.references - before.event_lefts);
    to.right_event_base = 2 * (right_reference - before.event_rights);
    store_places(places, slot, to);
    LevelNode child = node;
    child.share = fate.share;
    if (!fate.is_left_leaf) {
        set_along(child.upper, fate.split.axis, fate.split.plane);
        child.first = before.references;
        child.count = fate.left;
        child.node_id = left_id;
        next.add(to.left_slot, child);
        child.upper = node.upper;
    }
    if (!fate.is_right_leaf) {
        set_along(child.lower, fate.split.axis, fate.split.plane);
        child.first = right_reference;
        child.count = fate.right;
        child.node_id = left_id + 1;
        next.add(to.right_slot, child);
    }
}

// One block: all children of a level, in the order of their parents, and the next row of counters.
extern "C" __global__ void make_children(const int* level, int* next_level, int tile_capacity, int* sums, const float4* cells, const int4* ranges,
                                         const int4* splits, const int2* side_counts, int max_leaf_size, int ends_here, int node_capacity,
                                         int reference_capacity, int working_capacity, int slot_capacity, int* counts, int2* draft_nodes,
                                         int* draft_parent, float4* next_cells, int4* next_ranges, uint64* next_best, int4* places) {
    if (block_index() != 0) return;
    const int level_nodes = level[LEVEL_NODES], tiles = tiles_of(level[LEVEL_REFERENCES]);
    const int first_child = counts[NODES_NOW], first_leaf_reference = counts[REFERENCES_NOW];
    const Level next = {next_cells, next_ranges, next_best, slot_capacity};
    const Grown tree = {draft_nodes, draft_parent, node_capacity};
    scan_row(sums, tiles);
    scan_row(sums + tile_capacity, tiles);
    Additions before = {};
    for (int start = 0; start < level_nodes; start += CHILD_THREADS * CHILD_ITEMS) {
        const int first = start + thread_index() * CHILD_ITEMS, last = min(first + CHILD_ITEMS, level_nodes);
        Additions mine = {}, all;
#pragma unroll 1
        for (int slot = first; slot < last; ++slot) mine.add(fate_of(cells, ranges, splits, side_counts, slot, max_leaf_size, ends_here).additions());
        Additions here = mine.scan(all);
        here.add(before);
#pragma unroll 1
        for (int slot = first; slot < last; ++slot) {
            const Fate fate = fate_of(cells, ranges, splits, side_counts, slot, max_leaf_size, ends_here);
            make_children_of(fate, here, slot, first_child, first_leaf_reference, tree, next, places);
            here.add(fate.additions());
        }
        before.add(all);
    }
    block_sync();
    if (thread_index() != 0) return;
    const int nodes = first_child + 2 * before.splits, leaf_references = first_leaf_reference + before.leaf_references;
    int status = counts[STATUS_NOW];
    if (nodes > node_capacity) status |= NODES_FULL;
    if (leaf_references > reference_capacity) status |= REFERENCES_FULL;
    if (before.references > working_capacity || before.slots > slot_capacity) status |= WORKING_FULL;
    counts[NODES_NOW] = nodes;
    counts[REFERENCES_NOW] = leaf_references;
    counts[STATUS_NOW] = status;
    counts[WORKING_NOW] = max(counts[WORKING_NOW], before.references);
    next_level[LEVEL_NODES] = status == 0 ? before.slots : 0;
    next_level[LEVEL_REFERENCES] = status == 0 ? before.references : 0;
}

// `moves`: for each reference its numbers on both sides, -1 where it has none in the next level, and the bases of its events.
extern "C" __global__ void part_references(const int* level, const float4* references, const int4* splits, const int4* places, int tile_capacity,
                                           const int* sums, const int* counts, float4* next_references, int4* moves, int* leaf_references) {
    if (counts[STATUS_NOW] != 0) return;
    const int count = level[LEVEL_REFERENCES], tiles = tiles_of(count);
    for (int tile = block_index(); tile < tiles; tile += block_count()) {
        const int first = tile * TILE + thread_index() * ITEMS, last = min(first + ITEMS, min((tile + 1) * TILE, count));
        int packed = 0, all;
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const Reference reference = load_reference(references, i);
            packed += pack_sides(load_split(splits, reference.slot).sides(reference));
        }
        const int before = block_exclusive_scan(packed, all);
        int left = sums[tile] + lefts_of(before), right = sums[tile_capacity + tile] + rights_of(before);
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const Reference reference = load_reference(references, i);
            const Split split = load_split(splits, reference.slot);
            const Places to = load_places(places, reference.slot);
            const int sides = split.sides(reference);
            int4 move;
            move.x = move.y = -1;
            move.z = to.left_event_base;
            move.w = to.right_event_base;
            if (to.left_slot == WAS_LEAF) leaf_references[to.left_base + i] = reference.prim_id;
            if ((sides & 1) != 0 && to.left_slot != WAS_LEAF) {
                const int at = to.left_base + left;
                float3 upper = reference.upper;
                set_along(upper, split.axis, min(along(upper, split.axis), split.plane));
                if (to.left_slot == IS_LEAF) leaf_references[at] = reference.prim_id;
                else store_reference(next_references, move.x = at, reference.lower, upper, reference.prim_id, to.left_slot);
            }
            if ((sides & 2) != 0 && to.left_slot != WAS_LEAF) {
                const int at = to.right_base + right;
                float3 lower = reference.lower;
                set_along(lower, split.axis, max(along(lower, split.axis), split.plane));
                if (to.right_slot == IS_LEAF) leaf_references[at] = reference.prim_id;
                else store_reference(next_references, move.y = at, lower, reference.upper, reference.prim_id, to.right_slot);
            }
            left += sides & 1;
            right += sides >> 1;
            moves[i] = move;
        }
    }
}

__device__ __forceinline__ int sides_of(int4 move) { return (move.x >= 0 ? 1 : 0) | (move.y >= 0 ? 2 : 0); }

// `sums`: six rows of tiles, the left sides along each axis and then the right ones.
extern "C" __global__ void count_moves(const int* level, int list_length, const int* events, const int4* moves, const int* counts, int tile_capacity, int* sums) {
    if (counts[STATUS_NOW] != 0) return;
    const int event_count = 2 * level[LEVEL_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles, first = tile * TILE;
        const int* list = events + axis * (int64)list_length;
        int packed = 0;
        for (int i : block_stride(min(TILE, event_count - first))) packed += pack_sides(sides_of(moves[reference_of(list[first + i])]));
        packed = block_sum(packed);
        if (thread_index() != 0) continue;
        sums[axis * tile_capacity + tile] = lefts_of(packed);
        sums[(3 + axis) * tile_capacity + tile] = rights_of(packed);
    }
}

extern "C" __global__ void part_events(const int* level, int list_length, const int* events, const int4* moves, const int* counts, int tile_capacity,
                                       const int* sums, int* next_events) {
    if (counts[STATUS_NOW] != 0) return;
    const int event_count = 2 * level[LEVEL_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int* list = events + axis * (int64)list_length;
        int* next_list = next_events + axis * (int64)list_length;
        const int first = tile * TILE + thread_index() * ITEMS, last = min(first + ITEMS, min((tile + 1) * TILE, event_count));
        int packed = 0, all;
        for (int i = first; i < last; ++i) packed += pack_sides(sides_of(moves[reference_of(list[i])]));
        const int before = block_exclusive_scan(packed, all);
        int left = sums[axis * tile_capacity + tile] + lefts_of(before), right = sums[(3 + axis) * tile_capacity + tile] + rights_of(before);
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const int event = list[i];
            const int4 move = moves[reference_of(event)];
            if (move.x >= 0) next_list[move.z + left++] = move.x << 1 | (event & 1);
            if (move.y >= 0) next_list[move.w + right++] = move.y << 1 | (event & 1);
        }
    }
}
