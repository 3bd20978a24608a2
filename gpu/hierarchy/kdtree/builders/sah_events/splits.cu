// The best split of every node of a level: prefix sums over the kinds of events tell how many references lie below and above each of them, so that the
// SAH of all is computed at once (algorithm 6 of Kolodzey 2014; his axis 3 is 2).
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

extern "C" __global__ void count_starts(const int* level, int list_length, const int* events, int tile_capacity, int* sums) {
    const int event_count = 2 * level[LEVEL_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles, first = tile * TILE;
        const int* list = events + axis * (int64)list_length;
        int starts = 0;
        for (int i : block_stride(min(TILE, event_count - first))) starts += is_end(list[first + i]) ? 0 : 1;
        starts = block_sum(starts);
        if (thread_index() == 0) sums[axis * tile_capacity + tile] = starts;
    }
}

// Rows of sums over tiles become sums before tiles; a block a row. Of events there are twice as many as references.
extern "C" __global__ void scan_tiles(const int* level, int items_a_reference, int row_count, int tile_capacity, int* sums) {
    const int tiles = tiles_of(items_a_reference * level[LEVEL_REFERENCES]);
    for (int row = block_index(); row < row_count; row += block_count()) {
        int* mine = sums + row * tile_capacity;
        int before = 0;
        for (int first = 0; first < tiles; first += THREADS) {
            const int i = first + thread_index();
            int part;
            const int here = block_exclusive_scan(i < tiles ? mine[i] : 0, part);
            if (i < tiles) mine[i] = before + here;
            before += part;
        }
    }
}

// Lower costs are larger words, and of equal costs those of earlier events; 0 means none.
__device__ __forceinline__ uint64 word_of(float cost, unsigned event_place) { return ~((uint64)__float_as_uint(cost) << 32 | event_place); }

// Tell what a run of a thread's events found: as few atomics as nodes allow, whole tiles and warps of one node reduced first (chapter 6.8 of the thesis
// switches from one kind of reduction to the other by the level).
__device__ __forceinline__ void keep_best(uint64* best, int slot, uint64 found, bool is_one_node) {
    if (is_one_node) {
        found = block_max(found);
        if (thread_index() == 0 && found != 0) atomic_max(best + slot, found);
    } else if (warp_all(slot == warp_broadcast(slot, 0))) {
        found = warp_max(found);
        if (warp_lane() == 0 && found != 0) atomic_max(best + slot, found);
    } else if (found != 0) {
        atomic_max(best + slot, found);
    }
}

extern "C" __global__ void find_splits(const int* level, int list_length, const int* events, const float4* references, const float4* cells,
                                       const int4* ranges, int tile_capacity, const int* sums, float traversal_cost, float intersection_cost,
                                       float empty_factor, uint64* best) {
    const SplitCosts costs = {traversal_cost, intersection_cost, empty_factor};
    const int event_count = 2 * level[LEVEL_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int* list = events + axis * (int64)list_length;
        const int end = min((tile + 1) * TILE, event_count), first = tile * TILE + thread_index() * ITEMS, last = min(first + ITEMS, end);
        int starts = 0, all;
        for (int i = first; i < last; ++i) starts += is_end(list[i]) ? 0 : 1;
        int before = sums[axis * tile_capacity + tile] + block_exclusive_scan(starts, all);
        const int first_slot = slot_of(references, reference_of(list[tile * TILE])), last_slot = slot_of(references, reference_of(list[end - 1]));
        int slot = first < last ? slot_of(references, reference_of(list[first])) : last_slot;
        LevelNode node = load_level_node(cells, ranges, slot);
        AxisCosts along_axis = costs_along(node, axis);
        uint64 found = 0;
#pragma unroll 1
        for (int i = first; i < last; ++i) {
            const int event = list[i];
            if (i >= 2 * (node.first + node.count)) {  // nodes lie in the order of their slots, none of them without events
                if (found != 0) atomic_max(best + slot, found);
                found = 0;
                node = load_level_node(cells, ranges, ++slot);
                along_axis = costs_along(node, axis);
            }
            const float plane = plane_of(references, event, axis);
            const int below = before - node.first;
            const int above = node.count - (i - 2 * node.first - below) - (is_end(event) ? 1 : 0);
            before += is_end(event) ? 0 : 1;
            if (!(plane > along_axis.low && plane < along_axis.high)) continue;
            const float cost = along_axis.cost(costs, plane, below, above);
            const uint64 word = word_of(cost, (unsigned)axis * (unsigned)list_length + (unsigned)i);
            if (cost <= FLOAT_MAX && word > found) found = word;
        }
        keep_best(best, slot, found, first_slot == last_slot);
    }
}

// Whether each node is parted, and where. Of small ones there is the root alone.
extern "C" __global__ void choose_splits(const int* level, int list_length, const int* events, const float4* references, const float4* cells,
                                         const int4* ranges, const uint64* best, float intersection_cost, int by_cost, int max_leaf_size, int4* splits, int2* side_counts) {
    for (int slot : grid_stride(level[LEVEL_NODES])) {
        const LevelNode node = load_level_node(cells, ranges, slot);
        const uint64 word = ~best[slot];
        const float cost = __uint_as_float((unsigned)(word >> 32));
        float scale;
        const float whole = intersection_cost * (scaled_area(node.extent(scale)) * (float)node.count);
        int4 split;
        split.x = NO_SPLIT;
        split.y = split.z = split.w = 0;
        if (best[slot] != 0 && node.count > max_leaf_size && (!by_cost || cost < whole)) {
            const unsigned place = (unsigned)word;
            const int axis = (int)(place / (unsigned)list_length), event = events[place];
            const Reference reference = load_reference(references, reference_of(event));
            const float low = along(reference.lower, axis), high = along(reference.upper, axis);
            split.x = axis;
            split.y = __float_as_int(is_end(event) ? high : low);
            split.z = (low == high) != is_end(event) ? 1 : 0;  // flat ones are still to come at this event
        }
        splits[slot] = split;
        int2 none;
        none.x = none.y = 0;
        side_counts[slot] = none;
    }
}
