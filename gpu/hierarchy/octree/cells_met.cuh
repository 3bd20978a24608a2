// Which cells a primitive meets: by its box, and then by the primitive itself (may_meet of its kind). What lies in a
// plane alone is in the cell below it.
#pragma once
#include "gpu/hierarchy/octree/nodes.cuh"

// In larger scenes primitives are told apart by their boxes alone, as products of coordinates would not be finite.
constexpr float LARGEST_CLIPPED = 1e12f;

template <class Shape>
__device__ __forceinline__ bool meets_cell(const Shape& shape, const Aabb& box, const Aabb& cell) {
    return may_meet(shape, Aabb{max(box.lower, cell.lower), min(box.upper, cell.upper)});
}

// The cells of one level that an interval of an axis meets.
struct CellRange {
    int first, last;

    __device__ __forceinline__ int count() const { return last - first + 1; }
};
__device__ __forceinline__ CellRange cells_between(const OctreeSpace& space, int axis, int level, float begin,
                                                   float end) {
    const int cells = 1 << level, shift = OCTREE_LEVELS - level;
    const float low = along(space.lower, axis) * 0.5f, scale = space.half > 0.0f ? (float)cells : 0.0f;
    const auto guess = [&](float x) {
        const float share = space.half > 0.0f ? (x * 0.5f - low) / space.half : 0.0f;
        return min(cells - 1, (int)(max(0.0f, min(1.0f, share)) * scale));
    };
    CellRange range = {guess(begin), guess(end)};
    while (range.last > 0 && space.plane(axis, range.last << shift) >= end) --range.last;
    while (range.last < cells - 1 && space.plane(axis, (range.last + 1) << shift) < end) ++range.last;
    while (range.first > 0 && space.plane(axis, range.first << shift) > begin) --range.first;
    while (range.first < cells - 1 && space.plane(axis, (range.first + 1) << shift) <= begin) ++range.first;
    range.first = min(range.first, range.last);
    return range;
}

// The cells of one level that a box meets.
struct CellBlock {
    CellRange x, y, z;

    __device__ __forceinline__ CellBlock(const OctreeSpace& space, int level, const Aabb& box)
        : x(cells_between(space, 0, level, box.lower.x, box.upper.x)),
          y(cells_between(space, 1, level, box.lower.y, box.upper.y)),
          z(cells_between(space, 2, level, box.lower.z, box.upper.z)) {}
    __device__ __forceinline__ uint64 count() const { return (uint64)x.count() * y.count() * z.count(); }
    // The cells above these: of the box at the level before, as planes of one level are planes of the next.
    __device__ __forceinline__ void go_up() {
        x = {x.first >> 1, x.last >> 1};
        y = {y.first >> 1, y.last >> 1};
        z = {z.first >> 1, z.last >> 1};
    }
    // The cell `place` places behind the first one, z the fastest.
    __device__ __forceinline__ int3 cell(int place) const {
        const int row = place / z.count();
        return make_int3(x.first + row / y.count(), y.first + row % y.count(), z.first + place % z.count());
    }
};
