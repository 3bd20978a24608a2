// Cells by number alone, without a tree: a level, and the prefix of the Z-order code of its 3 bits a level. A cell that
// does not exist has the level -1.
#pragma once
#include "gpu/device/morton.cuh"

constexpr int FINEST_LEVEL = 21;

struct Cell {
    uint64 code;
    int level;
};
__device__ __forceinline__ Cell no_cell() { return {0, -1}; }
__device__ __forceinline__ bool exists(Cell cell) { return cell.level >= 0; }

__device__ __forceinline__ Cell ancestor(Cell cell, int level) {
    return {cell.code >> 3 * (cell.level - level), level};
}
__device__ __forceinline__ bool holds(Cell outer, Cell inner) {
    return exists(outer) && outer.level <= inner.level && ancestor(inner, outer.level).code == outer.code;
}
// The smallest cell that holds both: the longest common prefix of whole levels (Goradia et al. 2008, section 4).
__device__ __forceinline__ Cell common_ancestor(Cell a, Cell b) {
    if (!exists(a) || !exists(b)) return no_cell();
    const int level = min(a.level, b.level);
    const uint64 difference = ancestor(a, level).code ^ ancestor(b, level).code;
    const int apart = difference == 0 ? 0 : (66 - __clzll((int64)difference)) / 3;  // levels from the first bit on
    return ancestor(a, level - apart);
}

// Every third bit, from the lowest on, next to each other.
__device__ __forceinline__ int gather_bits_21(uint64 value) {
    value &= 0x1249249249249249ull;
    value = (value | value >> 2) & 0x10c30c30c30c30c3ull;
    value = (value | value >> 4) & 0x100f00f00f00f00full;
    value = (value | value >> 8) & 0x001f0000ff0000ffull;
    value = (value | value >> 16) & 0x001f00000000ffffull;
    return (int)((value | value >> 32) & 0x1fffffull);
}
// Which cell of its level it is along each axis.
__device__ __forceinline__ int3 place_of(Cell cell) {
    return make_int3(gather_bits_21(cell.code >> 2), gather_bits_21(cell.code >> 1), gather_bits_21(cell.code));
}
__device__ __forceinline__ Cell cell_of(int3 place, int level) {
    return {spread_bits_21(place.x) << 2 | spread_bits_21(place.y) << 1 | spread_bits_21(place.z), level};
}
// The cell of the same size that many cells farther; none outside of the root.
__device__ __forceinline__ Cell beside(Cell cell, int3 step) {
    if (!exists(cell)) return no_cell();
    const int3 own = place_of(cell), place = make_int3(own.x + step.x, own.y + step.y, own.z + step.z);
    const int end = 1 << cell.level;
    const bool is_inside = place.x >= 0 && place.y >= 0 && place.z >= 0 && place.x < end && place.y < end &&
                           place.z < end;
    return is_inside ? cell_of(place, cell.level) : no_cell();
}

// Where a cell begins along an axis, in cells of the finest level.
__device__ __forceinline__ int begin_along(int3 place, int axis, int level) {
    return (axis == 0 ? place.x : axis == 1 ? place.y : place.z) << (FINEST_LEVEL - level);
}

// How closed cells meet: 0 at a corner, 1 along an edge, 2 at a face, 3 where one holds the other; -1 apart.
__device__ __forceinline__ int contact(Cell a, Cell b) {
    const int3 at = place_of(a), to = place_of(b);
    int dimension = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int from = begin_along(at, axis, a.level), other = begin_along(to, axis, b.level);
        const int low = max(from, other);
        const int high = min(from + (1 << (FINEST_LEVEL - a.level)), other + (1 << (FINEST_LEVEL - b.level)));
        if (low > high) return -1;
        dimension += low < high ? 1 : 0;
    }
    return dimension;
}
