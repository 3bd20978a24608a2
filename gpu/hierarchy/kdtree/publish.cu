// A finished draft becomes the tree that is walked: nodes, references, box and the primitives' records at once, or, where the draft did not fit,
// nothing, so that the tree before stays whole.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

extern "C" __global__ void publish_tree(Primitives primitives, const int* draft_counts, const int2* draft_nodes, const int* draft_parent,
                                        const int* draft_references, const float4* draft_box, int* counts, int2* nodes, int* parent, int* references,
                                        float4* box, float4* record_data, int* order) {
    const Records records = {record_data};
    const int status = draft_counts[STATUS_NOW], n = primitives.count;
    const int node_count = draft_counts[NODES_NOW], reference_count = draft_counts[REFERENCES_NOW];
    for (int i : grid_stride(max(n, max(node_count, reference_count)))) {
        if (i == 0) {
            counts[STATUS_NOW] = status;
            counts[WORKING_NOW] = draft_counts[WORKING_NOW];
        }
        if (status != 0) continue;
        if (i == 0) {
            counts[NODES_NOW] = node_count;
            counts[REFERENCES_NOW] = reference_count;
            box[0] = draft_box[0];
            box[1] = draft_box[1];
        }
        if (i < node_count) {
            nodes[i] = draft_nodes[i];
            parent[i] = draft_parent[i];
        }
        if (i < reference_count) references[i] = draft_references[i];
        if (i < n) {
            records.write(i, primitives, i);
            order[i] = i;
        }
    }
}
