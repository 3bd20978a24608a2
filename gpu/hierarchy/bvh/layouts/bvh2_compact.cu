// Writes the bvh2_compact nodes and lists of any canonical tree, after a build and after a refit alike.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2_compact.cuh"

__device__ __forceinline__ void write_list(int child, const int* long_leaves, int* lists) {
    if (!is_leaf(child) || child == EMPTY_CHILD) return;
    const int first = first_reference(child), last = first + reference_count(child, long_leaves) - 1;
    for (int reference = first; reference <= last; ++reference)
        lists[reference] = reference == last ? ~reference : reference;
}

extern "C" __global__ void write_bvh2_compact_nodes(float4* record_data, const float4* reference_boxes,
                                                    const int* long_leaves, const float4* nodes, const uint8* flags,
                                                    const int* root, int node_capacity, float4* compact, int* lists,
                                                    int* compact_root) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int node_id : grid_stride(max(node_capacity, 1))) {
        if (node_id == 0) {
            compact_root[0] = compact_link(root[0]);
            write_list(root[0], long_leaves, lists);
        }
        if (node_id >= node_capacity || !(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        const Aabb left = child_aabb(nodes, references, node.left), right = child_aabb(nodes, references, node.right);
        store_bvh2_node(compact, node_id, left, compact_link(node.left), right, compact_link(node.right));
        write_list(node.left, long_leaves, lists);
        write_list(node.right, long_leaves, lists);
    }
}
