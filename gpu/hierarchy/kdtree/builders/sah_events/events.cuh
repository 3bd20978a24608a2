// What the kernels of sah_events share: references, their events, and the nodes of a level (Kolodzey 2014, table 4.1).
//
// A reference is a primitive in a node, with its box clipped to the node's cell along the axes of the splits. An event is an end of a reference along an
// axis: its number << 1 | whether it is the upper end. Each axis has a list of all events of a level, node by node, by their planes within a node. A
// node's references lie at [first, first + count), its events at twice that, in every list.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"
#include "gpu/hierarchy/kdtree/split_costs.cuh"

constexpr int TILE = 2048;
constexpr int THREADS = WARP_LANES == 1 ? 1 : 256;
constexpr int ITEMS = TILE / THREADS;  // neighbours of a thread

// A level's row of counters.
constexpr int LEVEL_NODES = 0, LEVEL_REFERENCES = 1, LEVEL_WORDS = 4;

//  byte  0       12        16      28          32
//        | lower | prim_id | upper | node slot |
struct Reference {
    float3 lower, upper;
    int prim_id, slot;
};
__device__ __forceinline__ Reference load_reference(const float4* references, int reference) {
    const float4 lower = references[2 * (int64)reference], upper = references[2 * (int64)reference + 1];
    return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z), __float_as_int(lower.w), __float_as_int(upper.w)};
}
__device__ __forceinline__ void store_reference(float4* references, int reference, float3 lower, float3 upper, int prim_id, int slot) {
    references[2 * (int64)reference] = make_float4(lower.x, lower.y, lower.z, __int_as_float(prim_id));
    references[2 * (int64)reference + 1] = make_float4(upper.x, upper.y, upper.z, __int_as_float(slot));
}
__device__ __forceinline__ int slot_of(const float4* references, int reference) { return __float_as_int(references[2 * (int64)reference + 1].w); }

__device__ __forceinline__ bool is_end(int event) { return (event & 1) != 0; }
__device__ __forceinline__ int reference_of(int event) { return event >> 1; }

__device__ __forceinline__ float plane_of(const float4* references, int event, int axis) {
    return (&references[2 * (int64)reference_of(event) + (event & 1)].x)[axis];
}

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
    return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z), upper.w, range.x, range.y, range.z};
}
__device__ __forceinline__ void store_level_node(float4* cells, int4* ranges, int slot, const LevelNode& node) {
    cells[2 * (int64)slot] = make_float4(node.lower.x, node.lower.y, node.lower.z, 0.0f);
    cells[2 * (int64)slot + 1] = make_float4(node.upper.x, node.upper.y, node.upper.z, node.share);
    int4 range;
    range.x = node.first;
    range.y = node.count;
    range.z = node.node_id;
    range.w = 0;
    ranges[slot] = range;
}

__device__ __forceinline__ AxisCosts costs_along(const LevelNode& node, int axis) { return costs_along(node.lower, node.upper, axis); }

// Where a node is parted: nothing (axis NO_SPLIT) or a plane, and whether references that lie in it go right.
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
__device__ __forceinline__ Split load_split(const int4* splits, int slot) {
    const int4 words = splits[slot];
    return {words.x, __int_as_float(words.y), words.z != 0};
}

// Two counts below 2^16 in a word: of left sides and of right ones.
__device__ __forceinline__ int pack_sides(int sides) { return (sides & 1) | (sides >> 1 & 1) << 16; }
__device__ __forceinline__ int lefts_of(int packed) { return packed & 0xffff; }
__device__ __forceinline__ int rights_of(int packed) { return (int)((unsigned)packed >> 16); }

__device__ __forceinline__ int tiles_of(int count) { return (count + TILE - 1) / TILE; }
