// Events by way of lists with gaps, as the thesis moves them (algorithm 7): each node has room for all its events below
// its split and for all of them above, each event goes to its place there, or to both, and compaction closes the gaps.
// With masks (6.9, algorithm 10) a byte says what would lie at a place, and events move once, when gaps are closed. The
// lists that come out are those of partition_events.
#include "gpu/hierarchy/kdtree/builders/sah_events/partition.cuh"

// Of the unit: GAP_BYTES, 4 for numbers of events and 1 for masks. `bases` of a node has where its events end and begin
// in words 2 and 3.
constexpr int NO_EVENT = -1;

// A list with gaps, four places a reference.
struct Gaps {
    Pointer<uint8> bytes;

    __device__ __forceinline__ void set(int64 place, int event) const {
        if (GAP_BYTES == 1) bytes[place] = (uint8)(event == NO_EVENT ? 0 : 1 + (event & 1));
        else as<int>(bytes)[place] = event;
    }
    // An event, of which masks know nothing but its kind.
    __device__ __forceinline__ int get(int64 place) const {
        return GAP_BYTES == 1 ? (int)bytes[place] - 1 : as<const int>(bytes)[place];
    }
};
__device__ __forceinline__ int moved(int number, int event) {
    return number >= 0 ? number << 1 | (event & 1) : NO_EVENT;
}

extern "C" __global__ void spread_events(const int* level, int room, const int* events, const int2* moves,
                                         const int* slots, const int4* bases, const int* counts, uint8* gap_bytes) {
    if (counts[STATUS_NOW] != 0) return;
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const int* list = events + axis * 2 * (int64)room;
        const Gaps gaps = {gap_bytes + GAP_BYTES * (axis * 4 * (int64)room)};
        for (int i : block_stride(min(TILE, event_count - tile * TILE))) {
            const int place = tile * TILE + i, event = list[place];
            const int2 move = moves[reference_of(event)];
            const int4 base = bases[slots[reference_of(event)]];
            // twice the node's first event, and as far behind it as the event is
            const int below = base.w + place, above = base.z + place;
            gaps.set(below, moved(move.x, event));
            gaps.set(above, moved(move.y, event));
        }
    }
}

// `event_sums`: six rows of tiles: what lies in each axis' list, then how many of those are lower ends.
extern "C" __global__ void count_gaps(int* level, int room, const uint8* gap_bytes, const int* counts,
                                      int* event_sums) {
    if (counts[STATUS_NOW] != 0) return;
    const int places = 4 * level[LARGE_REFERENCES], tiles = tiles_of(places), row = tiles_of(4 * room);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const Gaps gaps = {(uint8*)gap_bytes + GAP_BYTES * (axis * 4 * (int64)room)};
        int packed = 0;
        for (int i : block_stride(min(TILE, places - tile * TILE))) {
            const int event = gaps.get(tile * TILE + i);
            packed += event == NO_EVENT ? 0 : (is_end(event) ? 1 : 1 | 1 << 16);
        }
        packed = block_sum(packed);
        if (thread_index() != 0) continue;
        event_sums[axis * row + tile] = lefts_of(packed);
        event_sums[(3 + axis) * row + tile] = rights_of(packed);
    }
    if (block_index() < 3 * tiles && is_last_block(level + EVENTS_DONE, min(3 * tiles, block_count())))
        scan_rows(event_sums, 6, row, tiles, nullptr);
}

// The event that a mask at a place stands for: that of the node whose events end behind it.
__device__ __forceinline__ int event_at(int place, int level_nodes, const int4* bases, const int* list,
                                        const int2* moves) {
    int low = 0, high = level_nodes - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (2 * bases[middle].z > place) high = middle;
        else low = middle + 1;
    }
    const int4 base = bases[low];
    const bool is_above = place >= base.w + base.z;
    const int event = list[is_above ? place - base.z : place - base.w];
    const int2 move = moves[reference_of(event)];
    return moved(is_above ? move.y : move.x, event);
}

extern "C" __global__ void close_gaps(const int* level, int room, const uint8* gap_bytes, const int* events,
                                      const int2* moves, const int4* bases, const int* counts, const int* event_sums,
                                      int* next_events, int* starts) {
    if (counts[STATUS_NOW] != 0) return;
    const int places = 4 * level[LARGE_REFERENCES], tiles = tiles_of(places), row = tiles_of(4 * room);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles;
        const Gaps gaps = {(uint8*)gap_bytes + GAP_BYTES * (axis * 4 * (int64)room)};
        const int first = tile * TILE + thread_index() * ITEMS,
                  last = min(first + ITEMS, min((tile + 1) * TILE, places));
        int packed = 0, all;
        for (int i = first; i < last; ++i) {
            const int event = gaps.get(i);
            packed += event == NO_EVENT ? 0 : (is_end(event) ? 1 : 1 | 1 << 16);
        }
        packed = block_exclusive_scan(packed, all);
        int to = event_sums[axis * row + tile] + lefts_of(packed),
            start = event_sums[(3 + axis) * row + tile] + rights_of(packed);
        for (int i = first; i < last; ++i) {
            int event = gaps.get(i);
            if (event == NO_EVENT) continue;
            if (GAP_BYTES == 1) event = event_at(i, level[LARGE_NODES], bases, events + axis * 2 * (int64)room, moves);
            if (to % TILE == 0) starts[axis * tiles_of(2 * room) + to / TILE] = start;
            next_events[axis * 2 * (int64)room + to++] = event;
            start += is_end(event) ? 0 : 1;
        }
    }
}
