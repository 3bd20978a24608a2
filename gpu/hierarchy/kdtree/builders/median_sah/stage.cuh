// Everything that the kernels of the large-node stage have in common, by value: one argument instead of thirty, as the
// host packs them at every launch.
// from gpu.hierarchy.kdtree.builders.median_sah.stage_arrays import LargeArrays
#pragma once
#include "gpu/hierarchy/kdtree/builders/median_sah/children.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/chunks.cuh"

// A level's own nodes and the next one's. `half` is where the children's references go.
struct Level {
    Pointer<const int> row;
    Pointer<int> next_row;
    Pointer<float4> cells, next_cells;
    Pointer<int4> ranges, next_ranges;
    Pointer<int> boxes, next_boxes, side_counts, next_side_counts;
    int half;

    __device__ __forceinline__ int nodes() const { return row[LEVEL_NODES]; }
    __device__ __forceinline__ int chunks() const { return row[LEVEL_CHUNKS]; }
    __device__ __forceinline__ OpenNode node(int slot) const { return load_open_node(cells, ranges, slot); }
    __device__ __forceinline__ Aabb box(int slot) const { return load_box(boxes, slot); }
    __device__ __forceinline__ int* counts_of(int slot) const { return side_counts + COUNT_STRIDE * (int64)slot; }
};

struct LargeStage : LargeArrays {
    __device__ __forceinline__ Level level(int index) const {
        const bool odd = index % 2 != 0;
        int* row = levels + LEVEL_WORDS * index;
        return {row,
                row + LEVEL_WORDS,
                odd ? cells_too : cells,
                odd ? cells : cells_too,
                odd ? ranges_too : ranges,
                odd ? ranges : ranges_too,
                odd ? boxes_too : boxes,
                odd ? boxes : boxes_too,
                odd ? side_counts_too : side_counts,
                odd ? side_counts : side_counts_too,
                odd ? 0 : 1};
    }
    __device__ __forceinline__ LargeRules rules(int ends_here) const { return {empty_fraction, max_depth, ends_here}; }
    __device__ __forceinline__ Room room() const {
        return {node_capacity, working_capacity, slot_capacity, root_capacity};
    }
    __device__ __forceinline__ Destination destination(const Level& at) const {
        return destination_of(at.row, at.half, room(), {draft_nodes, draft_parent, node_capacity},
                              {at.next_cells, at.next_ranges, slot_capacity}, {root_cells, root_ranges, root_capacity},
                              at.next_boxes, at.next_side_counts);
    }
};
