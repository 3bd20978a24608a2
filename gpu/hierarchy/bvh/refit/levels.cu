// Boxes from below, one kernel a level (Meister 2014, 6.1.1): of nodes that lie level by level in a list, or whose
// levels are told beside them. Records come first, then the deepest level, then all above it.
//
// Unit constants: WRITES_BVH2, and MARKS, KEEPS_BOXES and SLOTS of node_writer.cuh: 1, 1 and 0.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/median_splits.cuh"
#include "gpu/hierarchy/bvh/refit/node_writer.cuh"

extern "C" __global__ void gather_records(Primitives primitives, const int* order, float4* record_data) {
    const Records records = {record_data};
    for (int i : grid_stride(primitives.count)) records.write(i, primitives, order[i]);
}

// All nodes below are finished.
__device__ __forceinline__ void refit_node(int node_id, float4* record_data, float4* nodes, uint8* flags,
                                           float4* bvh2) {
    const CanonicalNode node = load_node(nodes, node_id);
    const ReferencesOf<Records> references = {{record_data}, nullptr, nullptr};
    const Aabb left = child_aabb(nodes, references, node.left), right = child_aabb(nodes, references, node.right);
    bool is_collapsed = node_id != 0;
    if (!is_leaf(node.left)) is_collapsed = is_collapsed && !(flags[node.left] & NODE_IS_COLLAPSED);
    if (!is_leaf(node.right)) is_collapsed = is_collapsed && !(flags[node.right] & NODE_IS_COLLAPSED);
    const NodeWriter writer = {nodes, flags, bvh2};
    writer.write(node_id, left, node.left, right, node.right, is_collapsed);
}

// The tasks of a level of median_levels.cu.
extern "C" __global__ void refit_level(int level, const int2* tasks, const int* firsts, const int* counts,
                                       float4* record_data, float4* nodes, uint8* flags, float4* bvh2) {
    const int first = firsts[level];
    for (int i : grid_stride(counts[level]))
        refit_node(unpack_task(tasks[first + i]).node_id(), record_data, nodes, flags, bvh2);
}

// Nodes in any order, of which those of one level are meant.
extern "C" __global__ void refit_listed(int level, const int* listed_count, const int* node_ids, const int* levels,
                                        float4* record_data, float4* nodes, uint8* flags, float4* bvh2) {
    for (int i : grid_stride(*listed_count))
        if (levels[i] == level) refit_node(node_ids[i], record_data, nodes, flags, bvh2);
}
