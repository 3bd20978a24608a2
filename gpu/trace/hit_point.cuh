// Vectors of lane packs, and where rays hit: the point, and the triangle's own normal turned to the side the ray came from.
#pragma once
#include "gpu/device/ray.cuh"

struct Real3 {
    Real x, y, z;
};
__device__ __forceinline__ Real3 operator+(Real3 a, Real3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Real3 operator-(Real3 a, Real3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Real3 operator*(Real3 a, Real3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ __forceinline__ Real3 operator*(Real3 a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ Real3 splat3(float x, float y, float z) { return {splat(x), splat(y), splat(z)}; }
__device__ __forceinline__ Real dot(Real3 a, Real3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Real3 cross(Real3 a, Real3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Real3 select(Mask mask, Real3 a, Real3 b) { return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)}; }
__device__ __forceinline__ Real3 lerp(Real3 a, Real3 b, Real t) { return a + (b - a) * t; }

// A zero vector stays zero.
__device__ __forceinline__ Real3 normalize(Real3 a) { return a * (splat(1.0f) / lanes_sqrt(max(dot(a, a), splat(1e-36f)))); }

__device__ __forceinline__ Int gather_int(const int* values, Int index) {
    Int found = splat_int(0);
#pragma unroll
    for (int i = 0; i < PACK; ++i) set_lane(found, i, values[lane(index, i)]);
    return found;
}
__device__ __forceinline__ Real3 gather3(const float* values, Int index) {
    const Int at = index + index + index;
    return {gather(values, at), gather(values + 1, at), gather(values + 2, at)};
}

struct Corners {
    Int a, b, c;
};
__device__ __forceinline__ Corners gather_corners(const int* triangles, Int prim_id) {
    const Int at = prim_id + prim_id + prim_id;
    return {gather_int(triangles, at), gather_int(triangles + 1, at), gather_int(triangles + 2, at)};
}

// Along the triangle's normal, as long as twice its area; zero for a degenerate triangle.
__device__ __forceinline__ Real3 triangle_area_vector(const float* positions, const Corners& corners) {
    const Real3 a = gather3(positions, corners.a);
    return cross(gather3(positions, corners.b) - a, gather3(positions, corners.c) - a);
}
__device__ __forceinline__ Real3 triangle_normal(const float* positions, const Corners& corners) {
    return normalize(triangle_area_vector(positions, corners));
}

__device__ __forceinline__ Real3 direction_of(const Rays& rays) { return {rays.dx, rays.dy, rays.dz}; }
__device__ __forceinline__ Real3 point_at(const Rays& rays, Real t) { return {rays.ox + rays.dx * t, rays.oy + rays.dy * t, rays.oz + rays.dz * t}; }

// A light as animate places it: eight floats. `towards` is of unit length; `distance` FLOAT_MAX for a directional light.
struct LightSample {
    Real3 towards;
    Real distance;
    Real3 irradiance;
};
__device__ __forceinline__ LightSample sample_light(const float* light, Real3 point) {
    const Real3 color = splat3(light[4], light[5], light[6]);
    if (light[3] != 0.0f) return {splat3(-light[0], -light[1], -light[2]), splat(FLOAT_MAX), color};
    const Real3 away = splat3(light[0], light[1], light[2]) - point;
    const Real squared = max(dot(away, away), splat(1e-12f));
    const Real distance = lanes_sqrt(squared);
    return {away * (splat(1.0f) / distance), distance, color * (splat(1.0f) / squared)};
}
