// Regions of a uniform grid, and the cell of a place (visited_cells.cuh).
// from gpu.hierarchy.grid.grid import GridArrays
#pragma once
#include "gpu/hierarchy/grid/queries/visited_cells.cuh"

struct VisitedCells8 : GridArrays {};

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedCells8& tree, Region& region, OnReference& on_reference) {
    if (is_empty(load_root_box(tree.box))) return;
    visit_cells(load_grid(tree.box), region,
                [&](int index) { return visit_listed(tree.references, tree.nodes[index], region, on_reference); });
}

__device__ __forceinline__ FoundLeaf leaf_at(const VisitedCells8& tree, float3 place) {
    if (!overlap(load_root_box(tree.box), {place, place})) return {-1, 0, empty_aabb()};
    const GridSpace grid = load_grid(tree.box);
    const int index = cell_of(grid, place);
    const int2 cell = tree.nodes[index];
    return {index, cell.y - cell.x, box_of_cell(grid, index)};
}
