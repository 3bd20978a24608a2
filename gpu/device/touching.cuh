// Whether two primitives have a point in common, which may be on both their surfaces. Triangles are all of their
// points, those without area lines or points; spheres are balls.
#pragma once
#include "gpu/device/mixed_queries.cuh"

// What is projected onto axes: both triangles, relative to a corner, in units of a power of two that is about as large
// as they are, so that products neither overflow nor vanish, and nothing is rounded by it.
struct TrianglePair {
    float3 p[3], q[3];

    __device__ __forceinline__ bool is_parted(float3 axis) const {
        const float p0 = dot(p[0], axis), p1 = dot(p[1], axis), p2 = dot(p[2], axis);
        const float q0 = dot(q[0], axis), q1 = dot(q[1], axis), q2 = dot(q[2], axis);
        return max(p0, max(p1, p2)) < min(q0, min(q1, q2)) || max(q0, max(q1, q2)) < min(p0, min(p1, p2));
    }
};

__device__ __forceinline__ float largest_of(float3 a) {
    return max(max(max(a.x, -a.x), max(a.y, -a.y)), max(a.z, -a.z));
}

__device__ __forceinline__ TrianglePair triangle_pair(const Triangles::Shape& s, const Triangles::Shape& t) {
    TrianglePair pair = {{make_float3(0.0f, 0.0f, 0.0f), s.b - s.a, s.c - s.a}, {t.a - s.a, t.b - s.a, t.c - s.a}};
    float size = 0.0f;
    for (int i = 0; i < 3; ++i) size = max(size, max(largest_of(pair.p[i]), largest_of(pair.q[i])));
    const float scale = __int_as_float(0x7f000000 - (__float_as_int(size) & 0x7f800000));  // 1 / its power of two
    for (int i = 0; i < 3; ++i) {
        pair.p[i] = pair.p[i] * scale;
        pair.q[i] = pair.q[i] * scale;
    }
    return pair;
}

// Axes that part convex shapes (Gottschalk, Lin and Manocha, OBBTree, 1996): normals, and products of edges. Where all
// of these lie along one line, as of triangles in a plane, the edges' normals in that plane; where all edges lie along
// one line, that line, and the way across to the other one.
__device__ __forceinline__ bool touches(const Triangles::Shape& s, const Triangles::Shape& t) {
    const TrianglePair pair = triangle_pair(s, t);
    const float3 e[3] = {pair.p[1], pair.p[2] - pair.p[1], pair.p[0] - pair.p[2]};
    const float3 f[3] = {pair.q[1] - pair.q[0], pair.q[2] - pair.q[1], pair.q[0] - pair.q[2]};
    const float3 normals[2] = {cross(e[0], e[1]), cross(f[0], f[1])};
    if (pair.is_parted(normals[0]) || pair.is_parted(normals[1])) return false;
    float3 plane = dot(normals[1], normals[1]) > dot(normals[0], normals[0]) ? normals[1] : normals[0], line = e[0];
#pragma unroll 1
    for (int i = 0; i < 3; ++i) {
#pragma unroll 1
        for (int j = 0; j < 3; ++j) {
            const float3 axis = cross(e[i], f[j]);
            if (pair.is_parted(axis)) return false;
            if (dot(axis, axis) > dot(plane, plane)) plane = axis;
        }
        if (dot(e[i], e[i]) > dot(line, line)) line = e[i];
        if (dot(f[i], f[i]) > dot(line, line)) line = f[i];
    }
#pragma unroll 1
    for (int i = 0; i < 3; ++i) {
        if (pair.is_parted(cross(plane, e[i])) || pair.is_parted(cross(plane, f[i]))) return false;
    }
    const float length2 = dot(line, line);
    const float3 away = pair.q[0], across = length2 > 0.0f ? away - line * (dot(away, line) / length2) : away;
    return !pair.is_parted(line) && !pair.is_parted(across);
}

__device__ __forceinline__ bool touches(const Spheres::Shape& s, const Spheres::Shape& t) {
    const float3 away = t.centre - s.centre;
    const float reach = s.radius + t.radius;
    return dot(away, away) <= reach * reach;
}

__device__ __forceinline__ bool touches(const Spheres::Shape& sphere, const Triangles::Shape& triangle) {
    const float3 to = offset_to(triangle, sphere.centre);
    return dot(to, to) <= sphere.radius * sphere.radius;
}
__device__ __forceinline__ bool touches(const Triangles::Shape& triangle, const Spheres::Shape& sphere) {
    return touches(sphere, triangle);
}

template <class Shape>
__device__ __forceinline__ bool touches(const Mixed::Shape& s, const Shape& t) {
    return s.is_sphere ? touches(s.sphere(), t) : touches(s.triangle(), t);
}
__device__ __forceinline__ bool touches(const Triangles::Shape& s, const Mixed::Shape& t) {
    return t.is_sphere ? touches(s, t.sphere()) : touches(s, t.triangle());
}
__device__ __forceinline__ bool touches(const Spheres::Shape& s, const Mixed::Shape& t) {
    return t.is_sphere ? touches(s, t.sphere()) : touches(s, t.triangle());
}
