// Counts and quality of a kd-tree. Outside the frame's critical path: at most a few times a second.
//
// SAH cost = (areas of inner cells x traversal_cost + areas of leaves' cells x count x intersection_cost) / the root's
// area.
// from gpu.hierarchy.cell_tree import CELL_SUMS
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"
#include "gpu/hierarchy/remembered.cuh"

// A node's cell, and how many inner nodes are above it.
struct PlacedCell {
    Aabb cell;
    int depth;
};
__device__ __forceinline__ PlacedCell placed_cell(const int2* nodes, const int* parent, const float4* box, int node_id,
                                                  const Remembered<PlacedCell>& above) {
    PlacedCell known = {load_root_box(box), 0};
    if (above.find(node_id, known)) return known;
    PlacedCell found = {{make_float3(-FLOAT_MAX, -FLOAT_MAX, -FLOAT_MAX), make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX)},
                        0};
    int child = node_id;
    while (child != 0 && found.depth < 64) {
        const int up = parent[child];
        cut_kd_cell(found.cell, nodes[up], child);
        child = up;
        ++found.depth;
        if (above.find(child, known)) break;
    }
    found.cell = {max(found.cell.lower, known.cell.lower), min(found.cell.upper, known.cell.upper)};
    found.depth += known.depth;
    return found;
}

// `sums`: CELL_SUMS doubles per block.
extern "C" __global__ void measure_blocks(float4* record_data, int primitive_count, const int* counts,
                                          const int2* nodes, const int* parent, const float4* box, float traversal_cost,
                                          float intersection_cost, double* sums) {
    const Records records = {record_data};
    double cost = 0.0, inner_count = 0.0, leaf_count = 0.0, empty_count = 0.0, inactive_count = 0.0;
    int depth = 0;
    Remembered<PlacedCell> above;
    above.clear();
    for (int node_id : grid_stride(counts[NODES_NOW])) {
        const int2 node = nodes[node_id];
        const PlacedCell place = placed_cell(nodes, parent, box, node_id, above);
        const double area = wide_half_area(place.cell);
        if (is_kd_leaf(node)) {
            cost += area * kd_count(node) * intersection_cost;
            leaf_count += 1.0;
            empty_count += kd_count(node) == 0 ? 1.0 : 0.0;
            depth = max(depth, place.depth);
        } else {
            above.keep(node_id, place);
            cost += area * traversal_cost;
            inner_count += 1.0;
        }
    }
    for (int i : grid_stride(primitive_count)) inactive_count += records.is_active(i) ? 0.0 : 1.0;
    const double totals[CELL_SUMS] = {block_sum(cost),        block_sum(inner_count),    block_sum(leaf_count),
                                      block_sum(empty_count), block_sum(inactive_count), (double)block_max(depth)};
    if (thread_index() != 0) return;
    for (int i = 0; i < CELL_SUMS; ++i) sums[CELL_SUMS * block_index() + i] = totals[i];
}

// One thread adds the blocks in their order, and divides by the root's area.
extern "C" __global__ void measure_tree(const int* counts, const float4* box, const double* sums, int sum_count,
                                        double* result) {
    for (int item : grid_stride(1)) {
        double total[CELL_SUMS] = {};
        for (int block = 0; block < sum_count; ++block) {
            for (int i = 0; i < CELL_SUMS - 1; ++i) total[i] += sums[CELL_SUMS * block + i];
            total[CELL_SUMS - 1] = sums[CELL_SUMS * block + CELL_SUMS - 1] > total[CELL_SUMS - 1]
                                       ? sums[CELL_SUMS * block + CELL_SUMS - 1]
                                       : total[CELL_SUMS - 1];
        }
        const double area = wide_half_area(load_root_box(box));
        result[item] = area > 0.0 ? total[0] / area : 0.0;
        for (int i = 1; i < CELL_SUMS; ++i) result[i] = total[i];
        result[CELL_SUMS] = counts[REFERENCES_NOW];
        result[CELL_SUMS + 1] = counts[STATUS_NOW];
    }
}
