// Every leaf's triangles in rows (leaf_rows.cuh), from the canonical tree and its records, after every build and refit.
#include "gpu/device/leaf_rows.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

// A tree of one leaf has no node: its root is what the first item writes.
extern "C" __global__ void write_leaf_rows(const float4* nodes, const uint8* flags, const int* root, int node_capacity,
                                           const float4* records, const int* long_leaves, float* rows) {
    for (int item : grid_stride(node_capacity + 1)) {
        const int node_id = item - 1;
        if (node_id >= 0 && !(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = node_id < 0 ? CanonicalNode{{}, EMPTY_CHILD, {}, root[0]}
                                               : load_node(nodes, node_id);
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            const int child = side == 0 ? node.left : node.right;
            if (is_leaf(child) && child != EMPTY_CHILD)
                TrianglesInRows::write(records, first_reference(child), reference_count(child, long_leaves), rows);
        }
    }
}
