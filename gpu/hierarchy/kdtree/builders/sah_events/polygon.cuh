// The part of a primitive inside a box.
#pragma once
#include "gpu/hierarchy/kdtree/nodes.cuh"

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

// The part of a triangle inside a box: which of two polygons it is in the end. Each thread of a warp takes the next of those faces that cut its own triangle.
template <class Shape> __device__ __forceinline__ int part_inside(const Shape& triangle, const Aabb& box, Polygon* parts) {
    const float3 low = min(min(triangle.a, triangle.b), triangle.c), high = max(max(triangle.a, triangle.b), triangle.c);
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
        parts[1 - now].cut_from(parts[now], axis, is_upper ? along(box.upper, axis) : along(box.lower, axis), is_upper ? -1.0f : 1.0f);
        now = 1 - now;
    }
    return now;
}
template <class Shape> __device__ __forceinline__ float3 slack_of(const Shape& triangle) {
    const float3 a = triangle.a, b = triangle.b, c = triangle.c;
    return max(max(a, -a), max(max(b, -b), max(c, -c))) * 9.6e-7f;
}

// Bounds of the part of a shape inside a box, which is what the box becomes; false where no part is, and the box stays. What rounding may have lost is
// added, and never more than the box had.
template <class Shape> __device__ __forceinline__ bool bound_inside(const Shape& triangle, Aabb& box, decltype(Shape::a)* = nullptr) {
    const float3 slack = slack_of(triangle);
    Polygon parts[2];
    const Polygon& part = parts[part_inside(triangle, {box.lower - slack, box.upper + slack}, parts)];
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
template <class Shape> __device__ __forceinline__ bool bound_inside(const Shape& sphere, Aabb& box, decltype(Shape::radius)* = nullptr) {
    const float3 away = max(max(box.lower - sphere.centre, sphere.centre - box.upper), make_float3(0.0f, 0.0f, 0.0f));
    if (dot(away, away) > sphere.radius * sphere.radius * 1.000002f) return false;
    Aabb inside = box;
    for (int axis = 0; axis < 3; ++axis) {
        float left = sphere.radius * sphere.radius;  // of the radius' square, where the box is farther off along the other axes
        for (int other = 0; other < 3; ++other) {
            if (other != axis) left -= along(away, other) * along(away, other);
        }
        const float centre = along(sphere.centre, axis), reach = sqrtf(max(left, 0.0f));
        const float slack = (max(centre, -centre) + sphere.radius) * 4.8e-7f;
        set_along(inside.lower, axis, max(along(box.lower, axis), centre - reach - slack));
        set_along(inside.upper, axis, min(along(box.upper, axis), centre + reach + slack));
    }
    if (is_finite(inside.lower) && is_finite(inside.upper) && !is_empty(inside)) box = inside;
    return true;
}
