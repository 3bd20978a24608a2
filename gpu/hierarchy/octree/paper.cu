// The octree bottom up as Goradia et al. (2008, section 4) make it: the common ancestors of adjacent leaves, sorted
// across levels and without duplicates, together with the leaves in post order (array A, at most 2 n); each node's
// parent by a sorted copy of it (array B, twice A); chains by prefix sums of level differences. Steps have the paper's
// numbers. Then the tree as everybody reads it, by a stable sort by depth.
//
// What is in order already is merged instead of sorted: leaves are, and the nodes of A in B. So the common ancestors
// and the copies are what is sorted, by one number each (post_order.cuh).
//
// Unit constants: BITS, IS_FULL; alias: Key.
// from gpu.hierarchy.octree.paper import NO_DEPTH
#include "gpu/device/block.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"
#include "gpu/hierarchy/octree/post_order.cuh"

// The first of sorted numbers that is not below one.
template <class Numbers, class Number>
__device__ __forceinline__ int first_from(Numbers sorted, int count, Number number) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (sorted[middle] < number) low = middle + 1;
        else high = middle;
    }
    return low;
}
// Where in the code of its smallest cells a cell ends.
__device__ __forceinline__ uint64 end_of(Cell cell) { return cell.code + 1 << 3 * (BITS - cell.level); }

// -- 1 (b), (c): points are sorted; those of one code share a leaf, or it would be its own ancestor ----------------
__device__ __forceinline__ int begins_leaf(const uint64* codes, int count, int point) {
    return point < count && (point == 0 || codes[point - 1] != codes[point]) ? 1 : 0;
}
extern "C" __global__ void flag_leaves(const uint64* codes, const int* counts, int n, int* flags) {
    for (int i : grid_stride(n)) flags[i] = begins_leaf(codes, counts[TREE_COUNTS::points], i);
}

// -- 2 (a), (b): the leaves, and apart from them the common ancestors of each and the leaf before, and the cube itself,
// which is a leaf where there is one point or none.
extern "C" __global__ void write_leaves(const uint64* codes, const int* counts, const int* before, int n,
                                        uint64* leaf_code, Key* ancestors) {
    const int count = counts[TREE_COUNTS::points];
    for (int i : grid_stride(n)) {
        Cell ancestor = i == 0 && count > 1 ? Cell{0, 0} : no_cell();
        if (i == 0) {
            leaf_code[0] = count > 1 ? codes[0] : 0;
        } else if (begins_leaf(codes, count, i)) {
            leaf_code[before[i]] = codes[i];
            ancestor = common_ancestor({codes[i - 1], BITS}, {codes[i], BITS});
        }
        ancestors[i] = key_of(ancestor);
    }
}

// -- 2 (c) to (e): they are sorted, duplicates are neighbours now, and one of each is kept -------------------------
extern "C" __global__ void flag_different(const Key* ancestors, int n, int* flags) {
    for (int i : grid_stride(n))
        flags[i] = ancestors[i] != NO_KEY && (i == 0 || ancestors[i] != ancestors[i - 1]) ? 1 : 0;
}
// `sizes`: leaves, and nodes of A.
extern "C" __global__ void keep_different(const Key* ancestors, const int* flags, const int* before,
                                          const int* leaf_flags, const int* leaves_before, int n, Key* inner,
                                          int* sizes) {
    for (int i : grid_stride(n)) {
        if (i == 0) {
            const int leaves = max(leaves_before[n - 1] + leaf_flags[n - 1], 1);
            sizes[0] = leaves;
            sizes[1] = leaves + before[n - 1] + flags[n - 1];
        }
        if (flags[i] != 0) inner[before[i]] = ancestors[i];
    }
}

// -- 2 (f): A in order. No leaf is an inner node. ------------------------------------------------------------------
extern "C" __global__ void merge_cells(const uint64* leaf_code, const Key* inner, const int* sizes, const int* counts,
                                       Key* key, uint64* code, int* level) {
    const int leaves = sizes[0], nodes = sizes[1];
    for (int i : grid_stride(nodes)) {
        const bool is_leaf = i < leaves;
        const int own = is_leaf ? i : i - leaves;
        const Cell cell = !is_leaf ? cell_of_key(inner[own])
                                   : Cell{leaf_code[own], counts[TREE_COUNTS::points] > 1 ? BITS : 0};
        const Key number = is_leaf ? key_of(cell) : inner[own];
        const int to = own + (is_leaf ? first_from(inner, nodes - leaves, number)
                                      : first_from(leaf_code, leaves, end_of(cell)));
        key[to] = number;
        code[to] = cell.code;
        level[to] = cell.level;
    }
}

// -- 3: the common ancestor of two neighbours in post order is the parent of the first: copies of parents are what B
// has behind the nodes. `of` says whose parent it is.
extern "C" __global__ void copy_parents(const uint64* code, const int* level, const int* sizes, int n, Key* copies,
                                        int* of) {
    const int nodes = sizes[1];
    for (int i : grid_stride(n)) {
        Cell parent = no_cell();
        if (i < nodes - 1) parent = common_ancestor({code[i], level[i]}, {code[i + 1], level[i + 1]});
        copies[i] = key_of(parent);
        of[i] = i;
    }
}
// (e): where B is in order, behind each node its copies, eight at most.
extern "C" __global__ void link_copies(const Key* copies, const int* of, const Key* key, const int* sizes, int n,
                                       int* parent) {
    for (int i : grid_stride(n)) parent[of[i]] = copies[i] == NO_KEY ? -1 : first_from(key, sizes[1], copies[i]);
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
            counts[TREE_COUNTS::needed] = nodes + added;
            counts[TREE_COUNTS::nodes] = fits ? nodes + added : 0;
            counts[TREE_COUNTS::status] = fits ? 0 : TREE_FULL;
            counts[TREE_COUNTS::chains] = added;
            counts[TREE_COUNTS::leaves] = sizes[0];
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
    const int nodes = counts[TREE_COUNTS::nodes];
    int deepest = 0;
    for (int i : grid_stride(capacity)) {
        int depth = 0;
        for (int above = i < nodes ? parent[i] : -1; above >= 0; above = parent[above]) ++depth;
        depths[i] = i < nodes ? depth : NO_DEPTH;
        ids[i] = i;
        deepest = max(deepest, i < nodes ? depth + 1 : 0);
    }
    deepest = block_max(deepest);
    if (thread_index() == 0) atomic_max(counts + TREE_COUNTS::depths, deepest);
}
extern "C" __global__ void rank_nodes(const unsigned* depths, const int* ids, const int* counts, int* rank,
                                      int* depth_first) {
    const int nodes = counts[TREE_COUNTS::nodes];
    for (int i : grid_stride(max(nodes, 1))) {
        const int depth = nodes == 0 ? -1 : (int)depths[i];
        if (nodes > 0) rank[ids[i]] = i;
        if (i == 0 || (int)depths[i - 1] != depth) depth_first[max(depth, 0)] = i;
        if (i < nodes - 1) continue;
        for (int d = depth + 1; d < MAX_DEPTH + 2; ++d) depth_first[d] = nodes;
    }
}

extern "C" __global__ void write_nodes(const uint64* codes, const uint64* post_code, const int* post_level,
                                       const int* post_parent, const int* ids, const int* rank, const int* counts,
                                       uint64* code, int* level, int* parent, int* first_child, int* child_count,
                                       int* first_point, int* point_count) {
    const int points = counts[TREE_COUNTS::points];
    for (int i : grid_stride(counts[TREE_COUNTS::nodes])) {
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
    for (int i : grid_stride(counts[TREE_COUNTS::nodes])) {
        if (i > 0 && parent[i - 1] != parent[i]) first_child[parent[i]] = i;
    }
}
extern "C" __global__ void count_children(const int* parent, const int* first_child, const int* counts,
                                          int* child_count) {
    const int nodes = counts[TREE_COUNTS::nodes];
    for (int i : grid_stride(nodes)) {
        if (i > 0 && (i + 1 == nodes || parent[i + 1] != parent[i]))
            child_count[parent[i]] = i + 1 - first_child[parent[i]];
    }
}
