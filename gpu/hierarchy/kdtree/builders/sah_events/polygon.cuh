// The part of a primitive inside a box.
#pragma once
#include "gpu/hierarchy/kdtree/nodes.cuh"

constexpr int MOST_CORNERS = 9;  // of a triangle that six planes have cut

// The corners of a convex polygon that planes across the axes cut (Sutherland and Hodgman 1974).
struct Polygon {
    float3 corners[MOST_CORNERS];
    int count;

    // Keep what lies on one side of a plane: above it where `sign` is 1, below it where it is -1.
    __device__ __forceinline__ void cut(int axis, float plane, float sign) {
        Polygon kept;
        kept.count = 0;
        for (int i = 0; i < count; ++i) {
            const float3 a = corners[i], b = corners[i + 1 == count ? 0 : i + 1];
            const float from = (along(a, axis) - plane) * sign, to = (along(b, axis) - plane) * sign;
            if (from >= 0.0f && kept.count < MOST_CORNERS) kept.corners[kept.count++] = a;
            if ((from < 0.0f) == (to < 0.0f) || kept.count == MOST_CORNERS) continue;
            float3 point = a + (b - a) * (from / (from - to));
            set_along(point, axis, plane);
            kept.corners[kept.count++] = point;
        }
        *this = kept;
    }
};

template <class Shape> __device__ __forceinline__ Polygon part_inside(const Shape& triangle, const Aabb& box) {
    Polygon part = {{triangle.a, triangle.b, triangle.c}, 3};
    for (int axis = 0; axis < 3; ++axis) {
        part.cut(axis, along(box.lower, axis), 1.0f);
        part.cut(axis, along(box.upper, axis), -1.0f);
    }
    return part;
}
template <class Shape> __device__ __forceinline__ float3 slack_of(const Shape& triangle) {
    const float3 a = triangle.a, b = triangle.b, c = triangle.c;
    return max(max(a, -a), max(max(b, -b), max(c, -c))) * 4.8e-7f;
}

// Whether a shape reaches into a box, or may do so but for roundings.
template <class Shape> __device__ __forceinline__ bool reaches(const Shape& triangle, const Aabb& box, decltype(Shape::a)* = nullptr) {
    const float3 slack = slack_of(triangle);
    return part_inside(triangle, {box.lower - slack, box.upper + slack}).count > 0;
}
template <class Shape> __device__ __forceinline__ bool reaches(const Shape& sphere, const Aabb& box, decltype(Shape::radius)* = nullptr) {
    const float3 away = max(max(box.lower - sphere.centre, sphere.centre - box.upper), make_float3(0.0f, 0.0f, 0.0f));
    return dot(away, away) <= sphere.radius * sphere.radius * 1.000002f;
}

// Bounds of the part of a shape inside a box; what rounding may have lost is added, and never more than the box is given.
template <class Shape> __device__ __forceinline__ Aabb bounds_inside(const Shape& triangle, const Aabb& box, decltype(Shape::a)* = nullptr) {
    const Polygon part = part_inside(triangle, box);
    Aabb bounds = empty_aabb();
    bool is_known = part.count > 0;
    for (int i = 0; i < part.count; ++i) {
        is_known = is_known && is_finite(part.corners[i]);
        bounds = grow(bounds, part.corners[i]);
    }
    const float3 slack = slack_of(triangle);
    const Aabb inside = {max(bounds.lower - slack, box.lower), min(bounds.upper + slack, box.upper)};
    return is_known && !is_empty(inside) ? inside : box;
}
template <class Shape> __device__ __forceinline__ Aabb bounds_inside(const Shape& sphere, const Aabb& box, decltype(Shape::radius)* = nullptr) {
    Aabb inside = box;
    for (int axis = 0; axis < 3; ++axis) {
        float left = sphere.radius * sphere.radius;  // of the radius' square, where the box is farther off along the other axes
        for (int other = 0; other < 3; ++other) {
            const float centre = along(sphere.centre, other);
            const float away = max(max(along(box.lower, other) - centre, centre - along(box.upper, other)), 0.0f);
            if (other != axis) left -= away * away;
        }
        const float centre = along(sphere.centre, axis), reach = sqrtf(max(left, 0.0f));
        const float slack = (max(centre, -centre) + sphere.radius) * 4.8e-7f;
        set_along(inside.lower, axis, max(along(box.lower, axis), centre - reach - slack));
        set_along(inside.upper, axis, min(along(box.upper, axis), centre + reach + slack));
    }
    return is_finite(inside.lower) && is_finite(inside.upper) && !is_empty(inside) ? inside : box;
}

