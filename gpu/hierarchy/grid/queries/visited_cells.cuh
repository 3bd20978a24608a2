// Visits the cells of a grid that a region meets: the box is halved across its most cells, again and again, as if there
// were a tree above them. Where regions shrink the nearer half comes first, and one that waited is left out where the
// region reaches it no more. A primitive is handed over by each of its cells that the region meets.
#pragma once
#include "gpu/device/checks.cuh"
#include "gpu/hierarchy/found_leaf.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"

constexpr int WAITING_HALVES = 40;  // of 12 bits along each of three axes, one a halving

// The cells from `first` to `last`.
struct CellRange {
    int3 first, last;

    __device__ __forceinline__ bool is_cell() const {
        return first.x == last.x && first.y == last.y && first.z == last.z;
    }
    // Leaves the lower half; the upper one is returned.
    __device__ __forceinline__ CellRange halve() {
        const int x = last.x - first.x, y = last.y - first.y, z = last.z - first.z;
        CellRange upper = *this;
        if (x >= y && x >= z) {
            last.x = first.x + x / 2;
            upper.first.x = last.x + 1;
        } else if (y >= z) {
            last.y = first.y + y / 2;
            upper.first.y = last.y + 1;
        } else {
            last.z = first.z + z / 2;
            upper.first.z = last.z + 1;
        }
        return upper;
    }
};

// `visit_cell(index)` says whether to go on, and so does this.
template <class Region, class VisitCell>
__device__ __forceinline__ bool visit_cells(const GridSpace& grid, Region& region, const VisitCell& visit_cell) {
    CellRange waiting[WAITING_HALVES];
    int waiting_count = 0;
    CellRange here;
    here.first.x = here.first.y = here.first.z = 0;
    here.last.x = grid.count.x - 1;
    here.last.y = grid.count.y - 1;
    here.last.z = grid.count.z - 1;
    bool is_met = region.meets(grid.box);
    while (is_met) {
        if (here.is_cell()) {
            if (!visit_cell(grid.index(here.first))) return false;
        } else {
            CellRange lower = here;
            const CellRange upper = lower.halve();
            const Aabb lower_box = grid.box_of(lower.first, lower.last),
                       upper_box = grid.box_of(upper.first, upper.last);
            const bool meets_lower = region.meets(lower_box), meets_upper = region.meets(upper_box);
            if (meets_lower && meets_upper) {
                const bool is_upper_first = region.distance2(upper_box) < region.distance2(lower_box);
                check_stack(waiting_count, WAITING_HALVES);
                waiting[waiting_count++] = is_upper_first ? lower : upper;
                here = is_upper_first ? upper : lower;
                continue;
            }
            if (meets_lower || meets_upper) {
                here = meets_lower ? lower : upper;
                continue;
            }
        }
        is_met = false;
        while (waiting_count > 0 && !is_met) {
            here = waiting[--waiting_count];
            is_met = !Region::SHRINKS || region.meets(grid.box_of(here.first, here.last));
        }
    }
    return true;
}

// False where on_reference has seen enough.
template <class Region, class OnReference>
__device__ __forceinline__ bool visit_listed(Pointer<const int> references, int2 cell, Region& region,
                                             OnReference& on_reference) {
    for (int i = cell.x; i < cell.y; ++i) {
        if (!on_reference(references[i], region)) return false;
    }
    return true;
}

// The cell that holds a place of the grid's box; one in a plane is the upper side's.
__device__ __forceinline__ int cell_of(const GridSpace& grid, float3 place) {
    int3 cell;
    cell.x = grid.x.last_cell(place.x);
    cell.y = grid.y.last_cell(place.y);
    cell.z = grid.z.last_cell(place.z);
    return grid.index(cell);
}
__device__ __forceinline__ Aabb box_of_cell(const GridSpace& grid, int index) {
    const int3 cell = grid.cell(index);
    return grid.box_of(cell, cell);
}
