// How a node is written whose children's boxes are known. Unit constants: WRITES_BVH2, MARKS, KEEPS_BOXES, SLOTS.
//
// A traversal of bvh2 reads the layout's nodes alone. So a refit that writes these leaves the boxes of canonical nodes
// as they were (KEEPS_BOXES is 0) but for those that other blocks ask it for; who measures the tree has them made first
// (TreeBounds.complete).
#pragma once
#include "gpu/device/pairs.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

constexpr int AT_REST = -1;  // of `waiting`, between launches
constexpr int NEVER_HERE = -9;  // of children to arrive, where one is elsewhere
constexpr int DONE = 16;  // a state in shared memory, beside the flag NODE_IS_COLLAPSED

struct NodeWriter {
    Pointer<float4> nodes;
    Pointer<uint8> flags;
    Pointer<float4> bvh2;

    // By a whole warp, of which some lanes have a node to write; of some the layout's node alone. `is_top`: other
    // blocks read its box, and have it from `publish` where groups go on.
    __device__ void write_together(int node_id, const Aabb& left_box, int left, const Aabb& right_box, int right,
                                   bool is_collapsed, bool is_asked, bool is_top) const {
        const Aabb box = merge(left_box, right_box);
        const bool keeps = is_asked && (SLOTS > 0 ? !is_top : KEEPS_BOXES || is_top);
        if (KEEPS_BOXES || SLOTS == 0) {
            const float4 node[2] = {make_float4(box.lower.x, box.lower.y, box.lower.z, __int_as_float(left)),
                                    make_float4(box.upper.x, box.upper.y, box.upper.z, __int_as_float(right))};
            store_by_pairs(nodes + 2 * (int64)node_id, node, keeps);
        }
        if (WRITES_BVH2) {
            float4 parts[BVH2_FLOAT4S];
            pack_bvh2_node(left_box, left, right_box, right, parts);
            store_by_pairs(bvh2 + BVH2_FLOAT4S * (int64)node_id, parts, is_asked);
        }
        if (keeps) mark(node_id, left, right, is_collapsed);
    }
    // What other blocks read of a finished node.
    __device__ void publish(int node_id, const Aabb& box, int left, int right, bool is_collapsed) const {
        store_node(nodes, node_id, box, left, right);
        mark(node_id, left, right, is_collapsed);
    }
    __device__ void write(int node_id, const Aabb& left_box, int left, const Aabb& right_box, int right,
                          bool is_collapsed) const {
        store_node(nodes, node_id, merge(left_box, right_box), left, right);
        if (WRITES_BVH2) store_bvh2_node(bvh2, node_id, left_box, left, right_box, right);
        mark(node_id, left, right, is_collapsed);
    }
    __device__ void mark(int node_id, int left, int right, bool is_collapsed) const {
        if (!MARKS) return;
        const bool is_bottom = is_leaf(left) && is_leaf(right);
        flags[node_id] = (uint8)(NODE_EXISTS | (is_collapsed ? NODE_IS_COLLAPSED : 0) |
                                 (is_bottom ? NODE_IS_BOTTOM : 0));
    }
    // A node that waits for inner children holds the box of its leaves, which is one leaf's or none.
    __device__ void leave_leaf_box(int node_id, const Aabb& box) const {
        store3((float*)(nodes + 2 * (int64)node_id), 0, box.lower);
        store3((float*)(nodes + 2 * (int64)node_id + 1), 0, box.upper);
    }
};

// Boxes in shared memory, by three words of eight bytes: half as many instructions as by coordinates, and neighbours
// meet no bank twice. What a thread stores before it arrives, the last to arrive loads.
struct SharedBox {
    float2 corners[3];
};
__device__ __forceinline__ void store_shared_box(SharedBox* boxes, int at, const Aabb& box) {
    float2* corners = boxes[at].corners;
    corners[0] = make_float2(box.lower.x, box.lower.y);
    corners[1] = make_float2(box.lower.z, box.upper.x);
    corners[2] = make_float2(box.upper.y, box.upper.z);
}
__device__ __forceinline__ Aabb load_shared_box(const SharedBox* boxes, int at) {
    const float2 a = boxes[at].corners[0], b = boxes[at].corners[1], c = boxes[at].corners[2];
    return {make_float3(a.x, a.y, b.x), make_float3(b.y, c.x, c.y)};
}
__device__ __forceinline__ void store_shared_state(uint8* states, int at, int state) { states[at] = (uint8)state; }
__device__ __forceinline__ int load_shared_state(const uint8* states, int at) { return states[at]; }
