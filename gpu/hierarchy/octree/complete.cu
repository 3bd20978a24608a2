// The complete octree of some level over sorted points: a node for every cell, whether it holds points or not (Ajmera
// et al. 2008, the rival of Goradia's). Where a node stands follows from its cell alone. Unit constants: BITS, LEVELS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/octree/cells.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

// Nodes above a level: the sum of 8^i.
__device__ __forceinline__ int nodes_above(int level) { return (int)(((1ll << 3 * level) - 1) / 7); }

// The first of the sorted points whose code is not below `code`.
__device__ __forceinline__ int first_from(const uint64* codes, int count, uint64 code) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (codes[middle] < code) low = middle + 1;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void write_cells(const uint64* codes, int* counts, int nodes, uint64* code, int* level,
                                       int* parent, int* first_child, int* child_count, int* first_point,
                                       int* point_count, int* depth_first) {
    const int count = counts[TREE_COUNTS::points];
    for (int i : grid_stride(nodes)) {
        int own = LEVELS;
        while (nodes_above(own) > i) --own;
        const uint64 cell = (uint64)(i - nodes_above(own));
        const int below = 3 * (BITS - own), first = first_from(codes, count, cell << below);
        code[i] = cell;
        level[i] = own;
        parent[i] = own > 0 ? nodes_above(own - 1) + (int)(cell >> 3) : -1;
        first_child[i] = own < LEVELS ? nodes_above(own + 1) + (int)(cell << 3) : -1;
        child_count[i] = own < LEVELS ? 8 : 0;
        first_point[i] = first;
        point_count[i] = first_from(codes, count, cell + 1 << below) - first;
        if (i > 0) continue;
        for (int d = 0; d < MAX_DEPTH + 2; ++d) depth_first[d] = d <= LEVELS ? nodes_above(d) : nodes;
        counts[TREE_COUNTS::nodes] = counts[TREE_COUNTS::needed] = nodes;
        counts[TREE_COUNTS::depths] = LEVELS + 1;
        counts[TREE_COUNTS::leaves] = 1 << 3 * LEVELS;
    }
}
