// Where the nodes of an octree begin and end among sorted points, all at once (after Karras 2012, section 6, where
// octree nodes are found among those of a radix tree). What he reads off the radix tree is read off the gaps between
// neighbours here: the gaps of a node are those of its level inside its range, so it is known by its first gap, and no
// radix tree is kept.
//
// `opens`: for each point a bit for the level of each inner node whose first point it is, and LEAF; `closes`: the same
// of last points; `parts`: whether the gap behind each point parts two children of a node, and is not inside a leaf.
// Two ways give the same: a search of the codes for every gap (`find_nodes`, `merge_leaves`), or a walk along them in
// either direction, which keeps the levels of the nodes around it (`walk_forth`, `walk_back`): less work, in order.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/octree/gaps.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

// -- by search -----------------------------------------------------------------------------------------------------
// `opens` and `closes` begin with 0.
extern "C" __global__ void find_nodes(const uint64* codes, int* counts, int leaf_points, int* parts, int* opens,
                                      int* closes) {
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    int inner = 0;
    for (int i : grid_stride(sorted.count)) {
        const int level = sorted.level_of_gap(i);
        int first = -1;
        if (level >= 0 && level < BITS) first = sorted.farthest(i, level, -1);
        const bool is_part = first >= 0 && sorted.is_inner(first, level);
        parts[i] = is_part ? 1 : 0;
        if (!is_part || !is_in_one_cell(codes[first], codes[i], level + 1)) continue;  // the first gap speaks
        const int last = sorted.farthest(i + 1, level, 1),
                  above = IS_FULL ? sorted.level_above(first, last) : level - 1;
        atomic_or(opens + first, (int)levels_between(above, level));
        atomic_or(closes + last, (int)levels_between(above, level));
        ++inner;
    }
    inner = block_sum(inner);
    if (IS_FULL && thread_index() == 0) atomic_add(counts + TREE_COUNTS::chains, -inner);
}

// -- leaves --------------------------------------------------------------------------------------------------------
struct Leaves {
    SortedCodes sorted;
    Pointer<const int> parts;

    __device__ bool begins(int point) const { return point == 0 || parts[point - 1] != 0; }
    __device__ bool ends(int point) const { return point == sorted.count - 1 || parts[point] != 0; }

    // The last point of the leaf that begins at `point`, or the first one of that which ends there (`step` -1): one of
    // so few, or of the same code.
    __device__ int other_end(int point, int step) const {
        for (int i = point, k = 0; k < sorted.leaf_points && i >= 0 && i < sorted.count; i += step, ++k) {
            if (step > 0 ? ends(i) : begins(i)) return i;
        }
        return sorted.farthest(point, BITS, step);
    }
    __device__ unsigned chain(int first, int last) const {
        const int above = sorted.level_above(first, last), level = sorted.level_of_leaf(first, last);
        return IS_FULL && level - 1 > above ? levels_between(above, level - 1) : 0u;
    }
};

// What begins and ends at a point, leaves and the chains above them included, and how many more begin.
__device__ __forceinline__ void store_point(const Leaves& leaves, int i, unsigned opened, unsigned closed, int* opens,
                                            int* closes, int* more) {
    if (leaves.begins(i)) opened |= LEAF | (IS_FULL ? leaves.chain(i, leaves.other_end(i, 1)) : 0u);
    if (leaves.ends(i)) closed |= LEAF | (IS_FULL ? leaves.chain(leaves.other_end(i, -1), i) : 0u);
    if (!IS_FULL && (i == 0 || i == leaves.sorted.count - 1) && leaves.sorted.has_root_beside()) {
        if (i == 0) opened |= 1u;
        if (i == leaves.sorted.count - 1) closed |= 1u;
    }
    opens[i] = (int)opened;
    closes[i] = (int)closed;
    more[i] = __popc(opened) - __popc(closed);
}

extern "C" __global__ void merge_leaves(const uint64* codes, const int* counts, int n, int leaf_points,
                                        const int* parts, int* opens, int* closes, int* more) {
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    const Leaves leaves = {sorted, parts};
    for (int i : grid_stride(n)) {
        if (i < sorted.count) {
            store_point(leaves, i, (unsigned)opens[i], (unsigned)closes[i], opens, closes, more);
        } else {  // dropped
            more[i] = 0;
        }
    }
}

// -- by a walk, a piece of the points a thread ---------------------------------------------------------------------
struct Piece {
    int first, end;
};
__device__ __forceinline__ Piece own_piece(int count) {
    const int64 pieces = (int64)block_count() * block_threads();
    const int64 piece = (int64)block_index() * block_threads() + thread_index();
    return {(int)(count * piece / pieces), (int)(count * (piece + 1) / pieces)};
}

// The levels of the gaps that lie between a point and the ends of the cells around it, in one direction; and where the
// nearest one of each level is.
__device__ __forceinline__ unsigned levels_passed(const SortedCodes& sorted, int at, int step, int* nearest) {
    unsigned levels = 0;
    for (int level = BITS; level >= 0;) {
        at = sorted.farthest(at, level, step);
        const int gap = step > 0 ? at : at - 1;
        level = sorted.level_of_gap(gap);
        if (level < 0) continue;
        levels |= 1u << level;
        nearest[level] = gap;
    }
    return levels;
}

// The levels that are left when a gap is passed, and the gap's own. Equal codes part nowhere.
__device__ __forceinline__ unsigned pass(unsigned levels, int gap_level) {
    return (levels & levels_below(gap_level + 1)) | (gap_level >= 0 && gap_level < BITS ? 1u << gap_level : 0u);
}
// The inner nodes that end where a gap is passed, with chains where those are nodes.
__device__ __forceinline__ unsigned passed_nodes(unsigned levels, unsigned inner, int gap_level) {
    const unsigned nodes = levels & inner & ~levels_below(gap_level + 1);
    return IS_FULL && nodes != 0 ? levels_between(gap_level, deepest(nodes)) : nodes;
}

extern "C" __global__ void walk_forth(const uint64* codes, const int* counts, int leaf_points, int* parts,
                                      int* closes) {
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    const Piece piece = own_piece(sorted.count);
    if (piece.first >= piece.end) return;
    int nearest[BITS + 1];  // where the nearest gap before is, of each of these levels
    unsigned levels = levels_passed(sorted, piece.first, -1, nearest);
    uint64 code = codes[piece.first];
    for (int i = piece.first; i < piece.end; ++i) {
        const uint64 next = i + 1 < sorted.count ? codes[i + 1] : 0;
        const int gap = i + 1 < sorted.count ? common_level(code, next) : -1;
        const unsigned inner = leaf_points > 1 ? sorted.inner_levels(i, -1) : levels_below(BITS);
        closes[i] = (int)passed_nodes(levels, inner, gap);
        bool is_part = gap >= 0 && gap < BITS;
        if (is_part && leaf_points > 1) {
            // The cell begins behind the nearest gap of a lower level: of those passed, the deepest is the nearest.
            const unsigned lower = levels & levels_below(gap);
            is_part = sorted.is_inner(lower != 0 ? nearest[deepest(lower)] + 1 : 0, gap);
        }
        parts[i] = is_part ? 1 : 0;
        levels = pass(levels, gap);
        nearest[max(gap, 0)] = i;
        code = next;
    }
}

extern "C" __global__ void walk_back(const uint64* codes, int* counts, int leaf_points, const int* parts, int* opens,
                                     int* closes, int* more) {
    const SortedCodes sorted = {codes, counts[TREE_COUNTS::points], leaf_points};
    const Leaves leaves = {sorted, parts};
    const Piece piece = own_piece(sorted.count);
    int nodes = 0;
    if (piece.first < piece.end) {
        int nearest[BITS + 1];
        unsigned levels = levels_passed(sorted, piece.end - 1, 1, nearest);
        uint64 code = codes[piece.end - 1];
        for (int i = piece.end - 1; i >= piece.first; --i) {
            const uint64 next = i > 0 ? codes[i - 1] : 0;
            const int gap = i > 0 ? common_level(code, next) : -1;
            const unsigned inner = leaf_points > 1 ? sorted.inner_levels(i, 1) : levels_below(BITS);
            if (IS_FULL) nodes += __popc(levels & inner & ~levels_below(gap + 1));
            store_point(leaves, i, passed_nodes(levels, inner, gap), (unsigned)closes[i], opens, closes, more);
            levels = pass(levels, gap);
            code = next;
        }
    }
    nodes = block_sum(nodes);
    if (IS_FULL && thread_index() == 0) atomic_add(counts + TREE_COUNTS::chains, -nodes);
}
