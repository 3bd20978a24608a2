// Vectors of lane packs, and where rays hit: the point, the triangle's own normal turned to the side the ray came from,
// and where rays go on.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/ray.cuh"

struct Real3 {
    Real x, y, z;
};
__device__ __forceinline__ Real3 operator+(Real3 a, Real3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Real3 operator-(Real3 a, Real3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Real3 operator*(Real3 a, Real3 b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ __forceinline__ Real3 operator*(Real3 a, Real s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ Real3 splat3(float x, float y, float z) { return {splat(x), splat(y), splat(z)}; }
// Three numbers of a row.
__device__ __forceinline__ Real3 splat3(const float* at) { return splat3(at[0], at[1], at[2]); }
__device__ __forceinline__ Real dot(Real3 a, Real3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Real3 cross(Real3 a, Real3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
__device__ __forceinline__ Real3 select(Mask mask, Real3 a, Real3 b) {
    return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}
__device__ __forceinline__ Real3 lerp(Real3 a, Real3 b, Real t) { return a + (b - a) * t; }

// A zero vector stays zero.
__device__ __forceinline__ Real3 normalize(Real3 a) {
    return a * (splat(1.0f) / lanes_sqrt(max(dot(a, a), splat(LEAST_LENGTH2))));
}

__device__ __forceinline__ Int gather_int(Pointer<const int> values, Int index) {
    Int found = splat_int(0);
#pragma unroll
    for (int i = 0; i < PACK; ++i) set_lane(found, i, values[lane(index, i)]);
    return found;
}
__device__ __forceinline__ Real3 gather3(Pointer<const float> values, Int index) {
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
__device__ __forceinline__ Real3 point_at(const Rays& rays, Real t) {
    return {rays.ox + rays.dx * t, rays.oy + rays.dy * t, rays.oz + rays.dz * t};
}

// Where a ray has hit a triangle. The point is made of the corners and not along the ray: it is as exact as they are,
// from however far the ray came.
struct SurfacePoint {
    Corners corners;
    Real u, v;  // weights of the second and the third corner
    Real3 point;
    // the triangle's own, of unit length, on the side the ray came from; zero for a degenerate triangle
    Real3 normal;
    Real size;  // the largest coordinate of the corners: rounding errors are a share of it
    Mask is_back;  // the ray came from where the corners go round clockwise, or from inside a sphere
};
__device__ __forceinline__ Real largest_coordinate(Real3 a) {
    return max(max(lanes_abs(a.x), lanes_abs(a.y)), lanes_abs(a.z));
}
// Its direction at a size whose square neither vanishes nor overflows.
__device__ __forceinline__ Real3 unscaled(Real3 a) {
    return a * (splat(1.0f) / max(largest_coordinate(a), splat(LEAST_COORDINATE)));
}

// `prim_id` of lanes without a hit must be any valid one.
LONG_ON_PACKS SurfacePoint surface_point(const float* positions, const int* triangles, Real3 direction, Int prim_id,
                                         Real u, Real v) {
    const Corners corners = gather_corners(triangles, prim_id);
    const Real3 a = gather3(positions, corners.a), b = gather3(positions, corners.b), c = gather3(positions, corners.c);
    const Real3 normal = normalize(unscaled(cross(b - a, c - a)));
    const Mask is_back = dot(normal, direction) > splat(0.0f);
    const Real size = max(max(largest_coordinate(a), largest_coordinate(b)), largest_coordinate(c));
    return {corners, u,      v, a + (b - a) * u + (c - a) * v, select(is_back, normal * splat(-1.0f), normal),
            size,    is_back};
}

// Where a ray begins that goes on from a hit: off the surface along its normal, on the side that `direction` leaves to,
// by so many rounding errors that the triangle is not met again (the idea is Waechter and Binder's, A Fast and Robust
// Method for Avoiding Self-Intersection, Ray Tracing Gems 2019). They move each coordinate by its own last bits and
// stop at a fixed length near zero; here the largest coordinate of the triangle is the measure, so that scenes of any
// size are alike: nothing in it is a length.
__device__ __forceinline__ Real3 offset_ray_origin(const SurfacePoint& at, Real3 direction) {
    const Real away = at.size * splat(ORIGIN_OFFSET);
    return at.point + at.normal * select(dot(at.normal, direction) < splat(0.0f), -away, away);
}
__device__ __forceinline__ Rays rays_from(const SurfacePoint& at, Real3 direction, Real t_max, Mask active) {
    const Real3 from = offset_ray_origin(at, direction);
    return make_rays(from.x, from.y, from.z, direction.x, direction.y, direction.z, splat(0.0f), t_max, active);
}
