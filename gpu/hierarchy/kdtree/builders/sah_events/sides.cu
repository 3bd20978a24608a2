// The splits that nodes take, the sides of references, and where everything of the next level goes (4.3.2 and 4.3.3 of
// Kolodzey 2014).
#include "gpu/hierarchy/kdtree/builders/sah_events/partition.cuh"

// Whether a large node is split, and where: its best candidate, unless it is to be a leaf.
__device__ __forceinline__ Split chosen_split(const LeafRule& rule, const LevelNode& node, uint64 word,
                                              const int* events, const References& references) {
    const float cost = __uint_as_float((unsigned)(~word >> 32));
    if (word == 0 || rule.makes_leaf(node, node.count, cost)) return {NO_SPLIT, 0.0f, false};
    const unsigned place = (unsigned)~word, length = 2u * (unsigned)references.room;
    const int axis = (int)(place / length), event = events[place], reference = reference_of(event);
    const float low = references.plane(2 * reference, axis), high = references.plane(2 * reference + 1, axis);
    // flat ones are still to come at this event
    return {axis, is_end(event) ? high : low, (low == high) != is_end(event)};
}

__device__ __forceinline__ void add_sides(int2* side_counts, int slot, int packed) {
    if (lefts_of(packed) != 0) atomic_add(&side_counts[slot].x, lefts_of(packed));
    if (rights_of(packed) != 0) atomic_add(&side_counts[slot].y, rights_of(packed));
}

// `side_sums`: two rows of tiles, left sides and right ones; `side_counts`: both of each node. Small nodes have their
// splits.
extern "C" __global__ void count_sides(const int* level, int room, const int* events, float* reference_words,
                                       const float4* cells, const int4* ranges, const uint64* best,
                                       float intersection_cost, int by_cost, int max_leaf_size, int4* splits,
                                       uint8* flag_bytes, int* side_sums, int2* side_counts) {
    const References references = {reference_words, room};
    const Flags flags = {flag_bytes};
    const LeafRule rule = {intersection_cost, by_cost, max_leaf_size};
    const int count = level[LEVEL_REFERENCES], tiles = tiles_of(count), large_nodes = level[LARGE_NODES];
    for (int tile = block_index(); tile < tiles; tile += block_count()) {
        const int end = min((tile + 1) * TILE, count), first = tile * TILE + thread_index() * ITEMS,
                  last = min(first + ITEMS, end);
        const int first_slot = references.slot(tile * TILE), last_slot = references.slot(end - 1);
        int slot = -1, of_node = 0, of_thread = 0;
        Split split = {NO_SPLIT, 0.0f, false};
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const Reference reference = references.load(i);
            if (reference.slot != slot) {
                if (slot >= 0) add_sides(side_counts, slot, of_node);
                of_node = 0;
                slot = reference.slot;
                if (slot >= large_nodes) {
                    split = load_split(splits, slot);
                } else {
                    const LevelNode node = load_level_node(cells, ranges, slot);
                    split = chosen_split(rule, node, best[slot], events, references);
                    if (node.first == i) store_split(splits, slot, split);
                }
            }
            const int sides = split.sides(reference);
            flags.set(i, sides);
            of_node += pack_sides(sides);
            of_thread += pack_sides(sides);
        }
        const int of_tile = block_sum(of_thread);
        if (first_slot != last_slot && slot >= 0) add_sides(side_counts, slot, of_node);
        if (thread_index() != 0) continue;
        if (first_slot == last_slot) add_sides(side_counts, first_slot, of_tile);
        side_sums[tile] = lefts_of(of_tile);
        side_sums[tiles_of(room) + tile] = rights_of(of_tile);
    }
}

// The numbers of two counts in one word, so that one scan serves both.
__device__ __forceinline__ uint64 pair_of(int low, int high) { return (uint64)(unsigned)high << 32 | (unsigned)low; }

__device__ __forceinline__ Additions additions_of(uint64 splits, uint64 slots, uint64 sides, uint64 large) {
    return {(int)(unsigned)splits, (int)(splits >> 32), (int)(unsigned)slots, (int)(slots >> 32),
            (int)(unsigned)sides,  (int)(sides >> 32),  (int)(unsigned)large, (int)(large >> 32)};
}

// What is before a thread's nodes, and in all of a tile.
__device__ __forceinline__ Additions scan_additions(const Additions& mine, Additions& all) {
    uint64 splits, slots, sides, large;
    const uint64 splits_before = block_exclusive_scan(pair_of(mine.splits, mine.leaf_references), splits);
    const uint64 slots_before = block_exclusive_scan(pair_of(mine.slots, mine.references), slots);
    const uint64 sides_before = block_exclusive_scan(pair_of(mine.lefts, mine.rights), sides);
    const uint64 large_before = block_exclusive_scan(pair_of(mine.large_slots, mine.large_references), large);
    all = additions_of(splits, slots, sides, large);
    return additions_of(splits_before, slots_before, sides_before, large_before);
}

// The level's totals: what there is now of the tree, and the next row of counters.
__device__ __forceinline__ void end_level(int* level, int* next_level, const int* totals, int node_capacity,
                                          int reference_capacity, int room, int slot_capacity, int* counts) {
    const int nodes = level[FIRST_CHILD] + 2 * totals[0], leaf_references = level[FIRST_LEAF_REFERENCE] + totals[1];
    int status = counts[STATUS_NOW];
    if (nodes > node_capacity) status |= NODES_FULL;
    if (leaf_references > reference_capacity) status |= REFERENCES_FULL;
    if (totals[3] > room || totals[2] > slot_capacity) status |= WORKING_FULL;
    counts[NODES_NOW] = nodes;
    counts[REFERENCES_NOW] = leaf_references;
    counts[STATUS_NOW] = status;
    counts[WORKING_NOW] = max(counts[WORKING_NOW], totals[3]);
    next_level[LEVEL_NODES] = status == 0 ? totals[2] : 0;
    next_level[LEVEL_REFERENCES] = status == 0 ? totals[3] : 0;
    level[NEXT_LARGE_NODES] = next_level[LARGE_NODES] = status == 0 ? totals[6] : 0;
    level[NEXT_LARGE_REFERENCES] = next_level[LARGE_REFERENCES] = status == 0 ? totals[7] : 0;
    next_level[FIRST_CHILD] = nodes;
    next_level[FIRST_LEAF_REFERENCE] = leaf_references;
}

// What comes before each node, in its tile; the last block sums up the tiles, those of references too, and ends the
// level.
extern "C" __global__ void number_nodes(int* level, int* next_level, int room, int* side_sums, int* node_sums,
                                        const float4* cells, const int4* ranges, const int4* splits,
                                        const int2* side_counts, int max_leaf_size, int ends_here, int node_capacity,
                                        int reference_capacity, int slot_capacity, int* counts, int4* numbers) {
    const int level_nodes = level[LEVEL_NODES], tiles = node_tiles_of(level_nodes), row = node_tiles_of(slot_capacity);
    for (int tile = block_index(); tile < tiles; tile += block_count()) {
        const int first = tile * NODE_TILE + thread_index() * NODE_ITEMS, last = min(first + NODE_ITEMS, level_nodes);
        Additions mine = {}, all;
#pragma unroll 1
        for (int slot = first; slot < last; ++slot)
            mine.add(fate_of(cells, ranges, splits, side_counts[slot], slot, max_leaf_size, ends_here).additions());
        Additions before = scan_additions(mine, all);
#pragma unroll 1
        for (int slot = first; slot < last; ++slot) {
            const int2 sides = side_counts[slot];
            numbers[3 * (int64)slot] = make_int4(before.splits, before.leaf_references, before.slots,
                                                 before.references);
            numbers[3 * (int64)slot + 1] = make_int4(before.lefts, before.rights, 0, 0);
            numbers[3 * (int64)slot + 2] = make_int4(before.large_slots, before.large_references, sides.x, sides.y);
            if (slot + 1 < last)
                before.add(fate_of(cells, ranges, splits, sides, slot, max_leaf_size, ends_here).additions());
        }
        if (thread_index() != 0) continue;
        const int of_tile[8] = {all.splits, all.leaf_references, all.slots,       all.references,
                                all.lefts,  all.rights,          all.large_slots, all.large_references};
        for (int i = 0; i < 8; ++i) node_sums[i * row + tile] = of_tile[i];
    }
    if (block_index() >= tiles || !is_last_block(level + NODES_DONE, min(tiles, block_count()))) return;
    SHARED int totals[8];
    scan_rows(side_sums, 2, tiles_of(room), tiles_of(level[LEVEL_REFERENCES]), nullptr);
    scan_rows(node_sums, 8, row, tiles, totals);
    block_sync();
    if (thread_index() == 0)
        end_level(level, next_level, totals, node_capacity, reference_capacity, room, slot_capacity, counts);
}
