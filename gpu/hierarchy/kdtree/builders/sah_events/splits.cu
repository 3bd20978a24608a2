// The best split of every large node of a level: prefix sums over the kinds of events tell how many references lie
// below and above each of them, so that the SAH of all is computed at once (algorithm 6 of Kolodzey 2014; his axis 3 is
// 2).
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

// Of the unit: REDUCTION, how the best candidate of a node is found, and SHUFFLED, whether lanes hand candidates to
// each other or through shared memory.
constexpr int BY_ATOMICS = 0, BY_NODES = 1, HYBRID = 2;

// The greatest word of a block, which thread 0 gets: by shuffles (6.8.1), or as they were found before there were any.
__device__ __forceinline__ uint64 best_of_block(uint64 found) {
    if (SHUFFLED) return block_max(found);
    SHARED uint64 words[THREADS];
    words[thread_index()] = found;
    block_sync();
    for (int step = THREADS / 2; step > 0; step >>= 1) {
        if (thread_index() < step && words[thread_index() + step] > words[thread_index()])
            words[thread_index()] = words[thread_index() + step];
        block_sync();
    }
    found = words[0];
    block_sync();
    return found;
}

__device__ __forceinline__ uint64 max_of(uint64 a, uint64 b) { return a > b ? a : b; }

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

// One axis' list of a node, from one of its events on: how many references lie below and above, and the least cost so
// far.
struct Sweep {
    SplitCosts costs;
    int axis, slot, end, count, below, above, best_event;
    AxisCosts along_axis;
    float least;

    // `before`: lower ends in the level before event i.
    __device__ __forceinline__ void enter(const float4* cells, const int4* ranges, int new_slot, int i, int before) {
        slot = new_slot;
        const LevelNode node = load_level_node(cells, ranges, slot);
        along_axis = costs_along(node, axis);
        end = 2 * (node.first + node.count);
        count = node.count;
        below = before - node.first;
        above = node.count - (i - 2 * node.first - below);
        least = FLOAT_MAX;
        best_event = -1;
    }
    __device__ __forceinline__ void step(int i, int event, float plane) {
        above -= event & 1;
        if (along_axis.may_split(plane, is_end(event))) {
            // At a face events are in no order after cuts; but the flat ones' last end has all others above it, and
            // their first beginning all below.
            const bool is_inside = along_axis.is_inside(plane), is_upper = is_end(event);
            const int left = is_inside || !is_upper ? below : count - above,
                      right = is_inside || is_upper ? above : count - below;
            const float cost = along_axis.cost(costs, plane, left, right);
            if (cost < least || (cost == least && best_event < 0)) {
                least = cost;
                best_event = i;
            }
        }
        below += 1 - (event & 1);
    }
    // Lower costs are larger words, and of equal costs those of earlier events of earlier axes; 0 means none.
    __device__ __forceinline__ uint64 word(int room) const {
        const unsigned place = 2u * (unsigned)axis * (unsigned)room + (unsigned)best_event;
        return best_event < 0 ? 0 : ~((uint64)__float_as_uint(least) << 32 | place);
    }
};

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
