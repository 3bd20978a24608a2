// The complete octree of a level over sorted keys of its cells: nodes follow from their numbers alone, those of a level
// behind those of the levels above.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/octree/cell_keys.cuh"
#include "gpu/hierarchy/octree/nodes.cuh"

// Nodes of all levels above: (8^level - 1) / 7.
__device__ __forceinline__ int nodes_above(int level) { return (int)((((uint64)1 << 3 * level) - 1) / 7); }

extern "C" __global__ void count_tree(const int* chosen, int node_capacity, int reference_capacity, int* counts) {
    for (int item : grid_stride(1)) {
        const int nodes = nodes_above(chosen[CHOSEN_LEVEL] + 1), references = chosen[KEYS_MADE + item];
        counts[NODES_NOW] = nodes;
        counts[REFERENCES_NOW] = references;
        if (nodes > node_capacity) counts[STATUS_NOW] |= NODES_FULL;
        if (references > reference_capacity) counts[STATUS_NOW] |= REFERENCES_FULL;
    }
}

extern "C" __global__ void write_tree(const uint64* keys, const int* chosen, const int* counts, int2* draft_nodes,
                                      int* draft_parent, int* draft_references) {
    if (counts[STATUS_NOW] != 0) return;
    const int level = chosen[CHOSEN_LEVEL], key_count = chosen[KEYS_MADE], nodes = counts[NODES_NOW];
    const int first_leaf = nodes_above(level);
    for (int i : grid_stride(max(nodes, key_count))) {
        if (i < key_count) draft_references[i] = prim_of_key(keys[i]);
        if (i >= nodes) continue;
        draft_parent[i] = i == 0 ? -1 : (i - 1) / 8;
        if (i < first_leaf) {
            store_octree_node(draft_nodes, i, 8 * i + 1, 255);
            continue;
        }
        const unsigned code = (unsigned)(i - first_leaf);
        const int first = first_not_below(keys, 0, key_count, code);
        store_octree_node(draft_nodes, i, first, ~(first_not_below(keys, first, key_count, code + 1u) - first));
    }
}
