// Primitives into the cells that they reach into: counted, written as keys where a scan says, and sorted, so that those
// of a cell stand together in the order of their numbers (Kalojanov and Slusallek, A Parallel Algorithm for
// Construction of Uniform Grids, 2009). Launch order is the file's; the caller scans and sorts.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/grid/cell_tests.cuh"
#include "gpu/hierarchy/grid/extents.cuh"
#include "gpu/hierarchy/large_primitives.cuh"

__device__ __forceinline__ float slack_of(const GridSpace& grid) {
    return is_testable(longest_half(grid.box)) ? largest_coordinate(grid.box) * POLYGON_SLACK : -1.0f;
}

// `places`: one more than there are primitives, so that the scan ends with the sum.
extern "C" __global__ void __launch_bounds__(256, 2)
    count_cells(Primitives primitives, const float4* box, int* places, int* large) {
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    for (int i : grid_stride(primitives.count + 1)) {
        int count = 0;
        const Aabb own = i < primitives.count ? primitives.aabb(i) : empty_aabb();
        if (!is_empty(own)) {
            const CellBox cells(grid, own);
            if (cells.count() > MANY_CELLS) LargePrimitives{large}.add(i);
            else each_cell(grid, primitives.shape(primitives.corners(i)), own, cells, slack, [&](int) { ++count; });
        }
        places[i] = count;
    }
}

extern "C" __global__ void __launch_bounds__(64)
    count_cells_of_large(Primitives primitives, const float4* box, int* large, int* places) {
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    LargePrimitives{large}.each([&](int prim_id) {
        int count = 0;
        const Aabb own = primitives.aabb(prim_id);
        each_cell<true>(grid, primitives.shape(primitives.corners(prim_id)), own, CellBox(grid, own), slack,
                        [&](int) { ++count; });
        const int sum = block_sum(count);
        if (thread_index() == 0) places[prim_id] = sum;
    });
}

// One key a reference, cell << 32 | prim_id, as far as there is room; the places behind them are sorted to the end.
// Cells are empty until they are filled.
extern "C" __global__ void __launch_bounds__(256, 2)
    write_keys(Primitives primitives, const float4* box, const int* places, int capacity, int* counts, uint64* keys,
               int* nodes) {
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    const int n = primitives.count, total = places[n], cells = counts[NODES_NOW];
    const bool is_full = total < 0 || total > capacity;  // a sum past all integers is below 0
    for (int i : grid_stride(max(n, max(capacity, cells)))) {
        if (i == 0) {
            counts[REFERENCES_NOW] = total;
            counts[STATUS_NOW] = is_full ? REFERENCES_FULL : 0;
        }
        if (i < cells) nodes[2 * (int64)i] = nodes[2 * (int64)i + 1] = 0;
        if (i < capacity && (is_full || i >= total)) keys[i] = ~0ull;
        const Aabb own = i < n && !is_full ? primitives.aabb(i) : empty_aabb();
        if (is_empty(own)) continue;
        const CellBox cells_met(grid, own);
        if (cells_met.count() > MANY_CELLS) continue;
        int at = places[i];
        each_cell(grid, primitives.shape(primitives.corners(i)), own, cells_met, slack,
                  [&](int cell) { keys[at++] = (uint64)cell << 32 | (unsigned)i; });
    }
}

// The keys of one primitive in any order: no two are of one cell, and they are sorted by cells.
extern "C" __global__ void __launch_bounds__(64)
    write_keys_of_large(Primitives primitives, const float4* box, const int* places, int* large, const int* counts,
                        uint64* keys) {
    if (counts[STATUS_NOW] != 0) return;
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    SHARED int next;
    LargePrimitives{large}.each([&](int prim_id) {
        if (thread_index() == 0) next = places[prim_id];
        block_sync();
        const Aabb own = primitives.aabb(prim_id);
        each_cell<true>(grid, primitives.shape(primitives.corners(prim_id)), own, CellBox(grid, own), slack,
                        [&](int cell) { keys[block_atomic_add(&next, 1)] = (uint64)cell << 32 | (unsigned)prim_id; });
        block_sync();
    });
}
