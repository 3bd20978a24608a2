// Writes the bvh8 nodes of any canonical tree, after collapse.cu has chosen them; a node's index is the number of wide nodes before it in canonical
// order (a scan).
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh8.cuh"
#include "gpu/hierarchy/bvh/layouts/octant_slots.cuh"

extern "C" __global__ void write_bvh8_nodes(float4* record_data, const float4* reference_boxes, const float4* nodes, const uint8* is_wide, const int* wide_ids,
                                            int node_capacity, Bvh8Node* bvh8) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes};
    for (int node_id : grid_stride(node_capacity)) {
        if (!is_wide[node_id]) continue;
        const WideChildren<SLOTS> kids = children_of_wide<SLOTS>(nodes, is_wide, node_id);
        Aabb boxes[SLOTS];
        for (int i = 0; i < kids.count; ++i) boxes[i] = child_aabb(nodes, references, kids.child[i]);
        const OctantSlots slots = assign_slots(boxes, kids.count, centre(load_node(nodes, node_id).aabb()));
        Bvh8Node& node = bvh8[wide_ids[node_id]];
#pragma unroll 1
        for (int s = 0; s < SLOTS; ++s) {
            const int i = slots.place[s];
            const Aabb box = i == NO_CHILD ? empty_aabb() : boxes[i];
            const int child = i == NO_CHILD ? EMPTY_CHILD : kids.child[i];
            node.planes[0][s] = box.lower.x;
            node.planes[1][s] = box.upper.x;
            node.planes[2][s] = box.lower.y;
            node.planes[3][s] = box.upper.y;
            node.planes[4][s] = box.lower.z;
            node.planes[5][s] = box.upper.z;
            node.children[s] = is_leaf(child) ? child : wide_ids[child];
            node.unused[s] = 0;
        }
    }
}
