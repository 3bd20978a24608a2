// Writes the bvh4 nodes of any canonical tree, after a build and after a refit alike. A node keeps its canonical order: its index is the number of
// nodes before it that are not absorbed, found by a scan. Launch order is the file's, the scan between the two.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh4.cuh"

__device__ __forceinline__ bool is_wide(uint8 flags) { return (flags & (NODE_EXISTS | NODE_IS_ABSORBED)) == NODE_EXISTS; }

extern "C" __global__ void mark_wide_nodes(const uint8* flags, int node_capacity, int* is_wide_node) {
    for (int node_id : grid_stride(node_capacity)) is_wide_node[node_id] = is_wide(flags[node_id]);
}

extern "C" __global__ void write_bvh4_nodes(float4* record_data, const float4* reference_boxes, const float4* nodes, const uint8* flags, const int* wide_ids, int node_capacity, float* bvh4) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes};
    for (int node_id : grid_stride(node_capacity)) {
        if (!is_wide(flags[node_id])) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        int children[4] = {node.left, EMPTY_CHILD, node.right, EMPTY_CHILD};
        for (int place = 0; place < 4; place += 2) {
            const int child = children[place];
            if (is_leaf(child) || !(flags[child] & NODE_IS_ABSORBED)) continue;
            const CanonicalNode absorbed = load_node(nodes, child);
            children[place] = absorbed.left;
            children[place + 1] = absorbed.right;
        }
        float* at = bvh4 + 32 * (int64)wide_ids[node_id];
        for (int place = 0; place < 4; ++place) {
            const Aabb box = child_aabb(nodes, references, children[place]);
            at[place] = box.lower.x;
            at[4 + place] = box.upper.x;
            at[8 + place] = box.lower.y;
            at[12 + place] = box.upper.y;
            at[16 + place] = box.lower.z;
            at[20 + place] = box.upper.z;
            at[BVH4_CHILDREN + place] = __int_as_float(is_leaf(children[place]) ? children[place] : wide_ids[children[place]]);
            at[28 + place] = 0.0f;
        }
    }
}
