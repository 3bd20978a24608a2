// Which cells a primitive reaches into, slice by slice and row by row, so that one that spans the whole grid asks for
// rows and not for every cell of it.
//
// Unit constants: CELL_TEST, one of those of options.py; the unit includes the header of the kind that has the test.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"

constexpr int BOX_TEST = 0, SEPARATING_AXES = 1, CLIPPING = 2;

// What a test by shapes takes away from is larger than what it rounds by: outside of these sizes boxes alone are asked.
__device__ __forceinline__ bool is_testable(float longest) {
    return longest >= LEAST_TESTED_GRID && longest <= MOST_TESTED_GRID;
}

template <class Shape>
__device__ __forceinline__ bool meets_cells(const Shape& shape, Aabb box, float slack) {
    const float3 spare = make_float3(slack, slack, slack);
    box.lower = box.lower - spare;
    box.upper = box.upper + spare;
    if constexpr (CELL_TEST == SEPARATING_AXES) return reaches_into(shape, box);
    else if constexpr (CELL_TEST == CLIPPING) return bound_inside(shape, box);
    else return true;
}

__device__ __forceinline__ bool holds(const Aabb& box, const Aabb& own) {
    return own.lower.x >= box.lower.x && own.lower.y >= box.lower.y && own.lower.z >= box.lower.z &&
           own.upper.x <= box.upper.x && own.upper.y <= box.upper.y && own.upper.z <= box.upper.z;
}

// Hands the index of each cell that the primitive reaches into to `visit`, in ascending order. `slack`: what the whole
// grid's coordinates may be rounded by, below 0 where boxes alone are asked.
template <class Shape, class Visit>
__device__ __forceinline__ void each_cell(const GridSpace& grid, const Shape& shape, const Aabb& own, float slack,
                                          const Visit& visit) {
    const int3 first = grid.first_of(own), last = grid.last_of(own);
    // What lies in a row of cells, all of it, reaches into each of them.
    const int spans = (first.x < last.x) + (first.y < last.y) + (first.z < last.z);
    const bool is_tested = CELL_TEST != BOX_TEST && slack >= 0.0f &&
                           (spans > 1 || (spans == 1 && !holds(grid.box, own)));
    int3 low = first, high = last;
    for (int z = first.z; z <= last.z; ++z) {
        low.z = high.z = z;
        low.y = first.y;
        high.y = last.y;
        low.x = first.x;
        high.x = last.x;
        if (is_tested && first.z < last.z && !meets_cells(shape, grid.box_of(low, high), slack)) continue;
        for (int y = first.y; y <= last.y; ++y) {
            low.y = high.y = y;
            low.x = first.x;
            high.x = last.x;
            if (is_tested && first.y < last.y && !meets_cells(shape, grid.box_of(low, high), slack)) continue;
            for (int x = first.x; x <= last.x; ++x) {
                low.x = high.x = x;
                if (is_tested && first.x < last.x && !meets_cells(shape, grid.box_of(low, high), slack)) continue;
                visit(grid.index(low));
            }
        }
    }
}
