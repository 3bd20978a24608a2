// Before the first level: boxes, references of active primitives side by side, keys of all events, and the root (phase
// I of Kolodzey 2014, 4.2).
//
// One sort serves the three axes:  bit 62: axis | 30: plane | 28: rank among equal planes | 0: event.
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/kdtree/builders/sah_events/boxes.cuh"
#include "gpu/hierarchy/kdtree/builders/sah_events/event_keys.cuh"

constexpr int BOX_WORDS = 8;  // the root's box as ordered integers

extern "C" __global__ void clear_start(int* box_words, int* counts, int* levels, int level_words) {
    for (int i : grid_stride(BOX_WORDS)) box_words[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
    for (int i : grid_stride(COUNT_WORDS)) counts[i] = 0;
    for (int i : grid_stride(level_words)) levels[i] = 0;
}

extern "C" __global__ void find_active(Primitives primitives, int* active, int* box_words) {
    Aabb bounds = empty_aabb();
    over_boxes(primitives, [&](int i, const Aabb& box) {
        active[i] = is_empty(box) ? 0 : 1;
        bounds = merge(bounds, box);
    });
    merge_block_box(bounds, box_words);
}

__device__ __forceinline__ uint64 event_key(int axis, float plane, int rank, int event) {
    return (uint64)axis << 62 | (uint64)ordered_plane(plane) << 30 | (uint64)rank << 28 | (uint64)(unsigned)event;
}

// Six keys per primitive; those of inactive ones are sorted behind all others. `places`: how many active primitives
// come before each.
extern "C" __global__ void write_keys(Primitives primitives, const int* places, uint64* keys) {
    over_boxes(primitives, [&](int i, const Aabb& box) {
        const bool is_active = !is_empty(box);
        const int reference = places[i];
        uint64* at = keys + 6 * (int64)i;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float low = along(box.lower, axis), high = along(box.upper, axis);
            at[2 * axis] = is_active ? event_key(axis, low, rank_of(low == high, 0), 2 * reference) : ~0ull;
            at[2 * axis + 1] = is_active ? event_key(axis, high, rank_of(low == high, 1), 2 * reference + 1) : ~0ull;
        }
    });
}

// The references of active primitives side by side, the root, and the first row of counters. `places` and `active` of
// the last primitive tell how many there are.
extern "C" __global__ void make_root(Primitives primitives, const int* places, const int* active, const int* box_words,
                                     float share, int room, float* reference_words, int* counts, int* levels,
                                     float4* box, int2* draft_nodes, int* draft_parent, float4* cells, int4* ranges,
                                     uint64* best, int2* side_counts) {
    const References references = {reference_words, room};
    over_boxes(primitives, [&](int i, const Aabb& bounds) {
        if (!is_empty(bounds)) references.store(places[i], bounds.lower, bounds.upper, i, 0);
        if (i != 0) return;
        LevelNode root;
        root.lower = root.upper = make_float3(0.0f, 0.0f, 0.0f);
        root.share = share;
        root.first = root.node_id = 0;
        root.count = places[primitives.count - 1] + active[primitives.count - 1];
        for (int axis = 0; axis < 3 && root.count > 0; ++axis) {
            set_along(root.lower, axis, ordered_float(box_words[axis]));
            set_along(root.upper, axis, ordered_float(box_words[3 + axis]));
        }
        store_level_node(cells, ranges, 0, root);
        best[0] = 0;
        side_counts[0] = make_int2(0, 0);
        box[0] = make_float4(root.lower.x, root.lower.y, root.lower.z, 0.0f);
        box[1] = make_float4(root.upper.x, root.upper.y, root.upper.z, 0.0f);
        store_kd_leaf(draft_nodes, 0, 0, 0);
        draft_parent[0] = -1;
        counts[NODES_NOW] = 1;
        counts[WORKING_NOW] = root.count;
        levels[LEVEL_NODES] = root.count > 0 ? 1 : 0;
        levels[LEVEL_REFERENCES] = root.count;
        levels[FIRST_CHILD] = 1;
        levels[LARGE_NODES] = is_small(root.count) ? 0 : 1;
        levels[LARGE_REFERENCES] = is_small(root.count) ? 0 : root.count;
    });
}

// The sorted keys as lists, one per axis.
extern "C" __global__ void take_events(int n, const uint64* keys, const int* places, const int* active, int room,
                                       int* events) {
    const int event_count = 2 * (places[n - 1] + active[n - 1]);
    for (int i : grid_stride(event_count)) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis)
            events[axis * 2 * (int64)room + i] = (int)((unsigned)keys[axis * (int64)event_count + i] & 0xfffffffu);
    }
}

// Lower ends in each tile, a row per axis; the last block turns them into those before each.
extern "C" __global__ void count_starts(int* level, int room, const int* events, int* starts) {
    const int event_count = 2 * level[LARGE_REFERENCES], tiles = tiles_of(event_count), row = tiles_of(2 * room);
    for (int job = block_index(); job < 3 * tiles; job += block_count()) {
        const int axis = job / tiles, tile = job - axis * tiles, first = tile * TILE;
        const int* list = events + axis * 2 * (int64)room;
        int mine = 0;
        for (int i : block_stride(min(TILE, event_count - first))) mine += is_end(list[first + i]) ? 0 : 1;
        mine = block_sum(mine);
        if (thread_index() == 0) starts[axis * row + tile] = mine;
    }
    if (block_index() < 3 * tiles && is_last_block(level + STARTS_DONE, min(3 * tiles, block_count())))
        scan_rows(starts, 3, row, tiles, nullptr);
}
