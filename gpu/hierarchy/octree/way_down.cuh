// A way through an octree from node to node, each entered and left once: for figures, not for rays.
#pragma once
#include "gpu/hierarchy/octree/nodes.cuh"

// A node on the way down, and which of its children are still to come.
struct NodeOnWay {
    int2 node;
    unsigned waiting;
    OctreeCell cell;

    __device__ __forceinline__ int take_next(int& node_id) {
        const int octant = __ffs((int)waiting) - 1;
        waiting &= waiting - 1u;
        node_id = child_in(node.x, child_mask(node), octant);
        return octant;
    }
};
__device__ __forceinline__ NodeOnWay on_way(int2 node, const OctreeCell& cell) {
    return {node, is_octree_leaf(node) ? 0u : child_mask(node), cell};
}
