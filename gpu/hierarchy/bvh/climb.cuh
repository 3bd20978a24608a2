// A climb over any canonical tree, or several in the same arrays: every inner node is visited once, after all nodes
// below it. Optimisers of the family go through trees by it. A root is a node without a parent.
//
// A visit may change everything below its node, and the node's own box and links, but not its id. Where two inner
// children meet, the last to arrive goes on; `waiting` is NO_ONE at every id, before and after.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

constexpr int NO_ONE = -1;

// What a climb knows of a subtree: its leaves, its height now, and the height that it had before the climb. Leaves have
// height 0.
struct Subtree {
    int leaf_count, height, first_height;
};
__device__ __forceinline__ Subtree load_subtree_of(const int2* subtrees, int child) {
    if (is_leaf(child)) return {1, 0, 0};
    const int2 packed = subtrees[child];
    return {packed.x, packed.y & 0xffff, packed.y >> 16};
}
__device__ __forceinline__ void store_subtree_of(int2* subtrees, int node_id, const Subtree& subtree) {
    subtrees[node_id] = make_int2(subtree.leaf_count, subtree.height | subtree.first_height << 16);
}
__device__ __forceinline__ Subtree join_subtrees(const Subtree& a, const Subtree& b) {
    return {a.leaf_count + b.leaf_count, max(a.height, b.height) + 1, max(a.first_height, b.first_height) + 1};
}

struct Climb {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<int> waiting;

    // Both links of a node, which nobody writes but the visit of the node itself.
    __device__ bool has_leaf(int node_id) const {
        return is_leaf(__float_as_int(nodes[2 * (int64)node_id].w)) ||
               is_leaf(__float_as_int(nodes[2 * (int64)node_id + 1].w));
    }
    __device__ bool is_bottom(int node_id) const {
        return is_leaf(__float_as_int(nodes[2 * (int64)node_id].w)) &&
               is_leaf(__float_as_int(nodes[2 * (int64)node_id + 1].w));
    }
    // The node to visit after `node_id`, or NO_ONE where a sibling is still to come or the root is done.
    __device__ int next(int node_id) const {
        const int above = parent[node_id];
        if (above == NO_ONE || has_leaf(above)) return above;
        if (atomic_exchange(waiting + above, node_id) == NO_ONE) return NO_ONE;
        waiting[above] = NO_ONE;
        return above;
    }
};

// Where climbs start: nodes over two leaves. Told apart beforehand, because visits change links.
__device__ __forceinline__ void mark_start(const float4* nodes, const uint8* flags, int node_id, uint8* starts) {
    bool starts_here = false;
    if (flags[node_id] & NODE_EXISTS) {
        const CanonicalNode node = load_node(nodes, node_id);
        starts_here = is_leaf(node.left) && is_leaf(node.right);
    }
    starts[node_id] = starts_here ? 1 : 0;
}
