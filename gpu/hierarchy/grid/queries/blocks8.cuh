// Regions of a grid of two levels, and the cell of a place (visited_cells.cuh).
// from gpu.hierarchy.grid.grid import GridArrays
#pragma once
#include "gpu/hierarchy/grid/queries/visited_cells.cuh"

struct VisitedBlocks8 : GridArrays {};

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedBlocks8& tree, Region& region, OnReference& on_reference) {
    if (is_empty(load_root_box(tree.box))) return;
    const GridSpace grid = load_grid(tree.box);
    visit_cells(grid, region, [&](int index) {
        const int2 node = tree.nodes[index];
        if (node.y == 0) return true;
        return visit_cells(grid.block(index, node.y), region, [&](int cell) {
            return visit_listed(tree.references, tree.nodes[node.x + cell], region, on_reference);
        });
    });
}

__device__ __forceinline__ FoundLeaf leaf_at(const VisitedBlocks8& tree, float3 place) {
    if (!overlap(load_root_box(tree.box), {place, place})) return {-1, 0, empty_aabb()};
    const GridSpace grid = load_grid(tree.box);
    const int index = cell_of(grid, place);
    const int2 node = tree.nodes[index];
    if (node.y == 0) return {index, 0, box_of_cell(grid, index)};
    const GridSpace block = grid.block(index, node.y);
    const int inside = cell_of(block, place);
    const int2 cell = tree.nodes[node.x + inside];
    return {node.x + inside, cell.y - cell.x, box_of_cell(block, inside)};
}
