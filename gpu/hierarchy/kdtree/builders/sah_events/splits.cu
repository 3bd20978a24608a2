// The best split of every large node of a level: prefix sums over the kinds of events tell how many references lie
// below and above each of them, so that the SAH of all is computed at once (algorithm 6 of Kolodzey 2014; his axis 3 is
// 2).
#include "gpu/hierarchy/kdtree/builders/sah_events/sweep.cuh"

// Of the unit: REDUCTION, how the best candidate of a node is found.
constexpr int BY_ATOMICS = 0, BY_NODES = 1, HYBRID = 2;

// Tell what a run of a thread's events found. Hybrid: as few atomics as nodes allow, whole tiles and warps of one node
// reduced first (6.8.2 of the thesis switches from one kind of reduction to the other by the level).
__device__ __forceinline__ void keep_best(uint64* best, int slot, uint64 found, bool is_one_node) {
    if (REDUCTION == HYBRID && is_one_node) {
        found = best_of_block(found);
        if (thread_index() == 0 && found != 0) atomic_max(best + slot, found);
    } else if (REDUCTION == HYBRID && SHUFFLED && warp_all(slot == warp_broadcast(slot, 0))) {
        found = warp_max(found);
        if (warp_lane() == 0 && found != 0) atomic_max(best + slot, found);
    } else if (found != 0) {
        atomic_max(best + slot, found);
    }
}

// `starts`: a row per axis, how many lower ends come before each tile.
extern "C" __global__ void find_splits(const int* level, int room, const int* events, float* reference_words,
                                       const float4* cells, const int4* ranges, const int* starts, float traversal_cost,
                                       float intersection_cost, float empty_factor, uint64* best) {
    const References references = {reference_words, room};
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int* list = events + axis * 2 * (int64)room;
        const int end = min((tile + 1) * TILE, event_count), first = tile * TILE + thread_index() * ITEMS,
                  last = min(first + ITEMS, end);
        int mine = 0, all;
        for (int i = first; i < last; ++i) mine += is_end(list[i]) ? 0 : 1;
        const int before = starts[axis * tiles_of(2 * room) + tile] + block_exclusive_scan(mine, all);
        const int first_slot = references.slot(reference_of(list[tile * TILE])),
                  last_slot = references.slot(reference_of(list[end - 1]));
        Sweep sweep = {{traversal_cost, intersection_cost, empty_factor}, axis, last_slot, 0, 0, 0, 0, -1, {}, 0.0f};
        if (first < last) sweep.enter(cells, ranges, references.slot(reference_of(list[first])), first, before);
#pragma unroll 1
        for (int start = first; start < last; start += CHUNK) {
            int of[CHUNK];
            float planes[CHUNK];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) of[k] = list[min(start + k, last - 1)];
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) planes[k] = references.plane(of[k], axis);
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) {
                const int i = start + k;
                if (i >= last) break;
                if (i >= sweep.end) {  // nodes lie in the order of their slots, none of them without events
                    const uint64 found = sweep.word(room);
                    if (found != 0) atomic_max(best + sweep.slot, found);
                    sweep.enter(cells, ranges, sweep.slot + 1, i, i / 2);
                }
                sweep.step(i, of[k], planes[k]);
            }
        }
        keep_best(best, sweep.slot, sweep.word(room), first_slot == last_slot);
    }
}

// The same by a block per node, as the thesis' segmented reduction has it: few blocks near the root, idle threads near
// the leaves.
extern "C" __global__ void find_splits_of_nodes(const int* level, int room, const int* events, float* reference_words,
                                                const float4* cells, const int4* ranges, float traversal_cost,
                                                float intersection_cost, float empty_factor, uint64* best) {
    const References references = {reference_words, room};
    for (int slot = block_index(); slot < level[LARGE_NODES]; slot += block_count()) {
        uint64 found = 0;
        for (int axis = 0; axis < 3; ++axis) {
            Sweep sweep = {{traversal_cost, intersection_cost, empty_factor}, axis, slot, 0, 0, 0, 0, -1, {}, 0.0f};
            const int first = ranges[slot].x, end = 2 * (first + ranges[slot].y);
            const int* list = events + axis * 2 * (int64)room;
            int before_all = first;
            for (int start = 2 * first; start < end; start += THREADS) {
                const int i = start + thread_index(), event = i < end ? list[i] : 1;
                int part;
                const int before = before_all + block_exclusive_scan(1 - (event & 1), part);
                before_all += part;
                if (i >= end) continue;  // of lists that are no multiple of the block
                sweep.enter(cells, ranges, slot, i, before);
                sweep.step(i, event, references.plane(event, axis));
                found = max_of(found, sweep.word(room));
            }
        }
        found = best_of_block(found);
        if (thread_index() == 0) best[slot] = found;
    }
}
