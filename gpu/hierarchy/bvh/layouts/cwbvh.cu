// Writes the cwbvh nodes of any canonical tree, after greedy_collapse.cu has chosen them. The wide children of a node
// are neighbours: its child_base is 1 and the number of wide children of the wide nodes before it in canonical order (a
// scan). One block per CHUNK of ids, the same as there. Unit constants: CHUNK, LIST_SHARE.
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/bvh/layouts/cwbvh.cuh"
#include "gpu/hierarchy/bvh/layouts/wide_tiles.cuh"

// The exponent of the smallest power of two with which 255 cells reach from `lower` to `upper`. Halves first: the
// difference may pass FLOAT_MAX.
__device__ __forceinline__ int exponent_of(float lower, float upper) {
    const float share = upper * (1.0f / 256.0f) - lower * (1.0f / 256.0f);
    int exponent = max(1, (__float_as_int(share) >> 23) & 255);
    while (exponent < 254 && plane_of(255, cell_size(exponent), lower) < upper) ++exponent;
    return exponent;
}
// Cells from the origin, for a grid of cells of 2^(exponent - 127): multiplied by the inverse, which is exact.
__device__ __forceinline__ int cells_to(float value, int exponent, float origin) {
    const float inverse = exponent < 254 ? cell_size(254 - exponent) : __int_as_float(1 << 22);
    return (int)min(max((value - origin) * inverse, 0.0f), 255.0f);
}
// The last cell plane at or before `value`, and the first at or after it.
__device__ __forceinline__ uint8 cell_before(float value, int exponent, float origin) {
    int cells = cells_to(value, exponent, origin);
    while (cells > 0 && plane_of(cells, cell_size(exponent), origin) > value) --cells;
    return (uint8)cells;
}
__device__ __forceinline__ uint8 cell_after(float value, int exponent, float origin) {
    int cells = cells_to(value, exponent, origin);
    while (cells < 255 && plane_of(cells, cell_size(exponent), origin) < value) ++cells;
    return (uint8)cells;
}

// Nodes are put together in shared memory, `tile`, and stored from there in 16 bytes per thread.
struct WriteCwbvh {
    Pointer<const int> child_bases, places;
    Pointer<CwbvhNode> cwbvh;
    Pointer<int> leaf_words;
    Pointer<CwbvhNode> tile;
    Pointer<int> indices;  // of the tile's nodes among all

    __device__ void head(int i, int node_id, const Aabb& node_box, int used) const {
        const Aabb box = is_empty(node_box) ? Aabb{make_float3(0.0f, 0.0f, 0.0f), make_float3(0.0f, 0.0f, 0.0f)}
                                            : node_box;
        indices[i] = node_id == 0 ? 0 : 1 + child_bases[places[node_id] >> 3] + (places[node_id] & 7);
        CwbvhNode& node = tile[i];
        node.origin[0] = box.lower.x;
        node.origin[1] = box.lower.y;
        node.origin[2] = box.lower.z;
        node.exponents[0] = (uint8)exponent_of(box.lower.x, box.upper.x);
        node.exponents[1] = (uint8)exponent_of(box.lower.y, box.upper.y);
        node.exponents[2] = (uint8)exponent_of(box.lower.z, box.upper.z);
        node.used = (uint8)used;
        node.child_base = 1 + child_bases[node_id];
        node.unused = 0;
    }

    __device__ void slot(int i, const WideSlot& slot) const {
        const int s = slot.slot;
        const bool is_inner = slot.is_used && !is_leaf(slot.child);
        CwbvhNode& node = tile[i];
        const float *origin = node.origin, lower[3] = {slot.box.lower.x, slot.box.lower.y, slot.box.lower.z};
        const float upper[3] = {slot.box.upper.x, slot.box.upper.y, slot.box.upper.z};
        node.meta[s] = (uint8)(is_inner ? META_INNER | slot.rank : slot.is_used ? META_LEAF : 0);
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            node.planes[2 * axis][s] = slot.is_used ? cell_before(lower[axis], node.exponents[axis], origin[axis])
                                                    : 255;
            node.planes[2 * axis + 1][s] = slot.is_used ? cell_after(upper[axis], node.exponents[axis], origin[axis])
                                                        : 0;
        }
        leaf_words[SLOTS * (int64)indices[i] + s] = slot.is_used && !is_inner ? slot.child : EMPTY_CHILD;
    }

    __device__ void store(int size) const {
        for (int i : block_stride(size * CWBVH_QUADS)) {
            const int node = i / CWBVH_QUADS, quad = i % CWBVH_QUADS;
            cwbvh[indices[node]].set_quad(quad, tile[node]);
        }
    }
};

extern "C" __global__ void __launch_bounds__(256, 4)
    write_cwbvh_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves, const float4* nodes,
                      const uint8* is_wide, const int* child_bases, const int* places, int* list_counts,
                      unsigned* list_ids, int4* list_children, int node_capacity, CwbvhNode* cwbvh, int* leaf_words) {
    SHARED CwbvhNode tile[WIDE_TILE];
    SHARED int indices[WIDE_TILE];
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    const WideLists lists = {list_counts, list_ids, list_children, CHUNK / LIST_SHARE};
    write_wide_tiles(nodes, references, is_wide, lists, node_capacity,
                     WriteCwbvh{child_bases, places, cwbvh, leaf_words, tile, indices});
}
