// Before the first level: boxes, references of active primitives side by side, keys of all events, and the root (phase I of Kolodzey 2014, 4.2).
//
// One sort serves the three axes:  bit 62: axis | 30: plane | 28: rank among equal planes | 0: event.  Upper ends come before lower ones, so that what
// ends at a plane does not count as above it; references that lie in a plane come in between, lower ends first.
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

constexpr int BOX_WORDS = 8;  // the root's box as ordered integers

extern "C" __global__ void clear_start(int* box_words, int* counts) {
    for (int i : grid_stride(BOX_WORDS)) box_words[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
    for (int i : grid_stride(COUNT_WORDS)) counts[i] = 0;
}

extern "C" __global__ void find_active(Primitives primitives, int* active, int* box_words) {
    Aabb bounds = empty_aabb();
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        active[i] = is_empty(box) ? 0 : 1;
        bounds = merge(bounds, box);
    }
    const float3 lower = make_float3(block_min(bounds.lower.x), block_min(bounds.lower.y), block_min(bounds.lower.z));
    const float3 upper = make_float3(block_max(bounds.upper.x), block_max(bounds.upper.y), block_max(bounds.upper.z));
    if (thread_index() == 0) {
        for (int axis = 0; axis < 3; ++axis) {
            atomic_min_float(box_words + axis, along(lower, axis));
            atomic_max_float(box_words + 3 + axis, along(upper, axis));
        }
    }
}

__device__ __forceinline__ uint64 event_key(int axis, float plane, int rank, int event) {
    const unsigned place = (unsigned)ordered_int(plane) ^ 0x80000000u;
    return (uint64)axis << 62 | (uint64)place << 30 | (uint64)rank << 28 | (uint64)(unsigned)event;
}

// `places`: how many active primitives come before each. Six keys a primitive; those of inactive ones are sorted behind all others.
extern "C" __global__ void write_events(Primitives primitives, const int* places, float4* references, uint64* keys) {
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        const bool is_active = !is_empty(box);
        const int reference = places[i];
        if (is_active) store_reference(references, reference, box.lower, box.upper, i, 0);
        uint64* at = keys + 6 * (int64)i;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float low = along(box.lower, axis), high = along(box.upper, axis);
            const bool is_flat = low == high;
            at[2 * axis] = is_active ? event_key(axis, low, is_flat ? 1 : 3, 2 * reference) : ~0ull;
            at[2 * axis + 1] = is_active ? event_key(axis, high, is_flat ? 2 : 0, 2 * reference + 1) : ~0ull;
        }
    }
}

// The root, and the first row of counters. `places` and `active` of the last primitive tell how many are active.
extern "C" __global__ void make_root(int n, const int* places, const int* active, const int* box_words, float share, int* counts, int* levels, float4* box,
                                     int2* draft_nodes, int* draft_parent, float4* cells, int4* ranges, uint64* best) {
    for (int item : grid_stride(1)) {
        const int count = places[n - 1] + active[n - 1];
        LevelNode root;
        root.lower = root.upper = make_float3(0.0f, 0.0f, 0.0f);
        for (int axis = 0; axis < 3 && count > 0; ++axis) {
            set_along(root.lower, axis, ordered_float(box_words[axis]));
            set_along(root.upper, axis, ordered_float(box_words[3 + axis]));
        }
        root.share = share;
        root.first = root.node_id = item;
        root.count = count;
        store_level_node(cells, ranges, 0, root);
        best[0] = 0;
        box[0] = make_float4(root.lower.x, root.lower.y, root.lower.z, 0.0f);
        box[1] = make_float4(root.upper.x, root.upper.y, root.upper.z, 0.0f);
        store_kd_leaf(draft_nodes, 0, 0, 0);
        draft_parent[0] = -1;
        counts[NODES_NOW] = 1;
        counts[WORKING_NOW] = count;
        levels[LEVEL_NODES] = count > 0 ? 1 : 0;
        levels[LEVEL_REFERENCES] = count;
    }
}

// The sorted keys as lists, one an axis.
extern "C" __global__ void take_events(const uint64* keys, const int* levels, int list_length, int* events) {
    const int event_count = 2 * levels[LEVEL_REFERENCES];
    for (int i : grid_stride(event_count)) {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) events[axis * (int64)list_length + i] = (int)((unsigned)keys[axis * (int64)event_count + i] & 0xfffffffu);
    }
}
