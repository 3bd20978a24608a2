// From one level to the next: the children, their references and events, each list in its order (4.3.2 and 4.3.3 of
// Kolodzey 2014).
//
// A reference on both sides is cut along the split's axis alone: its lower event on the right side has the split's
// plane, its upper event on the left side too, and both stay where they are in the order, so that nothing is sorted
// again. As the plane of an event is read from its reference, an event moves as a number. Where it goes follows from
// counts, so that no two go to one place, whatever the blocks.
#include "gpu/hierarchy/kdtree/builders/sah_events/partition.cuh"

constexpr int WARP_ITEMS = ITEMS * WARP_LANES;

struct Level {
    Pointer<float4> cells;
    Pointer<int4> ranges;
    Pointer<uint64> best;
    Pointer<int2> side_counts;

    __device__ __forceinline__ void add(int slot, const LevelNode& node) const {
        store_level_node(cells, ranges, slot, node);
        best[slot] = 0;
        side_counts[slot] = make_int2(0, 0);
    }
};

// The tree as far as it has grown.
struct Grown {
    Pointer<int2> nodes;
    Pointer<int> parent;

    __device__ __forceinline__ void add_leaf(int node_id, int parent_id, int first, int count) const {
        store_kd_leaf(nodes, node_id, first, count);
        parent[node_id] = parent_id;
    }
};

// Writes a node and its children.
__device__ __forceinline__ void make_children(const Plan& plan, const float4* cells, int slot, const Grown& tree,
                                              const Level& next) {
    const Fate& fate = plan.fate;
    if (fate.split.axis == NO_SPLIT) {
        store_kd_leaf(tree.nodes, fate.node_id, plan.left_leaf_reference, fate.count);
        return;
    }
    store_kd_inner(tree.nodes, fate.node_id, fate.split.axis, fate.split.plane, plan.left_id);
    tree.add_leaf(plan.left_id, fate.node_id, plan.left_leaf_reference, fate.left);
    tree.add_leaf(plan.left_id + 1, fate.node_id, plan.right_leaf_reference, fate.right);
    const float4 lower = cells[2 * (int64)slot], upper = cells[2 * (int64)slot + 1];
    LevelNode child = {make_float3(lower.x, lower.y, lower.z),
                       make_float3(upper.x, upper.y, upper.z),
                       fate.share,
                       plan.left_first,
                       fate.left,
                       plan.left_id};
    if (!fate.is_left_leaf) {
        set_along(child.upper, fate.split.axis, fate.split.plane);
        next.add(plan.left_slot, child);
        child.upper = make_float3(upper.x, upper.y, upper.z);
    }
    if (!fate.is_right_leaf) {
        set_along(child.lower, fate.split.axis, fate.split.plane);
        child.first = plan.right_first;
        child.count = fate.right;
        child.node_id = plan.left_id + 1;
        next.add(plan.right_slot, child);
    }
}

// Puts a reference into what comes after its node.
struct Placing {
    References next;
    Pointer<int> leaf_references;

    __device__ __forceinline__ int2 place(const Plan& to, const Reference& reference, int sides, int i, int left,
                                          int right) const {
        int2 move = make_int2((sides & 1) != 0 ? WITHOUT_EVENTS : NOT_THERE,
                              (sides & 2) != 0 ? WITHOUT_EVENTS : NOT_THERE);
        const int prim_id = MARKS_CUTS ? reference.prim_id & ~CUT : reference.prim_id;
        if (to.left_slot == WAS_LEAF) {
            leaf_references[to.left_base + i] = prim_id;
            return move;
        }
        const Split& split = to.fate.split;
        const int mark = MARKS_CUTS && sides == 3 ? CUT : 0;
        if ((sides & 1) != 0) {
            float3 upper = reference.upper;
            set_along(upper, split.axis, min(along(upper, split.axis), split.plane));
            if (to.left_slot == IS_LEAF) leaf_references[to.left_base + left] = prim_id;
            else next.store(to.left_base + left, reference.lower, upper, reference.prim_id | mark, to.left_slot);
            if (to.left_slot != IS_LEAF && !is_small(to.fate.left)) move.x = to.left_base + left;
        }
        if ((sides & 2) != 0) {
            float3 lower = reference.lower;
            set_along(lower, split.axis, max(along(lower, split.axis), split.plane));
            if (to.right_slot == IS_LEAF) leaf_references[to.right_base + right] = prim_id;
            else next.store(to.right_base + right, lower, reference.upper, reference.prim_id | mark, to.right_slot);
            if (to.right_slot != IS_LEAF && !is_small(to.fate.right)) move.y = to.right_base + right;
        }
        return move;
    }
};

// The sides of neighbouring references, two counts in a word. Of flags in bytes four are read at once.
__device__ __forceinline__ int count_flags(const Flags& flags, int first, int last) {
    int packed = 0, i = first;
    if (FLAG_BYTES == 1) {
        for (; i + 4 <= last && i % 4 == 0; i += 4) {
            const unsigned four = *as<const unsigned>(flags.bytes + i);
            packed += __popc(four & 0x01010101u) | __popc(four & 0x02020202u) << 16;
        }
    }
    for (; i < last; ++i) packed += pack_sides(flags.get(i));
    return packed;
}

// The sides of a tile's references before this warp's [first, last): each lane counts a few of its own.
__device__ __forceinline__ int sides_before(const Flags& flags, int first, int last) {
    const int mine = min(first + warp_lane() * ITEMS, last);
    int all;
    return warp_broadcast(block_exclusive_scan(count_flags(flags, mine, min(mine + ITEMS, last)), all), 0);
}

// How many events of a tile go left and right, and how many of those are lower ends: four counts in a word.
__device__ __forceinline__ uint64 pack_event(int sides, int event) {
    const uint64 both = (uint64)(unsigned)(sides & 1) | (uint64)(unsigned)(sides >> 1) << 16;
    return is_end(event) ? both : both | both << 32;
}
__device__ __forceinline__ int field_of(uint64 packed, int field) { return (int)(packed >> 16 * field & 0xffff); }

// `event_sums`: twelve rows of tiles: left sides of the three axes, right ones, left ones that are lower ends, right
// ones that are.
__device__ __forceinline__ void count_event_sides(const int* level, int room, int job, const int* events,
                                                  const Flags& flags, int* event_sums) {
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count);
    const int axis = job / tiles, tile = job - axis * tiles, first = tile * TILE;
    const int* list = events + axis * 2 * (int64)room;
    uint64 packed = 0;
    for (int i : block_stride(min(TILE, event_count - first))) {
        const int event = list[first + i];
        packed += pack_event(flags.get(reference_of(event)), event);
    }
    packed = block_sum(packed);
    if (thread_index() != 0) return;
    for (int field = 0; field < 4; ++field)
        event_sums[(3 * field + axis) * (int64)tiles_of(2 * room) + tile] = field_of(packed, field);
}

__device__ __forceinline__ Numbers numbers_of(const int* level, const int4* of_nodes, const int* of_tiles, int row) {
    const int first_child = level[FIRST_CHILD], first_leaf_reference = level[FIRST_LEAF_REFERENCE];
    const int large_nodes = level[NEXT_LARGE_NODES], large_references = level[NEXT_LARGE_REFERENCES];
    return {of_nodes, of_tiles, row, first_child, first_leaf_reference, large_nodes, large_references};
}

// `bases` of a node, for its events: those of both sides, where its own end and where they begin.
__device__ __forceinline__ int4 bases_of(const Plan& plan) {
    return make_int4(plan.left_base, plan.right_base, 2 * (plan.fate.first + plan.fate.count), 2 * plan.fate.first);
}

// `moves`: the numbers of each reference in the next level. `slots`: those of its node, which partition_events needs
// when references are overwritten. Of the node's first reference the thread writes the node's children too. Beside them
// the sides of events are counted.
extern "C" __global__ void partition_references(int* level, int room, const int* events, float* reference_words,
                                                const float4* cells, const int4* ranges, const int4* splits,
                                                const int4* numbers, const int* node_sums, int node_row,
                                                int max_leaf_size, int ends_here, const uint8* flag_bytes,
                                                const int* side_sums, const int* counts, int2* draft_nodes,
                                                int* draft_parent, int* leaf_references, float4* next_cells,
                                                int4* next_ranges, uint64* best, int2* side_counts, float* next_words,
                                                int2* moves, int* slots, int4* bases, int* event_sums) {
    if (counts[STATUS_NOW] != 0) return;
    const References references = {(float*)reference_words, room};
    const Flags flags = {(uint8*)flag_bytes};
    const Numbers plans = numbers_of(level, numbers, node_sums, node_row);
    const Placing placing = {{next_words, room}, leaf_references};
    const int count = level[LEVEL_REFERENCES], tiles = tiles_of(count), large = level[LARGE_REFERENCES];
    const int event_tiles = event_sums == nullptr || level[NEXT_LARGE_REFERENCES] == 0 ? 0 : 3 * tiles_of(2 * large);
    for (int job = block_index(); job < tiles + event_tiles; job += block_count()) {
        if (job >= tiles) {
            count_event_sides(level, room, job - tiles, events, flags, event_sums);
            continue;
        }
        const int first = job * TILE + thread_index() / WARP_LANES * WARP_ITEMS,
                  last = min(first + WARP_ITEMS, min((job + 1) * TILE, count));
        const int before = sides_before(flags, first, last);
        int left = side_sums[job] + lefts_of(before), right = side_sums[tiles_of(room) + job] + rights_of(before),
            slot = -1;
        Plan to = {};
#pragma unroll 1
        for (int row = first; row < last; row += WARP_LANES) {
            const int i = row + warp_lane(), sides = i < last ? flags.get(i) : 0;
            const unsigned lefts = warp_ballot((sides & 1) != 0), rights = warp_ballot((sides & 2) != 0),
                           below = (1u << warp_lane()) - 1u;
            if (i < last) {
                const Reference reference = references.load(i);
                if (reference.slot != slot) {
                    slot = reference.slot;
                    to = plans.plan(fate_of(cells, ranges, splits, plans.sides(slot), slot, max_leaf_size, ends_here),
                                    slot);
                }
                if (to.fate.first == i) {
                    make_children(to, cells, slot, {draft_nodes, draft_parent},
                                  {next_cells, next_ranges, best, side_counts});
                    bases[slot] = bases_of(to);
                }
                const int2 move = placing.place(to, reference, sides, i, left + __popc(lefts & below),
                                                right + __popc(rights & below));
                if (i < large) {
                    moves[i] = move;
                    slots[i] = slot;
                }
            }
            left += __popc(lefts);
            right += __popc(rights);
        }
    }
    const int jobs = tiles + event_tiles;
    if (event_tiles > 0 && block_index() < jobs && is_last_block(level + EVENTS_DONE, min(jobs, block_count())))
        scan_rows(event_sums, 12, tiles_of(2 * room), tiles_of(2 * large), nullptr);
}

// Counts of one thread's events as they are met.
struct EventPlaces {
    int left, right, left_starts, right_starts;
};

// `starts`: how many lower ends come before each tile of the next level.
extern "C" __global__ void partition_events(const int* level, int room, const int* events, const uint8* flag_bytes,
                                            const int2* moves, const int* slots, const int4* bases, const int* counts,
                                            const int* event_sums, int* next_events, int* starts) {
    if (counts[STATUS_NOW] != 0 || level[NEXT_LARGE_REFERENCES] == 0) return;
    const Flags flags = {(uint8*)flag_bytes};
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count), row = tiles_of(2 * room);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int* list = events + axis * 2 * (int64)room;
        int* next_list = next_events + axis * 2 * (int64)room;
        int* next_starts = starts + axis * row;
        const int first = tile * TILE + thread_index() * ITEMS,
                  last = min(first + ITEMS, min((tile + 1) * TILE, event_count));
        uint64 packed = 0, all;
        for (int i = first; i < last; ++i) packed += pack_event(flags.get(reference_of(list[i])), list[i]);
        packed = block_exclusive_scan(packed, all);
        const int* sums = event_sums + axis * row + tile;
        EventPlaces at = {sums[0] + field_of(packed, 0), sums[3 * row] + field_of(packed, 1),
                          sums[6 * row] + field_of(packed, 2), sums[9 * row] + field_of(packed, 3)};
        int slot = first < last ? slots[reference_of(list[first])] : 0;
        int4 base = bases[slot];
#pragma unroll 1
        for (int start = first; start < last; start += CHUNK) {
            int of[CHUNK];
            int2 move[CHUNK];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) of[k] = list[min(start + k, last - 1)];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) move[k] = moves[reference_of(of[k])];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) {
                const int i = start + k, is_start = is_end(of[k]) ? 0 : 1;
                if (i >= last) break;
                if (i >= base.z) base = bases[++slot];
                if (move[k].x >= 0) {
                    const int place = 2 * base.x + at.left;
                    next_list[place] = move[k].x << 1 | (of[k] & 1);
                    if (place % TILE == 0) next_starts[place / TILE] = base.x + at.left_starts;
                }
                if (move[k].y >= 0) {
                    const int place = 2 * base.y + at.right;
                    next_list[place] = move[k].y << 1 | (of[k] & 1);
                    if (place % TILE == 0) next_starts[place / TILE] = base.y + at.right_starts;
                }
                at.left += move[k].x != NOT_THERE ? 1 : 0;
                at.right += move[k].y != NOT_THERE ? 1 : 0;
                at.left_starts += move[k].x != NOT_THERE ? is_start : 0;
                at.right_starts += move[k].y != NOT_THERE ? is_start : 0;
            }
        }
    }
}
