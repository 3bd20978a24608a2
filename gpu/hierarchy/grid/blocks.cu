// Cells of a coarse grid become blocks of cells: each gets as many as its own references ask for (Kalojanov, Billeter
// and Slusallek, Two-Level Grids for Ray Tracing on GPUs, 2011). Launch order is the file's; the caller scans and
// sorts.
//
// A pair is a primitive in a block, as the coarse grid lists it; `pair_counts` are the coarse grid's counts.
// Unit constant: IS_SOLID, as in shape.cu.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/grid/cell_tests.cuh"
#include "gpu/hierarchy/grid/extents.cuh"

__device__ __forceinline__ float slack_of(const GridSpace& grid) {
    return is_testable(longest_half(grid.box)) ? largest_coordinate(grid.box) * POLYGON_SLACK : -1.0f;
}
__device__ __forceinline__ int pairs_of(const int* pair_counts) {
    return pair_counts[STATUS_NOW] != 0 ? 0 : pair_counts[REFERENCES_NOW];
}
__device__ __forceinline__ int first_half(uint64 key) { return (int)(key >> 32); }
__device__ __forceinline__ int second_half(uint64 key) { return (int)(unsigned)key; }

extern "C" __global__ void clear_sums(const int* pair_counts, uint64* sums) {
    for (int i : grid_stride(EXTENT_SUMS * pair_counts[NODES_NOW])) sums[i] = 0;
}

// `keys`: block << 32 | prim_id, sorted.
extern "C" __global__ void sum_blocks(Primitives primitives, const float4* box, const int* pair_counts,
                                      const uint64* keys, uint64* sums) {
    const GridSpace grid = load_grid(box);
    for (int i : grid_stride(pairs_of(pair_counts))) {
        const int block = first_half(keys[i]);
        const int3 cell = grid.cell(block);
        const Aabb inside = grid.box_of(cell, cell);
        ExtentSums found = {};
        found.add(primitives.aabb(second_half(keys[i])), inside, longest_half(inside));
        for (int k = 0; k < EXTENT_SUMS; ++k) {
            if (found.sums[k] != 0) atomic_add(sums + EXTENT_SUMS * (int64)block + k, found.sums[k]);
        }
    }
}

// `first_cells`: one more than there may be blocks. `density`: cells per reference.
extern "C" __global__ void choose_blocks(const float4* box, const int* pair_counts, const uint64* sums, float density,
                                         float most_references, int most_blocks, int* nodes, int* first_cells) {
    const GridSpace grid = load_grid(box);
    const int blocks = pair_counts[STATUS_NOW] != 0 ? 0 : pair_counts[NODES_NOW];
    for (int i : grid_stride(most_blocks + 1)) {
        int cells = 0;
        if (i < blocks) {
            const int3 cell = grid.cell(i);
            const Fineness fineness(grid.box_of(cell, cell), sums + EXTENT_SUMS * (int64)i, MOST_BLOCK_CELLS_ALONG);
            int packed = 0;
            if (fineness.members > 0.0) {
                const double most = fineness.members * density;
                const int3 count = fineness.counts(fineness.finest(most, fineness.members * most_references));
                packed = packed_block(count);
                cells = count.x * count.y * count.z;
            }
            nodes[2 * (int64)i + 1] = packed;
        }
        first_cells[i] = cells;
    }
}

// Where the cells of each block are; they are empty until they are filled.
extern "C" __global__ void place_blocks(const int* pair_counts, const int* first_cells, int most_blocks, int capacity,
                                        int* counts, int* nodes) {
    const int blocks = pair_counts[NODES_NOW], cells = first_cells[most_blocks];
    const bool has_pairs = pair_counts[STATUS_NOW] == 0, has_room = cells >= 0 && cells <= capacity - blocks;
    for (int i : grid_stride(max(capacity, 1))) {
        if (i == 0) {
            counts[NODES_NOW] = blocks + max(cells, 0);
            counts[REFERENCES_NOW] = 0;
            counts[STATUS_NOW] = !has_pairs ? WORKING_FULL : !has_room ? NODES_FULL : 0;
            counts[WORKING_NOW] = pair_counts[REFERENCES_NOW];
        }
        if (!has_pairs || !has_room) continue;
        if (i < blocks) nodes[2 * (int64)i] = blocks + first_cells[i];
        else if (i < blocks + cells) nodes[2 * (int64)i] = nodes[2 * (int64)i + 1] = 0;
    }
}

// `places`: one more than there may be pairs, so that the scan ends with the sum.
extern "C" __global__ void __launch_bounds__(256, 2)
    count_block_cells(Primitives primitives, const float4* box, const int* pair_counts, const uint64* keys,
                      const int* counts, const int2* nodes, int most_pairs, int* places) {
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    const int pairs = counts[STATUS_NOW] != 0 ? 0 : pairs_of(pair_counts);
    for (int i : grid_stride(most_pairs + 1)) {
        int count = 0;
        if (i < pairs) {
            const int block = first_half(keys[i]), prim_id = second_half(keys[i]);
            const GridSpace cells = grid.block(block, nodes[block].y);
            const Aabb own = primitives.aabb(prim_id);
            each_cell(cells, primitives.shape(primitives.corners(prim_id)), own, CellBox(cells, own), slack,
                      [&](int) { ++count; });
        }
        places[i] = count;
    }
}

// One key a reference, node << 32 | prim_id, as far as there is room; the places behind them are sorted to the end.
extern "C" __global__ void __launch_bounds__(256, 2)
    write_block_keys(Primitives primitives, const float4* box, const int* pair_counts, const uint64* keys,
                     const int2* nodes, const int* places, int most_pairs, int capacity, int* counts,
                     uint64* cell_keys) {
    const GridSpace grid = load_grid(box);
    const float slack = slack_of(grid);
    const int total = places[most_pairs];
    const bool is_full = total < 0 || total > capacity;
    const int pairs = is_full || total == 0 ? 0 : pairs_of(pair_counts);
    for (int i : grid_stride(max(most_pairs, capacity))) {
        if (i == 0) {
            counts[REFERENCES_NOW] = total;
            if (is_full) counts[STATUS_NOW] |= REFERENCES_FULL;
        }
        if (i < capacity && (is_full || i >= total)) cell_keys[i] = ~0ull;
        if (i >= pairs) continue;
        const int block = first_half(keys[i]), prim_id = second_half(keys[i]);
        const int2 node = nodes[block];
        int at = places[i];
        const GridSpace cells = grid.block(block, node.y);
        const Aabb own = primitives.aabb(prim_id);
        each_cell(cells, primitives.shape(primitives.corners(prim_id)), own, CellBox(cells, own), slack,
                  [&](int cell) { cell_keys[at++] = (uint64)(node.x + cell) << 32 | (unsigned)prim_id; });
    }
}
