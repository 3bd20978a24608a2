// The nodes of kd-trees: 8 bytes each (Wald 2004), children side by side, the root in front.
#pragma once
#include "gpu/device/aabb.cuh"

//  byte  0                                      4                                       8
// inner  | split plane (float)                  | left child << 2 | axis                |
// leaf   | first of its references (unsigned)   | number of its references << 2 | 3     |
// The right child of a node lies behind its left one, and a left one has an odd number: so both lie in 16 bytes of their own in the tree that is walked,
// which starts 8 bytes behind such an address (tree.py). A leaf may be empty.
static_assert(sizeof(int2) == 8, "a node is read at once");
static_assert(sizeof(int4) == 16, "so are the children of one");

constexpr int LEAF_AXIS = 3;

// What `counts` of a tree holds; a builder's draft and the tree that is walked have the same words.
constexpr int NODES_NOW = 0, REFERENCES_NOW = 1, STATUS_NOW = 2, WORKING_NOW = 3, COUNT_WORDS = 4;
// STATUS_NOW: what was too small for the draft. Later kernels of that build do nothing, and the tree before stays.
constexpr int NODES_FULL = 1, REFERENCES_FULL = 2, WORKING_FULL = 4;

__device__ __forceinline__ bool is_kd_leaf(int2 node) { return (node.y & 3) == LEAF_AXIS; }
__device__ __forceinline__ int kd_axis(int2 node) { return node.y & 3; }
__device__ __forceinline__ float kd_plane(int2 node) { return __int_as_float(node.x); }
__device__ __forceinline__ int kd_left(int2 node) { return (int)((unsigned)node.y >> 2); }
__device__ __forceinline__ int kd_count(int2 node) { return (int)((unsigned)node.y >> 2); }

// Both children of a node of the tree that is walked, in one fetch.
struct KdChildren {
    int2 left, right;
};
__device__ __forceinline__ KdChildren load_kd_children(const int2* nodes, int left) {
    const int4 words = *reinterpret_cast<const int4*>(nodes + left);
    KdChildren children;
    children.left.x = words.x;
    children.left.y = words.y;
    children.right.x = words.z;
    children.right.y = words.w;
    return children;
}

__device__ __forceinline__ void store_kd_node(int2* nodes, int node_id, int first, unsigned second) {
    int2 node;
    node.x = first;
    node.y = (int)second;
    nodes[node_id] = node;
}
__device__ __forceinline__ void store_kd_inner(int2* nodes, int node_id, int axis, float plane, int left) {
    store_kd_node(nodes, node_id, __float_as_int(plane), (unsigned)left << 2 | (unsigned)axis);
}
__device__ __forceinline__ void store_kd_leaf(int2* nodes, int node_id, int first, int count) {
    store_kd_node(nodes, node_id, first, (unsigned)count << 2 | (unsigned)LEAF_AXIS);
}

__device__ __forceinline__ void set_along(float3& point, int axis, float value) {
    if (axis == 0) point.x = value;
    else if (axis == 1) point.y = value;
    else point.z = value;
}
__device__ __forceinline__ Aabb load_kd_box(const float4* box) {
    return {make_float3(box[0].x, box[0].y, box[0].z), make_float3(box[1].x, box[1].y, box[1].z)};
}

// A node's cell: the root's box, cut by the planes on the way up.
__device__ __forceinline__ Aabb kd_cell(const int2* nodes, const int* parent, const float4* box, int node_id) {
    Aabb cell = load_kd_box(box);
    int depth = 0;
    for (int child = node_id; child != 0 && depth < 64; ++depth) {
        const int above = parent[child];
        const int2 node = nodes[above];
        const int axis = kd_axis(node);
        const float plane = kd_plane(node);
        if (child == kd_left(node)) set_along(cell.upper, axis, min(along(cell.upper, axis), plane));
        else set_along(cell.lower, axis, max(along(cell.lower, axis), plane));
        child = above;
    }
    return cell;
}
