// Nodes above the clusters, and on which level each is: what the refit level by level goes through. Unit constants:
// CODE_BITS, CLUSTER_BITS, REFERENCE_BITS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/clusters.cuh"

// Every number below that of the last cluster is a node's (Karras).
extern "C" __global__ void list_top_nodes(const int* cluster_count, const int2* ranges, const int* parent,
                                          int* listed_count, int* node_ids, int* levels) {
    const int count = *cluster_count - 1;
    for (int top : grid_stride(count)) {
        const int node_id = top_node_id(ranges, top);
        int level = 0;
        for (int above = parent[node_id]; above >= 0; above = parent[above]) ++level;
        node_ids[top] = node_id;
        levels[top] = level;
    }
    if (block_index() == 0 && thread_index() == 0) *listed_count = count;
}
