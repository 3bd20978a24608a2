// The root of a tree from clusters (clusters.cuh) changes places with the node at id 0, before leaves are finished.
// Unit constants: LEAVES_IN_ORDER (leaves' words name references, never nodes), WRITES_BVH2.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

__device__ __forceinline__ bool names_node(int word) {
    return !is_leaf(word) || (!LEAVES_IN_ORDER && reference_count(word) > 1);
}
__device__ __forceinline__ int node_of(int word) { return is_leaf(word) ? first_reference(word) : word; }
__device__ __forceinline__ bool names_first_node(int word) { return names_node(word) && node_of(word) == 0; }
__device__ __forceinline__ int renamed(int word, int node_id) {
    return is_leaf(word) ? leaf_child(node_id, reference_count(word)) : node_id;
}

struct RootLinker {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    Pointer<float4> bvh2;

    // Write a node at `node_id`, and tell its children.
    __device__ void put(int node_id, const CanonicalNode& node, uint8 node_flags, int above) const {
        store_node(nodes, node_id, node.aabb(), node.left, node.right);
        flags[node_id] = node_flags;
        parent[node_id] = above;
        if (names_node(node.left)) parent[node_of(node.left)] = node_id;
        if (names_node(node.right)) parent[node_of(node.right)] = node_id;
        if (WRITES_BVH2 && (node_flags & NODE_EXISTS)) store_bvh2_links(bvh2, node_id, node.left, node.right);
    }

    // The root, at `root_id` so far, and the node at id 0 change places. The link to the latter lies in the root itself
    // or in another node. Everything is read before anything is written: one thread does this, and would wait for every
    // read by itself.
    __device__ void exchange(int root_id) const {
        CanonicalNode root = load_node(nodes, root_id);
        const CanonicalNode other = load_node(nodes, 0);
        const uint8 root_flags = flags[root_id] & (uint8)~NODE_IS_COLLAPSED, other_flags = flags[0];
        int above = parent[0];
        const bool is_below_root = above == root_id, above_exists = flags[above] & NODE_EXISTS,
                   moves_boxes = WRITES_BVH2 && (other_flags & NODE_EXISTS);
        const CanonicalNode node = load_node(nodes, above);
        float4 root_boxes[BVH2_FETCHED], other_boxes[BVH2_FETCHED];  // links come by `put`
        for (int i = 0; i < BVH2_FETCHED && WRITES_BVH2; ++i) root_boxes[i] = bvh2[BVH2_FLOAT4S * (int64)root_id + i];
        for (int i = 0; i < BVH2_FETCHED && moves_boxes; ++i) other_boxes[i] = bvh2[i];
        for (int i = 0; i < BVH2_FETCHED && WRITES_BVH2; ++i) bvh2[i] = root_boxes[i];
        for (int i = 0; i < BVH2_FETCHED && moves_boxes; ++i) bvh2[BVH2_FLOAT4S * (int64)root_id + i] = other_boxes[i];
        if (is_below_root) {
            above = 0;
            if (names_first_node(root.left)) root.left = renamed(root.left, root_id);
            else root.right = renamed(root.right, root_id);
        } else {
            const bool is_left = names_first_node(node.left);
            const int left = is_left ? renamed(node.left, root_id) : node.left,
                      right = is_left ? node.right : renamed(node.right, root_id);
            store_node(nodes, above, node.aabb(), left, right);
            if (WRITES_BVH2 && above_exists) store_bvh2_links(bvh2, above, left, right);
        }
        put(root_id, other, other_flags, above);
        put(0, root, root_flags, -1);
    }

    // The same where nothing links the node at id 0, which lies inside a leaf.
    __device__ void move(int root_id) const {
        const CanonicalNode root = load_node(nodes, root_id);
        const uint8 root_flags = flags[root_id] & (uint8)~NODE_IS_COLLAPSED;
        float4 boxes[BVH2_FETCHED];
        for (int i = 0; i < BVH2_FETCHED && WRITES_BVH2; ++i) boxes[i] = bvh2[BVH2_FLOAT4S * (int64)root_id + i];
        for (int i = 0; i < BVH2_FETCHED && WRITES_BVH2; ++i) bvh2[i] = boxes[i];
        flags[root_id] = 0;
        put(0, root, root_flags, -1);
    }

    __device__ void link_root(int root_id) const {
        if (LEAVES_IN_ORDER && root_id != 0 && !(flags[0] & NODE_EXISTS)) {
            move(root_id);
        } else if (root_id != 0) {
            exchange(root_id);
        } else {
            parent[0] = -1;
            flags[0] &= (uint8)~NODE_IS_COLLAPSED;
        }
    }

    // The tree whose word is root[0], by one thread. root[1] has the id that its root had before.
    __device__ void link_root(int* root) const {
        const int root_id = root[0];
        root[1] = is_leaf(root_id) ? 0 : root_id;
        if (is_leaf(root_id)) return;
        root[0] = 0;
        link_root(root_id);
    }
};
