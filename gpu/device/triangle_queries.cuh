// Triangles and regions of space: the point of a triangle that is nearest to a place, and whether it reaches into a
// box. A triangle is all of its points, edges and corners included; one without area is a line or a point.
#pragma once
#include "gpu/device/triangle.cuh"

// The point between a and b that is nearest to the origin.
__device__ __forceinline__ float3 nearest_on_edge(float3 a, float3 b) {
    const float3 along_edge = b - a;
    const float length2 = dot(along_edge, along_edge);
    const float t = length2 > 0.0f ? -dot(a, along_edge) / length2 : 0.0f;
    return t <= 0.0f ? a : t >= 1.0f ? b : a + along_edge * t;
}
__device__ __forceinline__ float3 nearer(float3 a, float3 b) { return dot(b, b) < dot(a, a) ? b : a; }

// From `point` to the nearest point of the triangle. All is done relative to `point`, so that rounding is a share of
// how far the corners are. What is found is a mean of the corners, hence never nearer than the triangle is: slivers,
// whose planes are noise, are met at their edges.
__device__ __forceinline__ float3 offset_to(const Triangles::Shape& shape, float3 point) {
    const float3 a = shape.a - point, b = shape.b - point, c = shape.c - point;
    const float3 on_edge = nearer(nearer(nearest_on_edge(a, b), nearest_on_edge(b, c)), nearest_on_edge(c, a));
    const float3 normal = cross(b - a, c - a), from = make_float3(0.0f, 0.0f, 0.0f);
    const float of_a = dot(cross(c - b, from - b), normal), of_b = dot(cross(a - c, from - c), normal),
                of_c = dot(cross(b - a, from - a), normal);
    if (!(of_a > 0.0f && of_b > 0.0f && of_c > 0.0f)) return on_edge;
    return nearer(on_edge, (a * of_a + b * of_b + c * of_c) * (1.0f / (of_a + of_b + of_c)));
}

// Whether all of the triangle lies on one side of the box, seen along `axis`; corners relative to the box's centre.
__device__ __forceinline__ bool is_separated(float3 axis, float3 a, float3 b, float3 c, float3 half) {
    const float at_a = dot(a, axis), at_b = dot(b, axis), at_c = dot(c, axis);
    const float reach = dot(half, max(axis, axis * -1.0f));
    return min(at_a, min(at_b, at_c)) > reach || max(at_a, max(at_b, at_c)) < -reach;
}
__device__ __forceinline__ bool is_separated_by_edge(float3 edge, float3 a, float3 b, float3 c, float3 half) {
    return is_separated(make_float3(0.0f, -edge.z, edge.y), a, b, c, half) ||
           is_separated(make_float3(edge.z, 0.0f, -edge.x), a, b, c, half) ||
           is_separated(make_float3(-edge.y, edge.x, 0.0f), a, b, c, half);
}

// Whether the triangle and the box have a point in common, which may be on both their surfaces (Akenine-Moeller, Fast
// 3D Triangle-Box Overlap Testing, 2001).
__device__ __forceinline__ bool reaches_into(const Triangles::Shape& shape, const Aabb& box) {
    const Aabb own = Triangles::aabb_of(shape.a, shape.b, shape.c);
    if (!overlap(own, box)) return false;
    const float3 middle = centre(box), half = (box.upper - box.lower) * 0.5f;
    const float3 a = shape.a - middle, b = shape.b - middle, c = shape.c - middle;
    return !is_separated_by_edge(b - a, a, b, c, half) && !is_separated_by_edge(c - b, a, b, c, half) &&
           !is_separated_by_edge(a - c, a, b, c, half) && !is_separated(cross(b - a, c - a), a, b, c, half);
}

// The same asked of many boxes of one size, about their centres: what is the same for all of them is worked out once.
// The directions across an edge and the axes hold a point's cross product with the edge for its coordinates.
struct EdgeAmongBoxes {
    float3 edge, lower, upper;

    __device__ __forceinline__ EdgeAmongBoxes(float3 of, float3 b, float3 c, float3 half) : edge(of) {
        const float3 at_a = make_float3(0.0f, 0.0f, 0.0f), at_b = cross(edge, b), at_c = cross(edge, c);
        const float3 size = max(edge, edge * -1.0f);
        const float3 reach = make_float3(size.y * half.z + size.z * half.y, size.z * half.x + size.x * half.z,
                                         size.x * half.y + size.y * half.x);
        lower = min(at_a, min(at_b, at_c)) - reach;
        upper = max(at_a, max(at_b, at_c)) + reach;
    }
    __device__ __forceinline__ bool parts(float3 centre) const {
        const float3 at = cross(edge, centre);
        return at.x < lower.x || at.x > upper.x || at.y < lower.y || at.y > upper.y || at.z < lower.z || at.z > upper.z;
    }
};
struct TriangleAmongBoxes {
    float3 corner, normal;
    EdgeAmongBoxes ab, bc, ca;
    float lower, upper;

    // Boxes touch the triangle's own, so that the axes part none.
    __device__ __forceinline__ TriangleAmongBoxes(const Triangles::Shape& of, float3 half)
        : corner(of.a),
          normal(cross(of.b - of.a, of.c - of.a)),
          ab(of.b - of.a, of.b - of.a, of.c - of.a, half),
          bc(of.c - of.b, of.b - of.a, of.c - of.a, half),
          ca(of.a - of.c, of.b - of.a, of.c - of.a, half) {
        const float at_b = dot(normal, of.b - of.a), at_c = dot(normal, of.c - of.a);
        const float reach = dot(half, max(normal, normal * -1.0f));
        lower = min(0.0f, min(at_b, at_c)) - reach;
        upper = max(0.0f, max(at_b, at_c)) + reach;
    }
    __device__ __forceinline__ bool meet(float3 centre) const {
        const float3 at = centre - corner;
        const float along_normal = dot(normal, at);
        return !(along_normal < lower || along_normal > upper || ab.parts(at) || bc.parts(at) || ca.parts(at));
    }
};
__device__ __forceinline__ TriangleAmongBoxes among_boxes(const Triangles::Shape& shape, float3 half) {
    return {shape, half};
}
