// Which cells a primitive reaches into. Few cells are tested one by one, all of one size, so that most of the test is
// made once. Where they are many, slices and rows of them are asked first: what spans the whole grid asks for rows and
// not for every cell.
//
// Unit constants: CELL_TEST, one of those of options.py; the unit includes the header of the kind that has the test.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"

constexpr int BOX_TEST = 0, SEPARATING_AXES = 1, CLIPPING = 2;
// Cells that are tested without asking for their slices and rows.
constexpr int64 FEW_CELLS = 64;

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

// Whether a primitive reaches into single cells. Cells are of one size but for rounding, of their planes and of their
// middles, for which the slack is taken twice.
template <class Shape>
struct CellTest {
    const GridSpace& grid;
    const Shape& shape;
    float slack;

    __device__ __forceinline__ float3 half() const {
        const float spare = 2.0f * slack;
        return make_float3(0.5f * grid.x.width + spare, 0.5f * grid.y.width + spare, 0.5f * grid.z.width + spare);
    }
    // Hands the index of each cell of a range that is met to `visit`. Cells of a row that is known to be met need no
    // test where the row is a single one.
    template <class Asks, class Visit>
    __device__ __forceinline__ void each(int3 first, int3 last, bool is_tested, bool asks_first, const Asks& meets,
                                         const Visit& visit) const {
        int3 low = first, high = last;
#pragma unroll 1
        for (int z = first.z; z <= last.z; ++z) {
            low = first, high = last;
            low.z = high.z = z;
            if (asks_first && first.z < last.z && !meets_cells(shape, grid.box_of(low, high), slack)) continue;
#pragma unroll 1
            for (int y = first.y; y <= last.y; ++y) {
                low.y = high.y = y;
                low.x = first.x;
                high.x = last.x;
                if (asks_first && first.y < last.y && !meets_cells(shape, grid.box_of(low, high), slack)) continue;
#pragma unroll 1
                for (low.x = first.x; low.x <= last.x; ++low.x) {
                    if (!is_tested || meets(low)) visit(grid.index(low));
                }
            }
        }
    }
};

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
    const int64 cells = (int64)(last.x - first.x + 1) * (last.y - first.y + 1) * (last.z - first.z + 1);
    const CellTest<Shape> test = {grid, shape, slack};
    if constexpr (CELL_TEST == SEPARATING_AXES) {
        const auto boxes = among_boxes(shape, test.half());
        const auto meets = [&](int3 cell) { return boxes.meet(grid.middle(cell)); };
        test.each(first, last, is_tested, is_tested && cells > FEW_CELLS, meets, visit);
    } else {
        const auto meets = [&](int3 cell) {
            return first.x == last.x || meets_cells(shape, grid.box_of(cell, cell), slack);
        };
        test.each(first, last, is_tested, is_tested, meets, visit);
    }
}
