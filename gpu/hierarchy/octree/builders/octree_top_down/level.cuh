// What the kernels of a level share. `levels` has a row a level; cells that are to be cut have a slot each, and their
// references lie side by side in the order of the slots.
#pragma once
#include "gpu/hierarchy/octree/nodes.cuh"

// A row: cells, their references, and what nodes and references of leaves there were before.
constexpr int LEVEL_CELLS = 0, LEVEL_REFERENCES = 1, LEVEL_FIRST_NODE = 2, LEVEL_FIRST_REFERENCE = 3, LEVEL_WORDS = 4;

// A cell that is to be cut, with its node and its references; `share`: how many references each of them may become.
struct OpenCell {
    OctreeCell cell;
    int node_id, first, count;
    float share;
};

//  byte  0   4   8   12             0         4       8       12
//        | x | y | z | level |      | node id | first | count | share |
__device__ __forceinline__ OctreeCell load_cell(Pointer<const int4> cells, int slot) {
    const int4 cell = cells[slot];
    return {cell.x, cell.y, cell.z, cell.w};
}
__device__ __forceinline__ void store_open_cell(Pointer<int4> cells, Pointer<int4> ranges, int slot,
                                                const OpenCell& open) {
    cells[slot] = make_int4(open.cell.x, open.cell.y, open.cell.z, open.cell.level);
    ranges[slot] = make_int4(open.node_id, open.first, open.count, __float_as_int(open.share));
}
