// Writes the bvh8 nodes of any canonical tree, after collapse.cu has chosen them; a node's index is the number of wide
// nodes before it in canonical order (a scan). One block per CHUNK of ids.
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh8.cuh"
#include "gpu/hierarchy/bvh/layouts/wide_tiles.cuh"

struct WriteBvh8 {
    Pointer<const int> wide_ids;
    Pointer<Bvh8Node> bvh8;

    __device__ void head(int, int, const Aabb&, int) const {}
    __device__ void store(int) const {}
    __device__ void slot(int, const WideSlot& slot) const {
        Bvh8Node& node = bvh8[wide_ids[slot.node_id]];
        const int s = slot.slot;
        node.planes[0][s] = slot.box.lower.x;
        node.planes[1][s] = slot.box.upper.x;
        node.planes[2][s] = slot.box.lower.y;
        node.planes[3][s] = slot.box.upper.y;
        node.planes[4][s] = slot.box.lower.z;
        node.planes[5][s] = slot.box.upper.z;
        node.children[s] = is_leaf(slot.child) ? slot.child : wide_ids[slot.child];
        node.unused[s] = 0;
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
    write_bvh8_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves, const float4* nodes,
                     const uint8* is_wide, const int* wide_ids, int node_capacity, Bvh8Node* bvh8) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    write_wide_tiles(nodes, references, is_wide, WideLists{}, node_capacity, WriteBvh8{wide_ids, bvh8});
}
