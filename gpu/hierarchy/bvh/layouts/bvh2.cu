// Writes the bvh2 nodes of any canonical tree: builders that do not write them themselves, and optimised trees.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

extern "C" __global__ void write_bvh2_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                            const float4* nodes, const uint8* flags, int node_capacity, float4* bvh2) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        store_bvh2_node(bvh2, node_id, child_aabb(nodes, references, node.left), node.left,
                        child_aabb(nodes, references, node.right), node.right);
    }
}
