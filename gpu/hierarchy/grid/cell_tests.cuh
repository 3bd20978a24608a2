// Which cells a primitive reaches into. Few cells are tested one by one, all of one size, so that most of the test is
// made once. Where they are many, slices and rows of them are asked first: what spans the whole grid asks for rows and
// not for every cell.
//
// Unit constants: CELL_TEST, one of those of options.py; the unit includes the header of the kind that has the test.
#pragma once
#include "gpu/device/block.cuh"
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
                row(low, first.x, last.x, is_tested, asks_first && first.y < last.y, meets, visit);
            }
        }
    }
    // The same, by the threads of a block, a row each.
    template <class Asks, class Visit>
    __device__ __forceinline__ void each_by_block(int3 first, int3 last, bool is_tested, const Asks& meets,
                                                  const Visit& visit) const {
        const int along_y = last.y - first.y + 1;
#pragma unroll 1
        for (int i : block_stride(along_y * (last.z - first.z + 1))) {
            const int3 at = make_int3(first.x, first.y + i % along_y, first.z + i / along_y);
            row(at, first.x, last.x, is_tested, is_tested, meets, visit);
        }
    }

private:
    template <class Asks, class Visit>
    __device__ __forceinline__ void row(int3 cell, int first, int last, bool is_tested, bool asks_first,
                                        const Asks& meets, const Visit& visit) const {
        int3 end = cell;
        cell.x = first;
        end.x = last;
        if (asks_first && !meets_cells(shape, grid.box_of(cell, end), slack)) return;
#pragma unroll 1
        for (; cell.x <= last; ++cell.x) {
            if (!is_tested || meets(cell)) visit(grid.index(cell));
        }
    }
};

// The cells that a primitive's box reaches into.
struct CellBox {
    int3 first, last;

    __device__ __forceinline__ CellBox(const GridSpace& grid, const Aabb& own)
        : first(grid.first_of(own)), last(grid.last_of(own)) {}
    __device__ __forceinline__ int64 count() const {
        return (int64)(last.x - first.x + 1) * (last.y - first.y + 1) * (last.z - first.z + 1);
    }
};

// Hands the index of each cell that the primitive reaches into to `visit`, in ascending order, or, `BY_BLOCK`, in any
// order by the threads of a block. `slack`: what the whole grid's coordinates may be rounded by, below 0 where boxes
// alone are asked.
template <bool BY_BLOCK = false, class Shape, class Visit>
__device__ __forceinline__ void each_cell(const GridSpace& grid, const Shape& shape, const Aabb& own,
                                          const CellBox& box, float slack, const Visit& visit) {
    const int3 first = box.first, last = box.last;
    // What lies in a row of cells, all of it, reaches into each of them.
    const int spans = (first.x < last.x) + (first.y < last.y) + (first.z < last.z);
    const bool is_tested = CELL_TEST != BOX_TEST && slack >= 0.0f &&
                           (spans > 1 || (spans == 1 && !holds(grid.box, own)));
    const CellTest<Shape> test = {grid, shape, slack};
    if constexpr (CELL_TEST == SEPARATING_AXES) {
        const auto boxes = among_boxes(shape, test.half());
        const auto meets = [&](int3 cell) { return boxes.meet(grid.middle(cell)); };
        if constexpr (BY_BLOCK) test.each_by_block(first, last, is_tested, meets, visit);
        else test.each(first, last, is_tested, is_tested && box.count() > FEW_CELLS, meets, visit);
    } else {
        const auto meets = [&](int3 cell) {
            return first.x == last.x || meets_cells(shape, grid.box_of(cell, cell), slack);
        };
        if constexpr (BY_BLOCK) test.each_by_block(first, last, is_tested, meets, visit);
        else test.each(first, last, is_tested, is_tested, meets, visit);
    }
}
