// The nodes of kd-trees: 8 bytes each (Wald 2004), children side by side, the root in front.
// from gpu.hierarchy.kdtree.tree import LEAF_AXIS
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/hierarchy/growing.cuh"

//  byte  0                                      4                                       8
// inner  | split plane (float)                  | left child << 2 | axis                |
// leaf   | first of its references (unsigned)   | number of its references << 2 | 3     |
// The right child of a node lies behind its left one, and a left one has an odd number: so both lie in 16 bytes of
// their own in the published tree, which starts 8 bytes behind such an address (tree.py). A leaf may be empty.
static_assert(sizeof(int2) == 8, "a node is read at once");
static_assert(sizeof(int4) == 16, "so are the children of one");

__device__ __forceinline__ bool is_kd_leaf(int2 node) { return (node.y & 3) == LEAF_AXIS; }
__device__ __forceinline__ int kd_axis(int2 node) { return node.y & 3; }
__device__ __forceinline__ float kd_plane(int2 node) { return __int_as_float(node.x); }
__device__ __forceinline__ int kd_left(int2 node) { return (int)((unsigned)node.y >> 2); }
__device__ __forceinline__ int kd_count(int2 node) { return (int)((unsigned)node.y >> 2); }

// Both children of a node of the published tree, in one fetch.
struct KdChildren {
    int2 left, right;
};
__device__ __forceinline__ KdChildren load_kd_children(Pointer<const int2> nodes, int left) {
    const int4 words = *(const int4*)&nodes[left];
    KdChildren children;
    children.left.x = words.x;
    children.left.y = words.y;
    children.right.x = words.z;
    children.right.y = words.w;
    return children;
}

__device__ __forceinline__ void store_kd_node(Pointer<int2> nodes, int node_id, int first, unsigned second) {
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

// What of a cell lies in a node's child.
__device__ __forceinline__ void cut_kd_cell(Aabb& cell, int2 node, int child) {
    const int axis = kd_axis(node);
    const float plane = kd_plane(node);
    if (child == kd_left(node)) set_along(cell.upper, axis, min(along(cell.upper, axis), plane));
    else set_along(cell.lower, axis, max(along(cell.lower, axis), plane));
}

// A node's cell: the root's box, cut by the planes on the way up.
__device__ __forceinline__ Aabb kd_cell(const int2* nodes, const int* parent, const float4* box, int node_id) {
    Aabb cell = load_root_box(box);
    int depth = 0;
    for (int child = node_id; child != 0 && depth < 64; ++depth) {
        const int above = parent[child];
        cut_kd_cell(cell, nodes[above], child);
        child = above;
    }
    return cell;
}
