// The 3D-DDA: from cell to cell of a grid, in the order in which rays pass them (stepping.cuh).
//
// Unit constants: MAILBOXES (cells.cuh), RUN_BITS, RUN_LEVELS, RUN_LIST (runs.cuh).
// from gpu.hierarchy.grid.grid import GridArrays
#pragma once
#include "gpu/hierarchy/grid/traversals/stepping.cuh"
#include "gpu/hierarchy/runs.cuh"

struct Dda {
    GridArrays arrays;
};

template <class Primitives, class OnPrimitive>
struct ListedCells {
    static constexpr bool IS_NESTED = false;

    const GridArrays& arrays;
    const Primitives& primitives;
    OnPrimitive& on_primitive;
    LaneMailboxes mailboxes;
    int first_node, first_id, depth;  // the first cell's place, and what it is called; how deep cells are
    bool is_told;  // whether cells are nodes of their own

    __device__ __forceinline__ bool is_empty(int index) const {
        const int2 cell = arrays.nodes[first_node + index];
        return cell.x == cell.y;
    }
    template <class OnNode>
    __device__ __forceinline__ void visit(int index, Real, Real, Rays& rays, OnNode& on_node) {
        const int2 cell = arrays.nodes[first_node + index];
        visit_references(arrays.references, Runs{arrays.runs}, cell.x, cell.y - cell.x, mailboxes, primitives, rays,
                         on_primitive, on_node);
    }
    template <class OnNode>
    __device__ __forceinline__ void enter(OnNode& on_node, int index, Mask lanes, Real entry) const {
        if (is_told) tell_leaf(on_node, first_id + index, first_id + index, depth, lanes, entry);
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_dda(const GridArrays& tree, int signs, const Primitives& primitives,
                                             Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    Crossings crossings;
    crossings.signs = signs;
    Real entry, exit;
    const Mask lanes = enter_root(tree.box, rays, crossings, entry, exit);
    if (!any(lanes)) return;
    const Real slack = crossings.slack * (GRID_SLACK / CROSSING_SLACK);
    const GridSpace grid = load_grid(tree.box);
    const bool is_divided = grid.cells() > 1;
    ListedCells<Primitives, OnPrimitive> cells = {tree, primitives, on_primitive};
    cells.mailboxes.clear();
    cells.first_node = 0;
    cells.first_id = cells.depth = is_divided ? 1 : 0;
    cells.is_told = true;
    if (is_divided) tell_node(on_node, 0, 0, lanes, entry);
    walk_grid(grid, slack, signs_of(crossings), lanes, entry, exit, rays, cells, on_node);
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Dda& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays, [&](int signs) { traverse_dda(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
