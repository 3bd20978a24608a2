// Sorted codes, and the gaps between neighbours: two part at the level of the smallest cell that holds both. Unit
// constants: BITS, IS_FULL (chains of cells with one child are nodes).
#pragma once
#include "gpu/device/checks.cuh"
#include "gpu/hierarchy/octree/cells.cuh"

// Of `opens` and `closes`, beside the levels of inner nodes that begin and end at a point: whether its leaf does.
constexpr unsigned LEAF = 1u << 30;

__device__ __forceinline__ unsigned levels_below(int level) { return (1u << level) - 1u; }
// The levels after `above` up to `level`.
__device__ __forceinline__ unsigned levels_between(int above, int level) {
    return levels_below(level + 1) & ~levels_below(above + 1);
}
__device__ __forceinline__ int deepest(unsigned levels) { return 31 - __clz((int)levels); }

struct SortedCodes {
    Pointer<const uint64> codes;
    int count, leaf_points;

    // The level at which the points `gap` and `gap` + 1 part; -1 before the first and after the last one.
    __device__ int level_of_gap(int gap) const {
        return gap < 0 || gap >= count - 1 ? -1 : common_level(codes[gap], codes[gap + 1]);
    }

    // The last place in the direction of `step` (1 or -1) in the same cell of `level`, starting from `at`.
    __device__ int farthest(int at, int level, int step) const {
        const uint64 cell = cell_at(codes[at], level);
        int stride = 1;
        while (is_in(at + stride * step, level, cell)) {
            at += stride * step;
            stride *= 2;
        }
        for (stride /= 2; stride > 0; stride /= 2) {
            if (is_in(at + stride * step, level, cell)) at += stride * step;
        }
        return at;
    }
    __device__ bool is_in(int at, int level, uint64 cell) const {
        return at >= 0 && at < count && cell_at(codes[at], level) == cell;
    }

    // Whether the cell of `level` that begins at `first` has more points than a leaf.
    __device__ bool is_inner(int first, int level) const {
        const int next = first + leaf_points;
        return next < count && is_in_one_cell(codes[first], codes[next], level);
    }
    // The levels of all such cells that begin (`step` 1) or end (-1) at a point, and of others above them.
    __device__ unsigned inner_levels(int at, int step) const {
        const int other = at + step * leaf_points;
        return other < 0 || other >= count ? 0u : levels_below(common_level(codes[at], codes[other]) + 1);
    }

    // The level of the node's parent, -1 where it has none.
    __device__ int level_above(int first, int last) const { return max(level_of_gap(first - 1), level_of_gap(last)); }

    // A leaf with points of several cells is the smallest cell that holds them; the only node is the root.
    __device__ int level_of_leaf(int first, int last) const {
        return last - first + 1 == count && count <= leaf_points ? 0 : common_level(codes[first], codes[last]);
    }

    // The topmost common ancestor may be smaller than the cube, which is a node beside it then.
    __device__ bool has_root_beside() const {
        return count > leaf_points && common_level(codes[0], codes[count - 1]) > 0;
    }
};
