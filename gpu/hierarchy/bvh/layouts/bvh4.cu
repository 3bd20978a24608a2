// Writes the bvh4 nodes of any canonical tree, after a build and after a refit alike. A node keeps its canonical order:
// its index is the number of nodes before it that are not collapsed, found by a scan. Launch order is the file's, the
// scan after the first; then one of the two others, which write the same: a thread per node, or a block per CHUNK of
// ids (a unit constant), where threads share a node so that memory is written in rows.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh4.cuh"

__device__ __forceinline__ bool is_wide(uint8 flags) {
    return (flags & (NODE_EXISTS | NODE_IS_COLLAPSED)) == NODE_EXISTS;
}

extern "C" __global__ void mark_wide_nodes(const uint8* flags, int node_capacity, int* is_wide_node) {
    for (int node_id : grid_stride(node_capacity)) is_wide_node[node_id] = is_wide(flags[node_id]);
}

extern "C" __global__ void write_bvh4_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                            const float4* nodes, const uint8* flags, const int* wide_ids,
                                            int node_capacity, float* bvh4) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    for (int node_id : grid_stride(node_capacity)) {
        if (!is_wide(flags[node_id])) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        int children[4] = {node.left, EMPTY_CHILD, node.right, EMPTY_CHILD};
        for (int place = 0; place < 4; place += 2) {
            const int child = children[place];
            if (is_leaf(child) || !(flags[child] & NODE_IS_COLLAPSED)) continue;
            const CanonicalNode collapsed = load_node(nodes, child);
            children[place] = collapsed.left;
            children[place + 1] = collapsed.right;
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
            at[BVH4_CHILDREN + place] = __int_as_float(is_leaf(children[place]) ? children[place]
                                                                                : wide_ids[children[place]]);
            at[28 + place] = 0.0f;
        }
    }
}

// -- by tiles: wide nodes are gathered, a thread finds a child's box, and nodes are put together in shared memory ---

// nodes; their words of 16 bytes, and one more, so that neighbours' lie in other banks
constexpr int TILE = 64, PARTS = 8, PITCH = 9;

// Two of a node's four children: those of a collapsed child, or a child that stays and nothing.
__device__ __forceinline__ int2 children_at(const float4* nodes, const uint8* flags, int node_id, int side) {
    const int child = __float_as_int(nodes[2 * (int64)node_id + side].w);
    if (is_leaf(child) || !(flags[child] & NODE_IS_COLLAPSED)) return make_int2(child, EMPTY_CHILD);
    return make_int2(__float_as_int(nodes[2 * (int64)child].w), __float_as_int(nodes[2 * (int64)child + 1].w));
}

extern "C" __global__ void write_bvh4_tiles(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                            const float4* nodes, const uint8* flags, const int* wide_ids,
                                            int node_capacity, float4* bvh4) {
    SHARED float4 tile[TILE * PITCH];
    SHARED int wide[CHUNK];
    SHARED int2 kids[2 * TILE];
    SHARED int wide_count;
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    const int first_id = block_index() * CHUNK;
    if (thread_index() == 0) wide_count = 0;
    block_sync();
    for (int i : block_stride(min(node_capacity - first_id, CHUNK))) {
        // in any order: a node's place is known
        if (is_wide(flags[first_id + i])) wide[block_atomic_add(&wide_count, 1)] = first_id + i;
    }
    block_sync();
    const int all = wide_count;
    for (int first = 0; first < all; first += TILE) {
        const int size = min(all - first, TILE);
        for (int i : block_stride(2 * size)) kids[i] = children_at(nodes, flags, wide[first + i / 2], i % 2);
        block_sync();
        for (int i : block_stride(4 * size)) {
            const int place = i % 4, child = ((const int*)kids)[i];
            const Aabb box = child_aabb(nodes, references, child);
            const float rows[PARTS] = {box.lower.x,
                                       box.upper.x,
                                       box.lower.y,
                                       box.upper.y,
                                       box.lower.z,
                                       box.upper.z,
                                       __int_as_float(is_leaf(child) ? child : wide_ids[child]),
                                       0.0f};
            float* const at = (float*)(tile + PITCH * (i / 4)) + place;
#pragma unroll
            for (int row = 0; row < PARTS; ++row) at[4 * row] = rows[row];
        }
        block_sync();
        for (int i : block_stride(PARTS * size))
            bvh4[PARTS * (int64)wide_ids[wide[first + i / PARTS]] + i % PARTS] = tile[PITCH * (i / PARTS) + i % PARTS];
        block_sync();
    }
}
