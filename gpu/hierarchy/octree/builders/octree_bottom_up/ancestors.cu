// From sorted keys of cells to an octree: which nodes begin at each key, then, where their numbers are known, the
// nodes. A key begins the nodes of consecutive levels: the ancestors that it does not share with the key before, and
// that hold more than a leaf may. Rows of `numbers` are levels, so that a prefix sum over all of them numbers nodes
// level by level, and children of one node lie side by side.
//
// Launch order is the file's; the caller scans numbers and kept.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/octree/cell_keys.cuh"
#include "gpu/hierarchy/octree/nodes.cuh"

// Sorted keys of the cells of a level.
struct SortedCells {
    Pointer<const uint64> keys;
    int count, level;

    __device__ __forceinline__ unsigned code(int i) const { return code_of_key(keys[i]); }
    // The number of the ancestor at `at`, which is a prefix.
    __device__ __forceinline__ unsigned ancestor(int i, int at) const { return code(i) >> 3 * (level - at); }
    // The level of the smallest cell that holds both: equal bits, as a multiple of 3 (4b of the paper).
    __device__ __forceinline__ int common(int i, int j) const {
        const unsigned difference = code(i) ^ code(j);
        return difference == 0u ? level : level - (34 - __clz((int)difference)) / 3;
    }
    __device__ __forceinline__ int begin_of(unsigned cell, int at, int last) const {
        return first_not_below(keys, 0, last, cell << 3 * (level - at));
    }
    // Where the keys of the ancestor of key i end.
    __device__ __forceinline__ int end_of(int i, int at) const {
        const int shift = 3 * (level - at);
        const uint64 next = ((uint64)ancestor(i, at) + 1) << shift;
        return next > 0xffffffffull ? count : first_not_below(keys, i, count, (unsigned)next);
    }
    // Whether `leaf_primitives` keys behind one that begins a cell are in it, too.
    __device__ __forceinline__ bool is_inner(int first, int at, int leaf_primitives) const {
        return at < level && first + leaf_primitives < count && common(first, first + leaf_primitives) >= at;
    }
};
__device__ __forceinline__ SortedCells sorted_cells(const uint64* keys, const int* chosen) {
    return {keys, chosen[KEYS_MADE], chosen[CHOSEN_LEVEL]};
}

// The levels of the nodes that begin at a key; none where the last is before the first. The last one is a leaf, the
// others are inner nodes: a chain (4f), where only one child of each holds anything.
struct BeginningNodes {
    int first, last;
};
__device__ __forceinline__ BeginningNodes nodes_beginning(const SortedCells& cells, int i, int leaf_primitives) {
    const int first = i == 0 ? 0 : cells.common(i - 1, i) + 1;
    if (first > cells.level) return {1, 0};
    if (first > 0) {
        const int above = cells.begin_of(cells.ancestor(i, first - 1), first - 1, i + 1);
        if (!cells.is_inner(above, first - 1, leaf_primitives)) return {1, 0};
    }
    int last = first;
    while (cells.is_inner(i, last, leaf_primitives)) ++last;
    return {first, last};
}

// `numbers`: `rows` of `capacity`, one for each level that there may be, and one more. `kept`: `capacity` and one more.
extern "C" __global__ void mark_nodes(const uint64* keys, const int* chosen, int capacity, int rows,
                                      int leaf_primitives, int* numbers, int* kept) {
    const SortedCells cells = sorted_cells(keys, chosen);
    for (int i : grid_stride(capacity + 1)) {
        kept[i] = i < cells.count;
        if (i == capacity) numbers[rows * (int64)capacity] = 0;
        if (i == capacity) continue;
        const BeginningNodes nodes = i < cells.count ? nodes_beginning(cells, i, leaf_primitives)
                                                     : BeginningNodes{1, 0};
        for (int level = 0; level < rows; ++level)
            numbers[level * (int64)capacity + i] = nodes.first <= level && level <= nodes.last;
    }
}

// A leaf above the cells lists a primitive of several of them once, at its first key.
extern "C" __global__ void drop_copies(const uint64* keys, const int* chosen, int leaf_primitives, int* kept) {
    const SortedCells cells = sorted_cells(keys, chosen);
    for (int i : grid_stride(cells.count)) {
        const BeginningNodes nodes = nodes_beginning(cells, i, leaf_primitives);
        if (nodes.last < nodes.first || nodes.last == cells.level) continue;
        const int end = cells.end_of(i, nodes.last);
        for (int j = i + 1; j < end; ++j) {
            for (int before = i; before < j; ++before) {
                if (prim_of_key(keys[before]) == prim_of_key(keys[j])) kept[j] = 0;
            }
        }
    }
}

extern "C" __global__ void count_tree(const int* chosen, int capacity, int rows, const int* numbers, const int* places,
                                      int node_capacity, int reference_capacity, int* counts, int2* draft_nodes,
                                      int* draft_parent) {
    for (int item : grid_stride(1)) {
        const bool is_any = chosen[KEYS_MADE] > 0;
        const int nodes = is_any ? numbers[rows * (int64)capacity] : 1, references = places[capacity];
        counts[NODES_NOW] = nodes;
        counts[REFERENCES_NOW] = references;
        if (nodes > node_capacity) counts[STATUS_NOW] |= NODES_FULL;
        if (references > reference_capacity) counts[STATUS_NOW] |= REFERENCES_FULL;
        if (is_any) continue;
        store_octree_node(draft_nodes, item, 0, ~0);
        draft_parent[item] = -1;
    }
}

// `numbers` and `places`: what was marked and kept, summed up to each.
extern "C" __global__ void write_tree(const uint64* keys, const int* chosen, int capacity, const int* numbers,
                                      const int* places, const int* counts, int2* draft_nodes, int* draft_parent,
                                      int* draft_references) {
    if (counts[STATUS_NOW] != 0) return;
    const SortedCells cells = sorted_cells(keys, chosen);
    for (int i : grid_stride(cells.count)) {
        if (places[i + 1] > places[i]) draft_references[places[i]] = prim_of_key(keys[i]);
        for (int level = 0; level <= cells.level; ++level) {
            const int* row = numbers + level * (int64)capacity;
            const int node_id = row[i];
            if (row[i + 1] == node_id) continue;
            draft_parent[node_id] = level == 0 ? -1 : row[i + 1 - (int64)capacity] - 1;
            const int* below = row + capacity;
            if (level == cells.level || below[i + 1] == below[i]) {
                store_octree_node(draft_nodes, node_id, places[i], ~(places[cells.end_of(i, level)] - places[i]));
                continue;
            }
            unsigned mask = 0u;
            const int end = cells.end_of(i, level);
            for (int child = i; child < end; child = cells.end_of(child, level + 1))
                mask |= 1u << (cells.ancestor(child, level + 1) & 7u);
            store_octree_node(draft_nodes, node_id, below[i], (int)mask);
        }
    }
}
