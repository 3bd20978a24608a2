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
    __device__ __forceinline__ OpenList list_of(int index) const {
        const int2 cell = arrays.nodes[first_node + index];
        OpenList list;
        list.open(cell.x, cell.y - cell.x, Runs{arrays.runs});
        return list;
    }
    __device__ __forceinline__ bool is_shared(int index) const { return list_of(index).is_shared; }
    template <class OnNode>
    __device__ __forceinline__ void visit_sharing(unsigned lanes, bool has_visit, int index, Real, Real, Rays& rays,
                                                  OnNode&) {
        OpenList list = has_visit ? list_of(index) : OpenList{};
        share_lists(lanes, list, arrays.references, Runs{arrays.runs}, primitives, rays, on_primitive);
    }
    template <class OnNode>
    __device__ __forceinline__ void enter(OnNode& on_node, int index, Mask lanes, Real entry) const {
        if (is_told) tell_leaf(on_node, first_id + index, first_id + index, depth, lanes, entry);
    }
};

// From where a ray of `lanes` has come to a shared list (shared_lists.cuh): at `cell`, others behind it. Mailboxes
// begin anew: what they remember is not worth the memory that it would be handed over in.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __noinline__ void go_on_sharing(unsigned lanes, bool goes_on, GridArrays tree, Primitives primitives,
                                           const GridPlace& from, Mask full, Mask empty, int cell, Rays& rays,
                                           OnPrimitive& on_primitive, OnNode on_node) {
    using Cells = ListedCells<Primitives, OnPrimitive>;
    Rays own_rays = rays;
    OnPrimitive own = on_primitive;
    Cells cells = {tree, primitives, own};
    cells.mailboxes.clear();
    cells.first_node = 0;
    GridWalk<Cells, OnNode> walk(from, own_rays, cells, on_node);
    typename GridWalk<Cells, OnNode>::Visit next = {};
    next.cell = cell;
    do {
        cells.visit_sharing(lanes, goes_on, next.cell, walk.now, walk.exit, own_rays, on_node);
        walk.going = walk.going & own_rays.active;
    } while (warp_ballot_among(lanes, goes_on = walk.walk_to_shared(goes_on, full, empty, next)) != 0u);
    rays = own_rays;
    on_primitive = own;
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_dda(const GridArrays& tree, int signs, const Primitives& primitives,
                                             Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    using Cells = ListedCells<Primitives, OnPrimitive>;
    Crossings crossings;
    crossings.signs = signs;
    Real entry, exit;
    const Mask lanes = enter_root(tree.box, rays, crossings, entry, exit);
    if (!any(lanes)) return;
    const Real slack = crossings.slack * (GRID_SLACK / CROSSING_SLACK);
    const GridSpace grid = load_grid(tree.box);
    const bool is_divided = grid.cells() > 1;
    Cells cells = {tree, primitives, on_primitive};
    cells.mailboxes.clear();
    cells.first_node = 0;
    cells.first_id = cells.depth = is_divided ? 1 : 0;
    cells.is_told = true;
    if (is_divided) tell_node(on_node, 0, 0, lanes, entry);
    if constexpr (SHARES_LISTS<OnPrimitive, OnNode>) {
        const unsigned together = warp_here();
        GridWalk<Cells, OnNode> walk(slack, signs_of(crossings), exit, rays, cells, on_node);
        walk.start(grid, lanes, entry);
        Mask full = walk.filled(walk.going), empty = walk.going & !full;
        typename GridWalk<Cells, OnNode>::Visit next = {};
        const bool goes_on = walk.walk_to_shared(true, full, empty, next);
        if (warp_ballot_among(together, goes_on) == 0u) return;
        const GridPlace from = walk;
        Rays behind = rays;
        OnPrimitive own = on_primitive;
        go_on_sharing(together, goes_on, tree, primitives, from, full, empty, next.cell, behind, own, on_node);
        rays = behind;
        on_primitive = own;
    } else {
        walk_grid(grid, slack, signs_of(crossings), lanes, entry, exit, rays, cells, on_node);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Dda& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays, [&](int signs) { traverse_dda(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
