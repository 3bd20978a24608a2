// The tree of one object, made by any builder of the family over its primitives alone, becomes the object's own in
// the arrays of all. Unit constant: OWN_REFERENCE_BITS, of the words that the builder wrote; there may be more
// references in all than in one object.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/builders/two_level/objects.cuh"

constexpr int NO_PARENT = -1;

__device__ __forceinline__ int own_first_reference(int leaf) { return ~leaf & ((1 << OWN_REFERENCE_BITS) - 1); }
__device__ __forceinline__ int own_reference_count(int leaf) {
    return (~leaf >> OWN_REFERENCE_BITS & ((1 << (31 - OWN_REFERENCE_BITS)) - 1)) + 1;
}

// The ids of a tree over `count` references are those below count - 1, the root's 0. They come to lie from the object's
// first number on; the root gets the id that objects' roots have.
struct Shift {
    int first, root_id;

    __device__ int id(int node_id) const { return node_id == 0 ? root_id : first + node_id; }
    __device__ int child(int word) const {
        return is_leaf(word) ? leaf_child(first + own_first_reference(word), own_reference_count(word)) : id(word);
    }
};

extern "C" __global__ void adopt_tree(const int* own_order, const float4* own_nodes, const int* own_parent,
                                      const uint8* own_flags, const int* own_root, int first, int count, int root_id,
                                      int* order, float4* nodes, int* parent, uint8* flags, int* root) {
    const Shift shift = {first, root_id};
    for (int i : grid_stride(count)) {
        order[first + i] = first + own_order[i];
        if (i == 0) *root = shift.child(*own_root);
        if (i == count - 1) continue;
        const int node_id = shift.id(i);
        const bool exists = own_flags[i] & NODE_EXISTS;
        flags[node_id] = exists ? NODE_EXISTS : 0;
        if (!exists) continue;
        const CanonicalNode node = load_node(own_nodes, i);
        store_node(nodes, node_id, empty_aabb(), shift.child(node.left), shift.child(node.right));
        parent[node_id] = i == 0 ? NO_PARENT : shift.id(own_parent[i]);
    }
}
