// Writes the cwbvh nodes of any canonical tree, after greedy_collapse.cu has chosen them. The wide children of a node are neighbours: its child_base is
// 1 and the number of wide children of the wide nodes before it in canonical order (a scan). One block a CHUNK of ids.
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/bvh/layouts/cwbvh.cuh"
#include "gpu/hierarchy/bvh/layouts/wide_tiles.cuh"

// The exponent of the smallest power of two with which 255 cells reach from `lower` to `upper`. Halves first: the difference may pass FLOAT_MAX.
__device__ __forceinline__ int exponent_of(float lower, float upper) {
    const float share = upper * (1.0f / 256.0f) - lower * (1.0f / 256.0f);
    int exponent = max(1, (__float_as_int(share) >> 23) & 255);
    while (exponent < 254 && plane_of(255, cell_size(exponent), lower) < upper) ++exponent;
    return exponent;
}
// The last cell plane at or before `value`, and the first at or after it.
__device__ __forceinline__ int cell_before(float value, float size, float origin) {
    int cells = (int)min(max((value - origin) / size, 0.0f), 255.0f);
    while (cells > 0 && plane_of(cells, size, origin) > value) --cells;
    return cells;
}
__device__ __forceinline__ int cell_after(float value, float size, float origin) {
    int cells = (int)min(max((value - origin) / size, 0.0f), 255.0f);
    while (cells < 255 && plane_of(cells, size, origin) < value) ++cells;
    return cells;
}

struct WriteCwbvh {
    const float4* nodes;
    const int *child_bases, *places;
    CwbvhNode* cwbvh;
    int* leaf_words;

    __device__ void operator()(const WideSlot& slot) const {
        const int node_id = slot.node_id, s = slot.slot;
        const int index = node_id == 0 ? 0 : 1 + child_bases[places[node_id] >> 3] + (places[node_id] & 7);
        Aabb box = load_node(nodes, node_id).aabb();
        if (is_empty(box)) box.lower = box.upper = make_float3(0.0f, 0.0f, 0.0f);
        const int x = exponent_of(box.lower.x, box.upper.x), y = exponent_of(box.lower.y, box.upper.y), z = exponent_of(box.lower.z, box.upper.z);
        const float3 size = make_float3(cell_size(x), cell_size(y), cell_size(z));
        const bool is_used = slot.used >> s & 1, is_inner = is_used && !is_leaf(slot.child);
        CwbvhNode& node = cwbvh[index];
        node.meta[s] = (uint8)(is_inner ? META_INNER | slot.rank : is_used ? META_LEAF : 0);
        node.planes[0][s] = (uint8)(is_used ? cell_before(slot.box.lower.x, size.x, box.lower.x) : 255);
        node.planes[1][s] = (uint8)(is_used ? cell_after(slot.box.upper.x, size.x, box.lower.x) : 0);
        node.planes[2][s] = (uint8)(is_used ? cell_before(slot.box.lower.y, size.y, box.lower.y) : 255);
        node.planes[3][s] = (uint8)(is_used ? cell_after(slot.box.upper.y, size.y, box.lower.y) : 0);
        node.planes[4][s] = (uint8)(is_used ? cell_before(slot.box.lower.z, size.z, box.lower.z) : 255);
        node.planes[5][s] = (uint8)(is_used ? cell_after(slot.box.upper.z, size.z, box.lower.z) : 0);
        leaf_words[SLOTS * (int64)index + s] = is_used && !is_inner ? slot.child : EMPTY_CHILD;
        if (s != 0) return;
        node.origin[0] = box.lower.x;
        node.origin[1] = box.lower.y;
        node.origin[2] = box.lower.z;
        node.exponents[0] = (uint8)x;
        node.exponents[1] = (uint8)y;
        node.exponents[2] = (uint8)z;
        node.used = (uint8)slot.used;
        node.child_base = 1 + child_bases[node_id];
        node.unused = 0;
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
    write_cwbvh_nodes(float4* record_data, const float4* reference_boxes, const float4* nodes, const uint8* is_wide, const int* child_bases, const int* places,
                      int node_capacity, CwbvhNode* cwbvh, int* leaf_words) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes};
    write_wide_tiles(nodes, references, is_wide, node_capacity, WriteCwbvh{nodes, child_bases, places, cwbvh, leaf_words});
}
