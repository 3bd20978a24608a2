// The part of a triangle inside a box, and boxes of neighbours read together: what builders that cut primitives ask of
// a kind.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/triangle.cuh"

constexpr int MOST_CORNERS = 9;  // of a triangle that six planes have cut

// The corners of a convex polygon that planes across the axes cut (Sutherland and Hodgman 1974).
struct Polygon {
    float3 corners[MOST_CORNERS];
    int count;

    // Of another one what lies on one side of a plane: above it where `sign` is 1, below it where it is -1.
    __device__ __forceinline__ void cut_from(const Polygon& whole, int axis, float plane, float sign) {
        count = 0;
        if (whole.count == 0) return;
        float3 a = whole.corners[0];
#pragma unroll 1
        for (int i = 0; i < whole.count; ++i) {
            const float3 b = whole.corners[i + 1 == whole.count ? 0 : i + 1];
            const float from = (along(a, axis) - plane) * sign, to = (along(b, axis) - plane) * sign;
            if (from >= 0.0f && count < MOST_CORNERS) corners[count++] = a;
            if ((from < 0.0f) != (to < 0.0f) && count < MOST_CORNERS) {
                float3 point = a + (b - a) * (from / (from - to));
                set_along(point, axis, plane);
                corners[count++] = point;
            }
            a = b;
        }
    }
};

// The part of a triangle inside a box: which of two polygons it is in the end. Each thread of a warp takes the next of
// those faces that cut its own triangle.
__device__ __forceinline__ int clip_to_box(const Triangles::Shape& triangle, const Aabb& box, Polygon* parts) {
    const float3 low = min(min(triangle.a, triangle.b), triangle.c),
                 high = max(max(triangle.a, triangle.b), triangle.c);
    int faces = 0;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        if (along(low, axis) < along(box.lower, axis)) faces |= 1 << 2 * axis;
        if (along(high, axis) > along(box.upper, axis)) faces |= 2 << 2 * axis;
    }
    parts[0] = {{triangle.a, triangle.b, triangle.c}, 3};
    int now = 0;
#pragma unroll 1
    for (; faces != 0; faces &= faces - 1) {
        const int face = __ffs(faces) - 1, axis = face >> 1;
        const bool is_upper = (face & 1) != 0;
        parts[1 - now].cut_from(parts[now], axis, is_upper ? along(box.upper, axis) : along(box.lower, axis),
                                is_upper ? -1.0f : 1.0f);
        now = 1 - now;
    }
    return now;
}
__device__ __forceinline__ float3 slack_of(const Triangles::Shape& triangle) {
    const float3 a = triangle.a, b = triangle.b, c = triangle.c;
    return max(max(a, -a), max(max(b, -b), max(c, -c))) * POLYGON_SLACK;
}

// Bounds of the part of a shape inside a box, which is what the box becomes; false where no part is, and the box stays.
// What rounding may have lost is added, and never more than the box had.
__device__ __forceinline__ bool bound_inside(const Triangles::Shape& triangle, Aabb& box) {
    const float3 slack = slack_of(triangle);
    Polygon parts[2];
    const Polygon& part = parts[clip_to_box(triangle, {box.lower - slack, box.upper + slack}, parts)];
    Aabb bounds = empty_aabb();
    bool is_known = true;
#pragma unroll 1
    for (int i = 0; i < part.count; ++i) {
        is_known = is_known && is_finite(part.corners[i]);
        bounds = grow(bounds, part.corners[i]);
    }
    const Aabb inside = {max(bounds.lower - slack, box.lower), min(bounds.upper + slack, box.upper)};
    if (part.count > 0 && is_known && !is_empty(inside)) box = inside;
    return part.count > 0;
}

// A triangle and a box, both about the box's middle, and whether a direction parts them.
struct TriangleAndBox {
    float3 a, b, c, half;

    __device__ __forceinline__ bool are_parted(float3 direction) const {
        const float at_a = dot(a, direction), at_b = dot(b, direction), at_c = dot(c, direction);
        const float reach = dot(half, max(direction, -direction)) + LEAST_PARTED;
        return min(at_a, min(at_b, at_c)) > reach || max(at_a, max(at_b, at_c)) < -reach;
    }
    __device__ __forceinline__ bool are_parted_across(float3 edge) const {
        return are_parted(make_float3(0.0f, -edge.z, edge.y)) || are_parted(make_float3(edge.z, 0.0f, -edge.x)) ||
               are_parted(make_float3(-edge.y, edge.x, 0.0f));
    }
};

// False only where a triangle has no point in a box, which lies in the triangle's own (Akenine-Moeller, Fast 3D
// Triangle-Box Overlap Testing, 2001). Cheaper than bound_inside, and coordinates are at most 1e12. Directions may be
// rounded, as any that parts them will do; the box is larger by twice the slack: its middle, the corners about it and
// sums of three products take fewer than 32 roundings together.
__device__ __forceinline__ bool may_meet(const Triangles::Shape& triangle, const Aabb& box) {
    const float3 middle = centre(box), a = triangle.a - middle, b = triangle.b - middle, c = triangle.c - middle;
    const TriangleAndBox both = {a, b, c, (box.upper - box.lower) * 0.5f + slack_of(triangle) * 2.0f};
    return !both.are_parted(cross(b - a, c - a)) && !both.are_parted_across(b - a) && !both.are_parted_across(c - b) &&
           !both.are_parted_across(a - c);
}

// The boxes of THREADS triangles, the first of them at `first`, a thread each: the numbers of their vertices are read
// by neighbours and handed on through shared memory, where three words per thread never meet in one bank (6.4 of
// Kolodzey 2014; his triangles are nine floats in a row, without numbers). WITH_VERTICES: the vertices as well, nine
// words per thread, which meet in no bank either.
template <int THREADS, bool WITH_VERTICES>
__device__ __forceinline__ Aabb staged_box(const Triangles& triangles, int first) {
    SHARED int corners[3 * THREADS];
    const int count = min(THREADS, triangles.count - first), i = thread_index();
    block_sync();
    for (int word : block_stride(3 * count)) corners[word] = triangles.indices[3 * (int64)first + word];
    block_sync();
    if (WITH_VERTICES) {
        SHARED float words[9 * THREADS];
        for (int word : block_stride(9 * count))
            words[word] = triangles.positions[3 * (int64)corners[word / 3] + word % 3];
        block_sync();
        if (i >= count) return empty_aabb();
        const float* own = words + 9 * i;
        return Triangles::aabb_of(make_float3(own[0], own[1], own[2]), make_float3(own[3], own[4], own[5]),
                                  make_float3(own[6], own[7], own[8]));
    }
    if (i >= count) return empty_aabb();
    return Triangles::aabb_of(triangles.point(corners[3 * i]), triangles.point(corners[3 * i + 1]),
                              triangles.point(corners[3 * i + 2]));
}
