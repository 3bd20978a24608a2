// How a node is written whose children's boxes are known. Unit constants: WRITES_BVH2, MARKS.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

constexpr int AT_REST = -1;     // of `waiting`, between launches
constexpr int NEVER_HERE = -9;  // of children to arrive, where one is elsewhere
constexpr int DONE = 16;        // a state in shared memory, beside the flag NODE_IS_ABSORBED

struct FittedNodes {
    float4* nodes;
    uint8* flags;
    float4* bvh2;

    __device__ void write(int node_id, const Aabb& left_box, int left, const Aabb& right_box, int right, bool is_absorbed) const {
        store_node(nodes, node_id, merge(left_box, right_box), left, right);
        if (WRITES_BVH2) store_bvh2_node(bvh2, node_id, left_box, left, right_box, right);
        if (!MARKS) return;
        const bool is_lowest = is_leaf(left) && is_leaf(right);
        flags[node_id] = (uint8)(NODE_EXISTS | (is_absorbed ? NODE_IS_ABSORBED : 0) | (is_lowest ? NODE_IS_LOWEST : 0));
    }
    // A node that waits for inner children holds the box of its leaves, which is one leaf's or none.
    __device__ void leave_part(int node_id, const Aabb& part) const {
        store3((float*)(nodes + 2 * (int64)node_id), 0, part.lower);
        store3((float*)(nodes + 2 * (int64)node_id + 1), 0, part.upper);
    }
};

// Boxes in shared memory, a coordinate after the other, `Places` of them. What a thread stores before it arrives, the last to arrive loads.
template <int Places> __device__ __forceinline__ void store_shared_box(float* boxes, int at, const Aabb& box) {
    boxes[at] = box.lower.x;
    boxes[Places + at] = box.lower.y;
    boxes[2 * Places + at] = box.lower.z;
    boxes[3 * Places + at] = box.upper.x;
    boxes[4 * Places + at] = box.upper.y;
    boxes[5 * Places + at] = box.upper.z;
}
template <int Places> __device__ __forceinline__ Aabb load_shared_box(const float* boxes, int at) {
    return {make_float3(boxes[at], boxes[Places + at], boxes[2 * Places + at]),
            make_float3(boxes[3 * Places + at], boxes[4 * Places + at], boxes[5 * Places + at])};
}
__device__ __forceinline__ void store_shared_state(uint8* states, int at, int state) { states[at] = (uint8)state; }
__device__ __forceinline__ int load_shared_state(const uint8* states, int at) { return states[at]; }
