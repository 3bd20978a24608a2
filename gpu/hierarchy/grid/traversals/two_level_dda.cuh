// The 3D-DDA through a coarse grid, and in each block that is not empty through the block's own cells (stepping.cuh).
//
// Unit constants: MAILBOXES (cells.cuh), RUN_BITS, RUN_LEVELS, RUN_LIST (runs.cuh).
#pragma once
#include "gpu/hierarchy/grid/traversals/dda.cuh"

struct TwoLevelDda {
    GridArrays arrays;
};

template <class Primitives, class OnPrimitive>
struct Blocks {
    static constexpr bool IS_NESTED = true;

    ListedCells<Primitives, OnPrimitive>& cells;
    Real slack;
    int signs, depth;  // of blocks as nodes

    __device__ __forceinline__ GridSpace space() const { return load_grid(cells.arrays.box); }
    __device__ __forceinline__ bool is_empty(int index) const { return cells.arrays.nodes[index].y == 0; }
    template <class OnNode>
    __device__ __forceinline__ void visit(int index, Real entry, Real exit, Rays& rays, OnNode& on_node) {
        const int2 node = cells.arrays.nodes[index];
        const GridSpace block = space().block(index, node.y);
        cells.first_node = node.x;
        cells.first_id = 1 + node.x;
        cells.is_told = block.cells() > 1;
        walk_grid(block, slack, signs, rays.active, entry, exit, rays, cells, on_node);
    }
    __device__ __forceinline__ bool is_shared(int) const { return true; }
    template <class OnNode>
    __device__ __forceinline__ void visit_sharing(unsigned lanes, bool has_visit, int index, Real entry, Real exit,
                                                  Rays& rays, OnNode& on_node) {
        GridSpace block = {};
        if (has_visit) {
            const int2 node = cells.arrays.nodes[index];
            block = space().block(index, node.y);
            cells.first_node = node.x;
        }
        walk_grid_sharing(lanes, has_visit, block, slack, signs, entry, exit, rays, cells, on_node);
    }
    template <class OnNode>
    __device__ __forceinline__ void enter(OnNode& on_node, int index, Mask lanes, Real entry) const {
        const int packed = cells.arrays.nodes[index].y;
        if (packed != 0 && packed != SINGLE_CELL) tell_node(on_node, 1 + index, depth, lanes, entry);
        else tell_leaf(on_node, 1 + index, 1 + index, depth, lanes, entry);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_two_levels(const GridArrays& tree, int signs, const Primitives& primitives,
                                                    Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    Crossings crossings;
    crossings.signs = signs;
    Real entry, exit;
    const Mask lanes = enter_root(tree.box, rays, crossings, entry, exit);
    if (!any(lanes)) return;
    ListedCells<Primitives, OnPrimitive> cells = {tree, primitives, on_primitive};
    cells.mailboxes.clear();
    Blocks<Primitives, OnPrimitive> blocks = {cells};
    blocks.slack = crossings.slack * (GRID_SLACK / CROSSING_SLACK);
    blocks.signs = signs_of(crossings);
    const GridSpace grid = blocks.space();
    blocks.depth = grid.cells() > 1 ? 1 : 0;
    cells.depth = blocks.depth + 1;
    if (blocks.depth > 0) tell_node(on_node, 0, 0, lanes, entry);
    if constexpr (SHARES_LISTS<OnPrimitive, OnNode>)
        walk_grid_sharing(warp_here(), true, grid, blocks.slack, blocks.signs, entry, exit, rays, blocks, on_node);
    else walk_grid(grid, blocks.slack, blocks.signs, lanes, entry, exit, rays, blocks, on_node);
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const TwoLevelDda& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays,
               [&](int signs) { traverse_two_levels(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
