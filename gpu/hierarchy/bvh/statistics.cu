// Counts and quality of a canonical tree, and its boxes for the node table. Outside the frame's critical path: at most
// a few times a second.
//
// SAH cost = (inner areas x traversal_cost + leaf areas x count x intersection_cost) / root area, root included.
// from gpu.hierarchy.bvh.bvh import SUMS
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/remembered.cuh"

__device__ __forceinline__ int depth_of(const int* parent, int node_id, Remembered<int>& above) {
    int depth = 0, known = 0;
    for (int id = node_id; id != 0 && !above.find(id, known); id = parent[id]) ++depth;
    depth += known;
    above.keep(node_id, depth);
    return depth;
}

// `sums`: SUMS doubles per block.
extern "C" __global__ void measure_blocks(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                          const float4* nodes, const int* parent, const uint8* flags, int capacity,
                                          const int* reference_count_now, float traversal_cost, float intersection_cost,
                                          double* sums) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    double cost = 0.0, inner_count = 0.0, leaf_count = 0.0, inactive_count = 0.0;
    int depth = 0;
    Remembered<int> above;
    above.clear();
    for (int node_id : grid_stride(capacity - 1)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        cost += wide_half_area(node.aabb()) * traversal_cost;
        inner_count += 1.0;
        const int children[2] = {node.left, node.right};
        for (int child : children) {
            if (!is_leaf(child)) continue;
            cost += wide_half_area(leaf_aabb(references, child)) * references.count(child) * intersection_cost;
            leaf_count += 1.0;
        }
        if (is_leaf(node.left) || is_leaf(node.right)) depth = max(depth, depth_of(parent, node_id, above) + 1);
    }
    for (int reference : grid_stride(*reference_count_now))
        inactive_count += references.records.is_active(reference) ? 0.0 : 1.0;
    cost = block_sum(cost);
    inner_count = block_sum(inner_count);
    leaf_count = block_sum(leaf_count);
    inactive_count = block_sum(inactive_count);
    depth = block_max(depth);
    if (thread_index() != 0) return;
    double* at = sums + SUMS * block_index();
    at[0] = cost;
    at[1] = inner_count;
    at[2] = leaf_count;
    at[3] = inactive_count;
    at[4] = depth;
}

// One thread adds the blocks in their order, and divides by the root's area.
extern "C" __global__ void measure_tree(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                        const float4* nodes, const int* root, const double* sums, int sum_count,
                                        const int* reference_count_now, float intersection_cost, double* result) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int item : grid_stride(1)) {
        double total[SUMS] = {};
        for (int block = 0; block < sum_count; ++block) {
            for (int i = 0; i < SUMS - 1; ++i) total[i] += sums[SUMS * block + i];
            total[4] = sums[SUMS * block + 4] > total[4] ? sums[SUMS * block + 4] : total[4];
        }
        const double area = wide_half_area(child_aabb(nodes, references, root[0]));
        if (is_leaf(root[0])) {
            total[0] = area * references.count(root[0]) * intersection_cost;
            total[2] = 1.0;
        }
        result[item] = area > 0.0 ? total[0] / area : 0.0;
        for (int i = 1; i < SUMS; ++i) result[i] = total[i];
        result[SUMS] = *reference_count_now;
    }
}

// `boxes`: 12 floats per node id, the left child's lower and upper, then the right child's; `root_box`: 6 floats.
extern "C" __global__ void write_boxes(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                       const float4* nodes, const uint8* flags, const int* root, int n, float* boxes,
                                       float* root_box) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int node_id : grid_stride(n)) {
        if (node_id == 0) {
            const Aabb box = child_aabb(nodes, references, root[0]);
            store3(root_box, 0, box.lower);
            store3(root_box, 1, box.upper);
        }
        if (node_id >= n - 1 || !(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        const int children[2] = {node.left, node.right};
        for (int side = 0; side < 2; ++side) {
            const Aabb box = child_aabb(nodes, references, children[side]);
            store3(boxes, 4 * (int64)node_id + 2 * side, box.lower);
            store3(boxes, 4 * (int64)node_id + 2 * side + 1, box.upper);
        }
    }
}
