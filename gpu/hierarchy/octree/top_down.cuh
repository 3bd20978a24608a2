// What the kernels of top_down.cu know of a level. Unit constants: BITS, SPLIT (0: the middle of the cell, 1: the
// middle of the points' bounds, 2: half of the points).
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

constexpr int CELL_MIDDLE = 0, BOUNDS_MIDDLE = 1, MEDIAN = 2;

// Points as handed in.
struct Given {
    Pointer<const float> positions;
    int width;
    Pointer<const uint64> codes;

    __device__ float3 point(int id) const {
        const float* row = positions + (int64)id * width;
        return make_float3(row[0], row[1], row[2]);
    }
};

// Six ordered integers a node: lower and upper corner of its points.
struct Box {
    Pointer<const int> corners;

    __device__ float lower(int axis) const { return ordered_float(corners[axis]); }
    __device__ float upper(int axis) const { return ordered_float(corners[3 + axis]); }
    // Halved, so that it is finite.
    __device__ float extent(int axis) const { return 0.5f * upper(axis) - 0.5f * lower(axis); }
    __device__ bool is_point() const { return extent(0) <= 0.0f && extent(1) <= 0.0f && extent(2) <= 0.0f; }

    // What a node is divided along first, second and third: the longest axis first, x before y before z.
    __device__ int axis(int stage) const {
        const int longest = extent(0) >= extent(1) && extent(0) >= extent(2) ? 0 : extent(1) >= extent(2) ? 1 : 2;
        const int a = longest == 0 ? 1 : 0, b = longest == 2 ? 1 : 2, second = extent(a) >= extent(b) ? a : b;
        return stage == 0 ? longest : stage == 1 ? second : 3 - longest - second;
    }
    // Up to it is the lower half, which the smallest coordinate is in and the largest is not.
    __device__ float plane(int axis) const {
        const float middle = 0.5f * lower(axis) + 0.5f * upper(axis);
        return middle < upper(axis) ? max(middle, lower(axis)) : lower(axis);
    }
};

// Whether a point is in the upper half of the node of `level`. Cells are cubes: all of their axes are equally long.
__device__ __forceinline__ bool is_upper(const Given& given, int id, Box box, int level, int stage) {
    if (SPLIT == CELL_MIDDLE) return given.codes[id] >> (3 * (BITS - level) - 1 - stage) & 1;
    const int axis = box.axis(stage);
    return along(given.point(id), axis) > box.plane(axis);
}

// The eighth of it that a point is in: a bit for each of the three stages, the first one's highest.
__device__ __forceinline__ int part_in(const Given& given, int id, Box box, int level) {
    if (SPLIT == CELL_MIDDLE) return (int)(given.codes[id] >> 3 * (BITS - level - 1)) & 7;
    int part = 0;
    for (int stage = 0; stage < 3; ++stage) part |= is_upper(given, id, box, level, stage) ? 4 >> stage : 0;
    return part;
}

// Which eighth each of 32 points is in, a bit of each word.
struct Planes {
    unsigned a, b, c;

    __device__ unsigned part(int of) const {
        return ((of & 4) != 0 ? a : ~a) & ((of & 2) != 0 ? b : ~b) & ((of & 1) != 0 ? c : ~c);
    }
};
// How many points of an eighth lie before a place, more or less a number that is the same for all places.
struct PartSums {
    Pointer<const unsigned> planes;
    Pointer<const int> sums;
    int words;

    __device__ Planes at(int word) const { return {planes[3 * word], planes[3 * word + 1], planes[3 * word + 2]}; }
    __device__ int before(int place, int part) const {
        const unsigned lower = (1u << (place & 31)) - 1u;
        return sums[part * words + (place >> 5)] + __popc(at(place >> 5).part(part) & lower);
    }
    __device__ int part_of(int place) const {
        const Planes of = at(place >> 5);
        const int bit = place & 31;
        return (int)((of.a >> bit & 1) << 2 | (of.b >> bit & 1) << 1 | (of.c >> bit & 1));
    }
};

// The nodes of a level, those before it, and the eight parts that a node is divided into: part k begins at
// `begins`[8 node + k].
struct Level {
    Pointer<const int> first_point, point_count, depth_first, boxes;
    Pointer<int> begins;
    int depth, leaf_points;

    __device__ int first() const { return depth_first[depth]; }
    __device__ int end() const { return depth_first[depth + 1]; }
    __device__ Box box(int node) const { return {boxes + 6 * (int64)node}; }
    __device__ bool is_inner(int node) const {
        return point_count[node] > leaf_points && depth < BITS && (SPLIT == CELL_MIDDLE || !box(node).is_point());
    }
    __device__ bool is_divided(int node) const { return node >= first() && is_inner(node); }
    __device__ int end_of(int node) const { return first_point[node] + point_count[node]; }
    __device__ int begin(int node, int part) const {
        return part == 0 ? first_point[node] : part == 8 ? end_of(node) : begins[8 * (int64)node + part];
    }
    // The part of `8 >> stage` eighths that a place is in, after as many stages.
    __device__ int part_of(int node, int place, int stage) const {
        int part = 0;
        for (int width = 4; width > 4 >> stage; width /= 2) part += place >= begin(node, part + width) ? width : 0;
        return part;
    }
    // The node that a part became, of a node's children from `first_child` on: parts without points are none.
    __device__ int child_of(int node, int first_child, int part) const {
        int child = first_child;
        for (int k = 0; k < part; ++k) child += begin(node, k) < begin(node, k + 1) ? 1 : 0;
        return child;
    }
};
