// What the kernels of sah_events share: references, their events, and the nodes of a level (Kolodzey 2014, table 4.1).
//
// A reference is a primitive in a node, with its box clipped to the node's cell along the axes of the splits. An event
// is an end of a reference along an axis: its number << 1 | whether it is the upper end. Each axis has a list of all
// events of a level, node by node, by their planes within a node. A node's references lie at [first, first + count),
// its events at twice that, in every list.
//
// Of a level's nodes the large ones come first. Small ones, of at most SMALL_NODE references, have no events: small.cu
// judges their planes by counting.
// from gpu.hierarchy.kdtree.builders.sah_events.memory import TILE_THREADS
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"
#include "gpu/hierarchy/kdtree/split_costs.cuh"

// Of the unit: EVENTS_A_THREAD, how many neighbours per thread of a tile takes (6.5: cascading), and SEPARATE_WORDS,
// structures of arrays (6.2).
constexpr int TILE = TILE_THREADS * EVENTS_A_THREAD;
constexpr int THREADS = RUNS_SERIAL ? 1 : TILE_THREADS;
constexpr int ITEMS = TILE / THREADS;
constexpr int CHUNK = RUNS_SERIAL ? 1 : ITEMS;  // how many of them a thread asks for at once

// A level's row of counters. `FIRST_CHILD`, `FIRST_LEAF_REFERENCE`: where its children, and the references of its
// leaves, are written; NEXT: of the level after it; the others count blocks that are done, so that the last one goes
// on.
constexpr int LEVEL_NODES = 0, LEVEL_REFERENCES = 1, FIRST_CHILD = 2, FIRST_LEAF_REFERENCE = 3, NODES_DONE = 4,
              EVENTS_DONE = 5, STARTS_DONE = 6, LARGE_NODES = 7, LARGE_REFERENCES = 8, NEXT_LARGE_NODES = 9,
              NEXT_LARGE_REFERENCES = 10, LEVEL_WORDS = 12;

__device__ __forceinline__ bool is_small(int count) { return count <= SMALL_NODE; }

__device__ __forceinline__ int tiles_of(int count) { return (count + TILE - 1) / TILE; }

// Whether this block is the last one of a kernel to come here; it then sees what all wrote. `arriving` blocks do.
__device__ __forceinline__ bool is_last_block(int* done, int arriving) {
    SHARED int is_last;
    block_sync();
    if (thread_index() == 0) is_last = atomic_arrive(done) == arriving - 1;
    block_sync();
    return is_last != 0;
}

// Rows of sums become sums before; a warp per row. `totals`, if any, gets each row's sum.
__device__ __forceinline__ void scan_rows(int* sums, int row_count, int row_length, int used, int* totals) {
    for (int row = thread_index() / WARP_LANES; row < row_count; row += THREADS / WARP_LANES) {
        int* mine = sums + row * (int64)row_length;
        int before = 0;
        for (int first = 0; first < used; first += WARP_LANES) {
            const int i = first + warp_lane(), value = i < used ? mine[i] : 0, with = warp_inclusive_scan(value);
            if (i < used) mine[i] = before + with - value;
            before += warp_broadcast(with, WARP_LANES - 1);
        }
        if (totals != nullptr && warp_lane() == 0) totals[row] = before;
    }
}

constexpr int CUT = 1 << 28;  // beside a prim_id: cut since it was bounded last, and to be bounded anew along all axes

//  word  0..2    3         4..6    7
//        | lower | prim_id | upper | node slot |    one behind the other in 32 bytes, or an array each
struct Reference {
    float3 lower, upper;
    int prim_id, slot;
};
struct References {
    Pointer<float> words;
    int room;

    __device__ __forceinline__ int64 at(int reference, int word) const {
        return SEPARATE_WORDS ? word * (int64)room + reference : 8 * (int64)reference + word;
    }
    __device__ __forceinline__ Reference load(int reference) const {
        if (SEPARATE_WORDS) {
            float word[8];
#pragma unroll
            for (int i = 0; i < 8; ++i) word[i] = words[at(reference, i)];
            return {make_float3(word[0], word[1], word[2]), make_float3(word[4], word[5], word[6]),
                    __float_as_int(word[3]), __float_as_int(word[7])};
        }
        const float4* whole = (const float4*)words + 2 * (int64)reference;
        const float4 lower = whole[0], upper = whole[1];
        return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z), __float_as_int(lower.w),
                __float_as_int(upper.w)};
    }
    __device__ __forceinline__ void store(int reference, float3 lower, float3 upper, int prim_id, int slot) const {
        const float4 low = make_float4(lower.x, lower.y, lower.z, __int_as_float(prim_id));
        const float4 high = make_float4(upper.x, upper.y, upper.z, __int_as_float(slot));
        if (SEPARATE_WORDS) {
            const float word[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int i = 0; i < 8; ++i) words[at(reference, i)] = word[i];
            return;
        }
        float4* whole = (float4*)words + 2 * (int64)reference;
        whole[0] = low;
        whole[1] = high;
    }
    __device__ __forceinline__ int slot(int reference) const { return __float_as_int(words[at(reference, 7)]); }
    __device__ __forceinline__ float plane(int event, int axis) const {
        return words[SEPARATE_WORDS ? at(event >> 1, 4 * (event & 1) + axis) : 4 * (int64)event + axis];
    }
};

__device__ __forceinline__ bool is_end(int event) { return (event & 1) != 0; }
__device__ __forceinline__ int reference_of(int event) { return event >> 1; }

// A node of the level. `share`: how many references its subtree may have for each one it has now.
struct LevelNode {
    float3 lower, upper;
    float share;
    int first, count, node_id;

    __device__ __forceinline__ float3 extent(float& scale) const { return scaled_extent(lower, upper, scale); }
};
__device__ __forceinline__ LevelNode load_level_node(const float4* cells, const int4* ranges, int slot) {
    const float4 lower = cells[2 * (int64)slot], upper = cells[2 * (int64)slot + 1];
    const int4 range = ranges[slot];
    return {make_float3(lower.x, lower.y, lower.z),
            make_float3(upper.x, upper.y, upper.z),
            upper.w,
            range.x,
            range.y,
            range.z};
}
__device__ __forceinline__ void store_level_node(float4* cells, int4* ranges, int slot, const LevelNode& node) {
    cells[2 * (int64)slot] = make_float4(node.lower.x, node.lower.y, node.lower.z, 0.0f);
    cells[2 * (int64)slot + 1] = make_float4(node.upper.x, node.upper.y, node.upper.z, node.share);
    ranges[slot] = make_int4(node.first, node.count, node.node_id, 0);
}

// When a node becomes a leaf instead of being split at a cost: with so few references (the root alone is one), or
// where that does not pay.
struct LeafRule {
    float intersection_cost;
    int by_cost, max_leaf_size;

    __device__ __forceinline__ bool makes_leaf(const LevelNode& node, int count, float cost) const {
        float scale;
        const float whole = intersection_cost * (scaled_area(node.extent(scale)) * (float)count);
        return node.count <= max_leaf_size || (by_cost && !(cost < whole));
    }
};

__device__ __forceinline__ AxisCosts costs_along(const LevelNode& node, int axis) {
    return costs_along(node.lower, node.upper, axis);
}

// Where a node is split: nothing (axis NO_SPLIT) or a plane, and whether references that lie in it go right.
constexpr int NO_SPLIT = -1;
struct Split {
    int axis;
    float plane;
    bool flat_right;

    // Bit 0: a part of it lies left; bit 1: right.
    __device__ __forceinline__ int sides(const Reference& reference) const {
        if (axis == NO_SPLIT) return 0;
        const float low = along(reference.lower, axis), high = along(reference.upper, axis);
        if (low == plane && high == plane) return flat_right ? 2 : 1;
        return (low < plane ? 1 : 0) | (high > plane ? 2 : 0);
    }
};
__device__ __forceinline__ void store_split(int4* splits, int slot, const Split& split) {
    splits[slot] = make_int4(split.axis, __float_as_int(split.plane), split.flat_right ? 1 : 0, 0);
}
__device__ __forceinline__ Split load_split(const int4* splits, int slot) {
    const int4 words = splits[slot];
    return {words.x, __int_as_float(words.y), words.z != 0};
}

// Sides of references, a bit each: four of them in a word of four bytes (6.7), or each in a word of its own.
struct Flags {
    Pointer<uint8> bytes;

    __device__ __forceinline__ int get(int reference) const {
        return FLAG_BYTES == 1 ? bytes[reference] : ((const int*)bytes)[reference];
    }
    __device__ __forceinline__ void set(int reference, int sides) const {
        if (FLAG_BYTES == 1) bytes[reference] = (uint8)sides;
        else ((int*)bytes)[reference] = sides;
    }
};

// Two counts below 2^16 in a word: of left sides and of right ones.
__device__ __forceinline__ int pack_sides(int sides) { return (sides & 1) | (sides >> 1 & 1) << 16; }
__device__ __forceinline__ int lefts_of(int packed) { return packed & 0xffff; }
__device__ __forceinline__ int rights_of(int packed) { return (int)((unsigned)packed >> 16); }
