// Writes the bvh2_soa nodes of any canonical tree, after a build and after a refit alike.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2_soa.cuh"

extern "C" __global__ void write_bvh2_soa_nodes(float4* record_data, const float4* reference_boxes,
                                                const int* long_leaves, const float4* nodes, const uint8* flags,
                                                int node_capacity, int capacity, float4* arrays) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        float4 written[BVH2_FLOAT4S];
        store_bvh2_node(written, 0, child_aabb(nodes, references, node.left), node.left,
                        child_aabb(nodes, references, node.right), node.right);
        for (int array = 0; array < SOA_ARRAYS; ++array) arrays[array * (int64)capacity + node_id] = written[array];
    }
}
