// The best split of every large node of a level by the thesis' own steps (Kolodzey 2014, 4.3.1, 6.7 and 6.8): kinds of
// events as a binary array, its prefix sums, a list of candidates, and a reduction of that list, whole or by segments.
//
// Here a kind is the lowest bit of an event, so that the binary array is written from the events in every level. It has
// a row per axis of kind_row(room) entries, of a byte each, four a load, or of a word (FLAG_BYTES).
// listed.py knows kind_row too.
#include "gpu/hierarchy/kdtree/builders/sah_events/sweep.cuh"

constexpr unsigned KIND_OF_EACH = 0x01010101u;

__device__ __forceinline__ int64 kind_row(int room) { return (2 * (int64)room + 3) / 4 * 4; }

// 1 where an event is a lower end: what sums tell is how many references have begun.
struct Kinds {
    Pointer<uint8> bytes;

    __device__ __forceinline__ int get(int64 at) const { return FLAG_BYTES == 1 ? bytes[at] : ((const int*)bytes)[at]; }
    __device__ __forceinline__ void set(int64 at, int kind) const {
        if (FLAG_BYTES == 1) bytes[at] = (uint8)kind;
        else ((int*)bytes)[at] = kind;
    }
    // The sum of four, of which the first lies at a multiple of four.
    __device__ __forceinline__ int sum_of_four(int64 at) const {
        if (FLAG_BYTES == 1) return __popc(((const unsigned*)bytes)[at / 4] & KIND_OF_EACH);
        const int4 four = ((const int4*)bytes)[at / 4];
        return four.x + four.y + four.z + four.w;
    }
};

extern "C" __global__ void write_kinds(const int* level, int room, const int* events, uint8* kind_bytes) {
    const Kinds kinds = {kind_bytes};
    const int event_count = 2 * level[LARGE_REFERENCES];
    for (int i : grid_stride(event_count)) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis)
            kinds.set(axis * kind_row(room) + i, is_end(events[axis * 2 * (int64)room + i]) ? 0 : 1);
    }
}

// How many lower ends of the level come before each event. `starts`: a row per axis, how many before each tile.
extern "C" __global__ void scan_kinds(const int* level, int room, uint8* kind_bytes, const int* starts, int* begun) {
    const Kinds kinds = {kind_bytes};
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int64 row = axis * kind_row(room);
        const int end = min((tile + 1) * TILE, event_count), first = min(tile * TILE + thread_index() * ITEMS, end),
                  last = min(first + ITEMS, end), fours = ITEMS % 4 == 0 ? first + (last - first) / 4 * 4 : first;
        int mine = 0, all;
        for (int i = first; i < fours; i += 4) mine += kinds.sum_of_four(row + i);
        for (int i = fours; i < last; ++i) mine += kinds.get(row + i);
        int before = starts[axis * tiles_of(2 * room) + tile] + block_exclusive_scan(mine, all);
        for (int i = first; i < last; ++i) {
            begun[row + i] = before;
            before += kinds.get(row + i);
        }
    }
}

// The best of the three candidates of each place, one per axis (algorithm 6): its word, 0 where none may split.
extern "C" __global__ void list_candidates(const int* level, int room, const int* events, float* reference_words,
                                           const float4* cells, const int4* ranges, const int* begun,
                                           float traversal_cost, float intersection_cost, float empty_factor,
                                           uint64* candidates) {
    const References references = {reference_words, room};
    for (int i : grid_stride(2 * level[LARGE_REFERENCES])) {
        const int slot = references.slot(
            reference_of(events[i]));  // a node's events lie at the same places of all axes
        uint64 found = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const int event = events[axis * 2 * (int64)room + i];
            Sweep sweep = {{traversal_cost, intersection_cost, empty_factor}, axis, slot, 0, 0, 0, 0, -1, {}, 0.0f};
            sweep.enter(cells, ranges, slot, i, begun[axis * kind_row(room) + i]);
            sweep.step(i, event, references.plane(event, axis));
            found = max_of(found, sweep.word(room));
        }
        candidates[i] = found;
    }
}

// The best of some candidates, two at a time (listing 6.8), by all threads of a block; thread 0 gets it.
__device__ __forceinline__ uint64 best_of_candidates(const uint64* candidates, int first, int last) {
    uint64 found = 0;
    for (int i = first + thread_index(); i < last; i += 2 * THREADS) {
        found = max_of(found, candidates[i]);
        if (i + THREADS < last) found = max_of(found, candidates[i + THREADS]);
    }
    return best_of_block(found);
}

// The segmented reduction: a block per node.
extern "C" __global__ void reduce_segments(const int* level, const int4* ranges, const uint64* candidates,
                                           uint64* best) {
    for (int slot = block_index(); slot < level[LARGE_NODES]; slot += block_count()) {
        const int4 range = ranges[slot];
        const uint64 found = best_of_candidates(candidates, 2 * range.x, 2 * (range.x + range.y));
        if (thread_index() == 0) best[slot] = found;
    }
}

// The whole reduction, for levels of few nodes: all blocks share out each node's candidates. `best` was 0.
extern "C" __global__ void reduce_whole(const int* level, const int4* ranges, const uint64* candidates, uint64* best) {
    const int nodes = level[LARGE_NODES];
    if (nodes == 0) return;
    const int parts = max(1, block_count() / nodes);
    for (int job = block_index(); job < nodes * parts; job += block_count()) {
        const int slot = job / parts, part = job - slot * parts;
        const int4 range = ranges[slot];
        const int share = (2 * range.y + parts - 1) / parts, first = 2 * range.x + min(part * share, 2 * range.y),
                  last = 2 * range.x + min((part + 1) * share, 2 * range.y);
        const uint64 found = best_of_candidates(candidates, first, last);
        if (thread_index() == 0 && found != 0) atomic_max(best + slot, found);
    }
}
