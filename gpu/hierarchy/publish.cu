// A finished draft becomes the structure that is traversed: nodes, references, box and the primitives' records at once,
// or, where the draft did not fit, nothing, so that the one before stays whole.
//
// Unit constant: NODE_WORDS, the 4-byte words of a node.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/growing.cuh"

// A node is copied at once, as far as its address allows.
struct alignas(NODE_WORDS % 4 == 0 ? 16 : NODE_WORDS % 2 == 0 ? 8 : 4) Node {
    int words[NODE_WORDS];
};

// `parent`, `draft_parent`: null where the family has none.
extern "C" __global__ void publish_tree(Primitives primitives, const int* draft_counts, const int* draft_nodes,
                                        const int* draft_parent, const int* draft_references, const float4* draft_box,
                                        int* counts, int* nodes, int* parent, int* references, float4* box,
                                        float4* record_data, int* order) {
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
            as<Node>(nodes)[i] = as<const Node>(draft_nodes)[i];
            if (parent != nullptr) parent[i] = draft_parent[i];
        }
        if (i < reference_count) references[i] = draft_references[i];
        if (i < n) {
            records.write(i, primitives, i);
            order[i] = i;
        }
    }
}
