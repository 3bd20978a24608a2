// Queries of an octree over points, a query a thread (Goradia et al. 2008, the discussion of section 4).
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/hierarchy/octree/cell.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"
#include "gpu/hierarchy/octree/root_cube.cuh"

__device__ __forceinline__ Cell node_cell(const PointTreeView& tree, int node) {
    return {tree.code[node], tree.level[node]};
}
// The code of the cell's last finest cell: cells are in post order by it, deeper ones first where it is the same.
__device__ __forceinline__ uint64 last_code(Cell cell) {
    const int below = 3 * (FINEST_LEVEL - cell.level);
    return (cell.code + 1 << below) - 1;
}
__device__ __forceinline__ uint64 first_code(Cell cell) { return cell.code << 3 * (FINEST_LEVEL - cell.level); }

// Nodes from the deepest on, by the last code of their cells: a stable sort puts them in post order. Places behind the
// last node come last.
extern "C" __global__ void list_backwards(PointTreeView tree, uint64* keys, int* nodes) {
    const int count = tree.counts[TREE_COUNTS::nodes];
    for (int i : grid_stride(tree.capacity)) {
        const int node = count - 1 - i;
        keys[i] = node >= 0 ? last_code(node_cell(tree, node)) : ~0ull;
        nodes[i] = node >= 0 ? node : -1;
    }
}

// `order`: what was sorted. `rank`: of each node in it. `is_leaf`: of its places.
extern "C" __global__ void rank_in_order(PointTreeView tree, const int* nodes, int* order, int* rank, int* is_leaf) {
    const int count = tree.counts[TREE_COUNTS::nodes];
    for (int i : grid_stride(tree.capacity)) {
        order[i] = nodes[i];
        is_leaf[i] = i < count && tree.first_child[nodes[i]] < 0 ? 1 : 0;
        if (i < count) rank[nodes[i]] = i;
    }
}

// The child of a node whose cell holds a cell; -1 where none does.
__device__ __forceinline__ int child_over(const PointTreeView& tree, int node, Cell cell) {
    const int first = tree.first_child[node], count = tree.child_count[node];
    for (int k = 0; k < count; ++k) {
        if (holds(node_cell(tree, first + k), cell)) return first + k;
    }
    return -1;
}
// The smallest node whose cell holds a cell.
__device__ __forceinline__ int node_over(const PointTreeView& tree, Cell cell) {
    if (!exists(cell) || tree.counts[TREE_COUNTS::nodes] == 0) return -1;
    int node = 0;
    for (int child = child_over(tree, 0, cell); child >= 0; child = child_over(tree, child, cell)) node = child;
    return node;
}

extern "C" __global__ void find_nodes_over(PointTreeView tree, const uint64* code, const int* level, int count,
                                           int* nodes) {
    for (int i : grid_stride(count)) nodes[i] = node_over(tree, {code[i], level[i]});
}

// The finest cell of a place, none outside the root; its end belongs to it.
extern "C" __global__ void find_cells(PointTreeView tree, const float* positions, int count, uint64* code, int* level) {
    const RootCube cube = root_cube(*tree.root);
    for (int i : grid_stride(count)) {
        const float3 place = load3(positions, i);
        const bool is_inside = cube.holds(place);
        code[i] = is_inside ? cube.code(place, tree.bits) : 0;
        level[i] = is_inside ? tree.bits : -1;
    }
}

// `nodes` may hold -1: of those nothing is found.
extern "C" __global__ void find_node_cells(PointTreeView tree, const int* nodes, int count, uint64* code, int* level) {
    for (int i : grid_stride(count)) {
        const Cell cell = nodes[i] >= 0 ? node_cell(tree, nodes[i]) : no_cell();
        code[i] = cell.code;
        level[i] = cell.level;
    }
}

extern "C" __global__ void find_node_parents(PointTreeView tree, const int* nodes, int count, int* found) {
    for (int i : grid_stride(count)) found[i] = nodes[i] >= 0 ? tree.parent[nodes[i]] : -1;
}

// The child that holds the octant, or lies in it.
extern "C" __global__ void find_node_children(PointTreeView tree, const int* nodes, const int* octant, int count,
                                              int* found) {
    for (int i : grid_stride(count)) {
        found[i] = -1;
        if (nodes[i] < 0 || (octant[i] & ~7) != 0) continue;
        const Cell own = node_cell(tree, nodes[i]), part = {own.code << 3 | (unsigned)octant[i], own.level + 1};
        for (int k = 0; k < tree.child_count[nodes[i]]; ++k) {
            const int child = tree.first_child[nodes[i]] + k;
            if (holds(part, node_cell(tree, child))) found[i] = child;
        }
    }
}

// The node nearest to the root of both ways upwards: node numbers grow with depth.
extern "C" __global__ void find_node_ancestors(PointTreeView tree, const int* nodes, const int* others, int count,
                                               int* found) {
    for (int i : grid_stride(count)) {
        int a = nodes[i], b = others[i];
        while (a != b && a >= 0 && b >= 0) {
            if (a > b) a = tree.parent[a];
            else b = tree.parent[b];
        }
        found[i] = a == b ? a : -1;
    }
}

// The first of `leaves` (in order) whose cell begins at `code` or behind it.
__device__ __forceinline__ int first_leaf_from(const PointTreeView& tree, const int* leaves, int count, uint64 code) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (first_code(node_cell(tree, leaves[middle])) < code) low = middle + 1;
        else high = middle;
    }
    return low;
}
extern "C" __global__ void find_leaves_below(PointTreeView tree, const int* leaves, const int* leaf_count,
                                             const int* nodes, int count, int* first, int* counts) {
    for (int i : grid_stride(count)) {
        first[i] = counts[i] = 0;
        if (nodes[i] < 0) continue;
        const Cell cell = node_cell(tree, nodes[i]);
        first[i] = first_leaf_from(tree, leaves, *leaf_count, first_code(cell));
        counts[i] = first_leaf_from(tree, leaves, *leaf_count, last_code(cell) + 1) - first[i];
    }
}

// Leaves that meet a cell from outside, in depth-first order: of every level, in contact as the bits of `contacts` say
// (corner 1, edge 2, face 4). Counted, or listed from first[i] on.
template <class OnLeaf>
__device__ __forceinline__ void visit_neighbours(const PointTreeView& tree, Cell cell, int contacts, OnLeaf& on_leaf) {
    if (!exists(cell) || tree.counts[TREE_COUNTS::nodes] == 0) return;
    int node = 0;
    while (true) {
        const int met = contact(cell, node_cell(tree, node));
        const bool is_leaf = tree.first_child[node] < 0;
        if (is_leaf && met >= 0 && met < 3 && (contacts >> met & 1)) on_leaf(node);
        if (!is_leaf && met >= 0) {
            node = tree.first_child[node];
            continue;
        }
        while (node > 0) {
            const int parent = tree.parent[node];
            if (node + 1 < tree.first_child[parent] + tree.child_count[parent]) break;
            node = parent;
        }
        if (node == 0) return;
        ++node;
    }
}

struct CountLeaves {
    int count;
    __device__ void operator()(int) { ++count; }
};
extern "C" __global__ void count_neighbours(PointTreeView tree, const uint64* code, const int* level, int count,
                                            int contacts, int* counts) {
    for (int i : grid_stride(count)) {
        CountLeaves found = {0};
        visit_neighbours(tree, {code[i], level[i]}, contacts, found);
        counts[i] = found.count;
    }
}

struct ListLeaves {
    int* out;
    __device__ void operator()(int node) { *out++ = node; }
};
extern "C" __global__ void list_neighbours(PointTreeView tree, const uint64* code, const int* level, int count,
                                           int contacts, const int* first, int* nodes) {
    for (int i : grid_stride(count)) {
        ListLeaves found = {nodes + first[i]};
        visit_neighbours(tree, {code[i], level[i]}, contacts, found);
    }
}
