// Counts of a grid, and its cells as boxes on request. A grid has no SAH cost: its cells follow from how many they are,
// not from where surfaces lie, and a step costs the same whatever the cell's size.
// from gpu.hierarchy.grid.grid import SUMS
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"

// `sums`: SUMS doubles per block. `has_blocks`: whether there are two levels, the upper one in front.
extern "C" __global__ void measure_blocks(float4* record_data, int primitive_count, const int* counts,
                                          const int2* nodes, const float4* box, int has_blocks, double* sums) {
    const Records records = {record_data};
    const int upper = has_blocks ? load_grid(box).cells() : 0;
    double divided = 0.0, cells = 0.0, empty = 0.0, inactive = 0.0;
    for (int i : grid_stride(counts[NODES_NOW])) {
        const int2 node = nodes[i];
        if (i >= upper) {
            cells += 1.0;
            empty += node.x == node.y ? 1.0 : 0.0;
        } else if (node.y == 0) {  // an empty block is a cell
            cells += 1.0;
            empty += 1.0;
        } else {
            const int3 count = unpacked_block(node.y);
            divided += count.x * count.y * count.z > 1 ? 1.0 : 0.0;
        }
    }
    for (int i : grid_stride(primitive_count)) inactive += records.is_active(i) ? 0.0 : 1.0;
    const double totals[SUMS] = {block_sum(divided), block_sum(cells), block_sum(empty), block_sum(inactive)};
    if (thread_index() != 0) return;
    for (int i = 0; i < SUMS; ++i) sums[SUMS * block_index() + i] = totals[i];
}

// One thread adds the blocks in their order. `row`: the figures that grid.py names.
extern "C" __global__ void measure_grid(const int* counts, const float4* box, const double* sums, int sum_count,
                                        double* row) {
    for (int item : grid_stride(1)) {
        double total[SUMS] = {};
        for (int block = 0; block < sum_count; ++block) {
            for (int i = 0; i < SUMS; ++i) total[i] += sums[SUMS * block + i];
        }
        const double root = load_grid(box).cells() > 1 ? 1.0 : 0.0;
        row[item] = root + total[0];
        row[1] = total[1];
        row[2] = total[2];
        row[3] = total[3];
        row[4] = root + (total[0] > 0.0 ? 1.0 : 0.0);  // depth
        row[5] = counts[REFERENCES_NOW];
        row[6] = counts[STATUS_NOW];
    }
}

// `boxes`: six floats a node, lower and upper. `owner`: of a cell of a block the block, of others -1.
extern "C" __global__ void write_boxes(const int* counts, const int2* nodes, const float4* box, int has_blocks,
                                       float* boxes, int* owner) {
    const GridSpace grid = load_grid(box);
    const int upper = has_blocks ? grid.cells() : counts[NODES_NOW];
    for (int i : grid_stride(upper)) {
        const int3 cell = grid.cell(i);
        const Aabb own = grid.box_of(cell, cell);
        store3(boxes, 2 * (int64)i, own.lower);
        store3(boxes, 2 * (int64)i + 1, own.upper);
        owner[i] = -1;
        if (!has_blocks) continue;
        const int2 node = nodes[i];
        if (node.y == 0) continue;
        const GridSpace block = grid.block(i, node.y);
        for (int k = 0; k < block.cells(); ++k) {
            const Aabb inside = block.box_of(block.cell(k), block.cell(k));
            store3(boxes, 2 * (int64)(node.x + k), inside.lower);
            store3(boxes, 2 * (int64)(node.x + k) + 1, inside.upper);
            owner[node.x + k] = i;
        }
    }
}
