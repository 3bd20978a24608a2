// The octree bottom up as Goradia et al. (2008, section 4) make it: the common ancestors of adjacent leaves, sorted
// across levels and without duplicates, together with the leaves in post order (array A, at most 2 n); each node's
// parent by a sorted copy of it (array B, twice A); chains by prefix sums of level differences. Steps have the paper's
// numbers. Then the tree as everybody reads it, by a stable sort by depth.
//
// A cell is a code and a level; the level -1 is an empty place. Unit constants: BITS, IS_FULL.
#include "gpu/device/block.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/octree/cell.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

constexpr int NO_DEPTH = 31;

struct Cells {
    Pointer<const uint64> code;
    Pointer<const int> level;

    __device__ Cell operator[](int i) const { return {code[i], level[i]}; }
};
__device__ __forceinline__ bool is_same(Cell a, Cell b) { return a.level == b.level && a.code == b.code; }

// -- 1 (b), (c): points are sorted; those of one code share a leaf, or it would be its own ancestor ----------------
__device__ __forceinline__ int begins_leaf(const uint64* codes, int count, int point) {
    return point < count && (point == 0 || codes[point - 1] != codes[point]) ? 1 : 0;
}
extern "C" __global__ void flag_leaves(const uint64* codes, const int* counts, int n, int* flags) {
    for (int i : grid_stride(n)) flags[i] = begins_leaf(codes, counts[POINTS_NOW], i);
}

// -- 2 (a), (b): leaves in front of A; the common ancestors of each and the leaf before, and the cube itself, apart ---
// One point is a leaf of the whole cube, as are none. Levels begin with -1.
extern "C" __global__ void write_leaves(const uint64* codes, const int* counts, const int* before, int n, uint64* code,
                                        int* level, uint64* inner_code, int* inner_level) {
    const int count = counts[POINTS_NOW];
    for (int i : grid_stride(n)) {
        const int leaf = before[i];
        if (i == 0) {
            code[0] = count > 1 ? codes[0] : 0;
            level[0] = count > 1 ? BITS : 0;
            if (count > 1) inner_code[0] = inner_level[0] = 0;
        } else if (begins_leaf(codes, count, i)) {
            code[leaf] = codes[i];
            level[leaf] = BITS;
            const Cell cell = common_ancestor({codes[i - 1], BITS}, {codes[i], BITS});
            inner_code[leaf] = cell.code;
            inner_level[leaf] = cell.level;
        }
    }
}

// -- 2 (c), (f): the order across levels, a subcell before its supercell, is that of codes padded with ones, and of
// levels where those are equal: 3 BITS + 5 bits. Where they do not fit into a key, cells are sorted by level first, and
// stably by code then. Empty places come last.
__device__ __forceinline__ uint64 padded(Cell cell) { return (cell.code + 1 << 3 * (BITS - cell.level)) - 1; }

extern "C" __global__ void key_levels(const int* level, int n, unsigned* keys, int* ids) {
    for (int i : grid_stride(n)) {
        keys[i] = (unsigned)(31 - level[i]);
        ids[i] = i;
    }
}
extern "C" __global__ void key_codes(const uint64* code, const int* level, const int* by_level, int n, uint64* keys,
                                     int* ids) {
    for (int i : grid_stride(n)) {
        const int from = by_level != nullptr ? by_level[i] : i;
        const Cell cell = {code[from], level[from]};
        keys[i] = !exists(cell)         ? ~0ull
                  : by_level != nullptr ? padded(cell)
                                        : padded(cell) << 5 | (unsigned)(31 - cell.level);
        ids[i] = from;
    }
}

// -- 2 (d), (e): duplicates are neighbours now; one of each goes behind the leaves in A ----------------------------
extern "C" __global__ void flag_different(const uint64* code, const int* level, const int* ids, int n, int* flags) {
    const Cells cells = {code, level};
    for (int i : grid_stride(n)) {
        const Cell cell = cells[ids[i]];
        flags[i] = exists(cell) && (i == 0 || !is_same(cell, cells[ids[i - 1]])) ? 1 : 0;
    }
}
// `sizes`: leaves, and nodes of A.
extern "C" __global__ void append_inner(const uint64* inner_code, const int* inner_level, const int* ids,
                                        const int* flags, const int* before, const int* leaf_flags,
                                        const int* leaves_before, int n, uint64* code, int* level, int* sizes) {
    const int leaves = max(leaves_before[n - 1] + leaf_flags[n - 1], 1);
    for (int i : grid_stride(n)) {
        if (i == 0) {
            sizes[0] = leaves;
            sizes[1] = leaves + before[n - 1] + flags[n - 1];
        }
        if (flags[i] == 0) continue;
        code[leaves + before[i]] = inner_code[ids[i]];
        level[leaves + before[i]] = inner_level[ids[i]];
    }
}
extern "C" __global__ void gather_cells(const uint64* code, const int* level, const int* ids, int n, uint64* to_code,
                                        int* to_level) {
    for (int i : grid_stride(n)) {
        const int from = ids[i];
        to_code[i] = level[from] >= 0 ? code[from] : 0ull;  // what does not exist has no code
        to_level[i] = level[from];
    }
}

// -- 3: the common ancestor of two neighbours in post order is the parent of the first: copies of parents behind the
// nodes, in B. A copy's place says whose it is.
extern "C" __global__ void copy_parents(const uint64* code, const int* level, const int* sizes, int n,
                                        uint64* copy_code, int* copy_level) {
    const Cells cells = {code, level};
    const int nodes = sizes[1];
    for (int i : grid_stride(n)) {
        const Cell parent = i < nodes - 1 ? common_ancestor(cells[i], cells[i + 1]) : no_cell();
        copy_code[i] = code[i];
        copy_level[i] = level[i];
        copy_code[n + i] = parent.code;
        copy_level[n + i] = parent.level;
    }
}
// (e): behind each node in the order of B its copies, eight at most. Parents begin with -1.
extern "C" __global__ void link_copies(const uint64* code, const int* level, const int* ids, int n, int* parent) {
    const Cells cells = {code, level};
    for (int i : grid_stride(2 * n)) {
        const int node = ids[i];
        if (node >= n || !exists(cells[node])) continue;
        for (int k = i + 1; k < 2 * n && ids[k] >= n && is_same(cells[ids[k]], cells[node]); ++k)
            parent[ids[k] - n] = node;
    }
}

// -- 4: chains, as long as levels differ by more than one ----------------------------------------------------------
extern "C" __global__ void count_chains(const int* level, const int* parent, const int* sizes, int n, int* chains) {
    for (int i : grid_stride(n))
        chains[i] = IS_FULL && i < sizes[1] && parent[i] >= 0 ? level[i] - level[parent[i]] - 1 : 0;
}
// The chain of each node comes behind it. Nothing, where it does not fit.
extern "C" __global__ void write_chains(const uint64* code, const int* level, const int* parent, const int* sizes,
                                        const int* chains, const int* before, int n, int capacity, uint64* to_code,
                                        int* to_level, int* to_parent, int* counts) {
    const int nodes = sizes[1], added = before[n - 1] + chains[n - 1];
    const bool fits = nodes + added <= capacity;
    for (int i : grid_stride(nodes)) {
        if (i == 0) {
            counts[NEEDED_NOW] = nodes + added;
            counts[TREE_NODES_NOW] = fits ? nodes + added : 0;
            counts[OVERFLOW_NOW] = fits ? 0 : TREE_FULL;
            counts[CHAINS_NOW] = added;
            counts[LEAVES_NOW] = sizes[0];
        }
        for (int k = 0; k <= chains[i] && fits; ++k) {
            const int to = i + before[i] + k;
            to_code[to] = code[i] >> 3 * k;
            to_level[to] = level[i] - k;
            to_parent[to] = k < chains[i] ? to + 1 : parent[i] < 0 ? -1 : parent[i] + before[parent[i]];
        }
    }
}

// -- the tree as everybody reads it --------------------------------------------------------------------------------
extern "C" __global__ void find_depths(const int* parent, int capacity, unsigned* depths, int* ids, int* counts) {
    const int nodes = counts[TREE_NODES_NOW];
    int deepest = 0;
    for (int i : grid_stride(capacity)) {
        int depth = 0;
        for (int above = i < nodes ? parent[i] : -1; above >= 0; above = parent[above]) ++depth;
        depths[i] = i < nodes ? depth : NO_DEPTH;
        ids[i] = i;
        deepest = max(deepest, i < nodes ? depth + 1 : 0);
    }
    deepest = block_max(deepest);
    if (thread_index() == 0) atomic_max(counts + DEPTHS_NOW, deepest);
}
extern "C" __global__ void rank_nodes(const unsigned* depths, const int* ids, const int* counts, int* rank,
                                      int* depth_first) {
    const int nodes = counts[TREE_NODES_NOW];
    for (int i : grid_stride(max(nodes, 1))) {
        const int depth = nodes == 0 ? -1 : (int)depths[i];
        if (nodes > 0) rank[ids[i]] = i;
        if (i == 0 || (int)depths[i - 1] != depth) depth_first[max(depth, 0)] = i;
        if (i < nodes - 1) continue;
        for (int d = depth + 1; d < MAX_DEPTH + 2; ++d) depth_first[d] = nodes;
    }
}

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
extern "C" __global__ void write_nodes(const uint64* codes, const uint64* post_code, const int* post_level,
                                       const int* post_parent, const int* ids, const int* rank, const int* counts,
                                       uint64* code, int* level, int* parent, int* first_child, int* child_count,
                                       int* first_point, int* point_count) {
    const int points = counts[POINTS_NOW];
    for (int i : grid_stride(counts[TREE_NODES_NOW])) {
        const Cell cell = {post_code[ids[i]], post_level[ids[i]]};
        const int above = post_parent[ids[i]], below = 3 * (BITS - cell.level);
        const int first = first_from(codes, points, cell.code << below);
        code[i] = cell.code;
        level[i] = cell.level;
        parent[i] = above < 0 ? -1 : rank[above];
        first_child[i] = -1;
        child_count[i] = 0;
        first_point[i] = first;
        point_count[i] = first_from(codes, points, cell.code + 1 << below) - first;
    }
}
extern "C" __global__ void find_first_children(const int* parent, const int* counts, int* first_child) {
    for (int i : grid_stride(counts[TREE_NODES_NOW])) {
        if (i > 0 && parent[i - 1] != parent[i]) first_child[parent[i]] = i;
    }
}
extern "C" __global__ void count_children(const int* parent, const int* first_child, const int* counts,
                                          int* child_count) {
    const int nodes = counts[TREE_NODES_NOW];
    for (int i : grid_stride(nodes)) {
        if (i > 0 && (i + 1 == nodes || parent[i + 1] != parent[i]))
            child_count[parent[i]] = i + 1 - first_child[parent[i]];
    }
}
