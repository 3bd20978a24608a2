// The nodes of grids: 8 bytes each, cells in rows along x, rows along y, slices along z.
//
// How many cells there are along each axis lies in the fourth words of the box, since a kernel decides it (shape.cu).
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/hierarchy/growing.cuh"

//  byte  0                       4                    8
// cell   | first of its references | end of them        |
// block  | its first cell          | cells along x, y, z |
// Of two levels a cell of the upper one is a block of cells: eight bits an axis, all of them 0 where it is empty. An
// empty cell begins where it ends.
static_assert(sizeof(int2) == 8, "a node is read at once");

constexpr int BLOCK_AXIS_BITS = 8, MOST_BLOCK_CELLS_ALONG = (1 << BLOCK_AXIS_BITS) - 1,
              SINGLE_CELL = 1 | 1 << BLOCK_AXIS_BITS | 1 << 2 * BLOCK_AXIS_BITS;

__device__ __forceinline__ int packed_block(int3 count) {
    return count.x | count.y << BLOCK_AXIS_BITS | count.z << 2 * BLOCK_AXIS_BITS;
}
__device__ __forceinline__ int3 unpacked_block(int packed) {
    int3 count;
    count.x = packed & MOST_BLOCK_CELLS_ALONG;
    count.y = packed >> BLOCK_AXIS_BITS & MOST_BLOCK_CELLS_ALONG;
    count.z = packed >> 2 * BLOCK_AXIS_BITS;
    return count;
}

__device__ __forceinline__ int along(const int3& cell, int axis) {
    return axis == 0 ? cell.x : axis == 1 ? cell.y : cell.z;
}
__device__ __forceinline__ void set_along(int3& cell, int axis, int value) {
    if (axis == 0) cell.x = value;
    else if (axis == 1) cell.y = value;
    else cell.z = value;
}

// The planes across one axis: the same numbers wherever they are asked for, in order, and the ends are those of the
// box. Halves, as sizes may overflow.
struct GridAxis {
    float lower, upper, width, cells_a_unit;
    int count;

    __device__ __forceinline__ void set(float from, float to, int cells) {
        lower = from;
        upper = to;
        count = cells;
        const float half = to * 0.5f - from * 0.5f;
        width = 2.0f * (half / (float)cells);
        cells_a_unit = width > 0.0f ? 1.0f / width : 0.0f;
    }
    __device__ __forceinline__ float at(int plane) const {
        return plane <= 0 ? lower : plane >= count ? upper : min(fmaf(width, (float)plane, lower), upper);
    }
    // Of a cell, but for rounding.
    __device__ __forceinline__ float middle(int cell) const { return fmaf(width, (float)cell + 0.5f, lower); }
    // The first and the last cell that an interval touches.
    __device__ __forceinline__ int first_cell(float from) const {
        int i = guess(from);
        while (i > 0 && at(i) >= from) --i;
        while (i < count - 1 && at(i + 1) < from) ++i;
        return i;
    }
    __device__ __forceinline__ int last_cell(float to) const {
        int i = guess(to);
        while (i < count - 1 && at(i + 1) <= to) ++i;
        while (i > 0 && at(i) > to) --i;
        return i;
    }

private:
    __device__ __forceinline__ int guess(float x) const {
        return min(count - 1, (int)max(0.0f, min((x - lower) * cells_a_unit, (float)count)));
    }
};

// A box divided into cells of one size: all of a grid, or one of its blocks.
struct GridSpace {
    Aabb box;
    int3 count;
    GridAxis x, y, z;

    __device__ __forceinline__ void set(const Aabb& of, int3 cells) {
        box = of;
        count = cells;
        x.set(of.lower.x, of.upper.x, cells.x);
        y.set(of.lower.y, of.upper.y, cells.y);
        z.set(of.lower.z, of.upper.z, cells.z);
    }
    __device__ __forceinline__ int cells() const { return count.x * count.y * count.z; }
    __device__ __forceinline__ int index(int3 cell) const { return (cell.z * count.y + cell.y) * count.x + cell.x; }
    __device__ __forceinline__ int3 cell(int index) const {
        int3 found;
        found.x = index % count.x;
        found.y = index / count.x % count.y;
        found.z = index / count.x / count.y;
        return found;
    }
    // The cells that a box touches: the first and the last along each axis.
    __device__ __forceinline__ int3 first_of(const Aabb& own) const {
        int3 cell;
        cell.x = x.first_cell(own.lower.x);
        cell.y = y.first_cell(own.lower.y);
        cell.z = z.first_cell(own.lower.z);
        return cell;
    }
    __device__ __forceinline__ int3 last_of(const Aabb& own) const {
        int3 cell;
        cell.x = x.last_cell(own.upper.x);
        cell.y = y.last_cell(own.upper.y);
        cell.z = z.last_cell(own.upper.z);
        return cell;
    }
    __device__ __forceinline__ float3 middle(int3 cell) const {
        return make_float3(x.middle(cell.x), y.middle(cell.y), z.middle(cell.z));
    }
    // The box around the cells from `first` to `last`.
    __device__ __forceinline__ Aabb box_of(int3 first, int3 last) const {
        return {make_float3(x.at(first.x), y.at(first.y), z.at(first.z)),
                make_float3(x.at(last.x + 1), y.at(last.y + 1), z.at(last.z + 1))};
    }
    // The block that a cell is.
    __device__ __forceinline__ GridSpace block(int index, int packed) const {
        GridSpace found;
        found.set(box_of(cell(index), cell(index)), unpacked_block(packed));
        return found;
    }
};

__device__ __forceinline__ GridSpace load_grid(const float4* box) {
    const int xy = __float_as_int(box[0].w);
    int3 count;
    count.x = xy & 0xffff;
    count.y = xy >> 16;
    count.z = __float_as_int(box[1].w);
    GridSpace grid;
    grid.set(load_root_box(box), count);
    return grid;
}
__device__ __forceinline__ void store_grid(float4* box, const Aabb& of, int3 count) {
    box[0] = make_float4(of.lower.x, of.lower.y, of.lower.z, __int_as_float(count.x | count.y << 16));
    box[1] = make_float4(of.upper.x, of.upper.y, of.upper.z, __int_as_float(count.z));
}
