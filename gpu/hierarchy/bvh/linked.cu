// The links of a canonical tree from below, for sums over all that lies under a node (linked.py): a row each inner
// node, by its id, and from `leaf_rows` on one each leaf, by its first reference. Unit constant: REFERENCE_BITS.
// from gpu.hierarchy.tree_links import INNER_ROW, LEAF_ROW
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

__device__ __forceinline__ void link(int child, int above, const int* long_leaves, int leaf_rows, uint8* kinds,
                                     int* parents, int* firsts, int* counts) {
    if (child == EMPTY_CHILD) return;
    const int row = is_leaf(child) ? leaf_rows + first_reference(child) : child;
    parents[row] = above;
    if (!is_leaf(child)) return;
    kinds[row] = LEAF_ROW;
    firsts[row] = first_reference(child);
    counts[row] = reference_count(child, long_leaves);
}

// `kinds` of leaves are 0 before.
extern "C" __global__ void link_rows(const float4* nodes, const uint8* flags, const int* long_leaves, const int* root,
                                     int node_capacity, int leaf_rows, uint8* kinds, int* parents, int* firsts,
                                     int* counts) {
    for (int id : grid_stride(max(1, node_capacity))) {
        if (id == 0) link(root[0], -1, long_leaves, leaf_rows, kinds, parents, firsts, counts);
        if (id >= node_capacity) continue;
        const bool exists = (flags[id] & NODE_EXISTS) != 0;
        kinds[id] = exists ? INNER_ROW : 0;
        firsts[id] = counts[id] = 0;
        if (!exists) continue;
        const CanonicalNode node = load_node(nodes, id);
        link(node.left, id, long_leaves, leaf_rows, kinds, parents, firsts, counts);
        link(node.right, id, long_leaves, leaf_rows, kinds, parents, firsts, counts);
    }
}
