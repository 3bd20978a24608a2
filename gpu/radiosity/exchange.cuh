// What a point receives of what another one sends: the kernel of radiosity between two points,
//
//     G_i = sum over j of  max(n_i . r, 0) max(-n_j . r, 0) / (r^2 max(pi r^2, A))  A_j L_j,    r = x_j - x_i
//
// with both cosines clamped at 0. G is irradiance over pi: what is reflected is reflectance times G, as radiance. A is
// the mean of both areas: without it a point would receive more of one beside it than that sends. It is the most that
// a disc of that area gives, and only below its radius, so that the kernel is exact from there on and the same from
// either side (docs/decisions/radiosity.md).
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/fast_math.cuh"
#include "gpu/trace/hit_point.cuh"

// A pack of points that receive.
struct Receivers {
    Real3 place, normal;
    Real area;
};
// Points `first` and those that follow; past `last` the last one again.
__device__ __forceinline__ Receivers load_receivers(const float4* places, const float4* normals, int first, int last) {
    Receivers r = {};
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        const int at = min(first + i, last);
        const float4 place = places[at], normal = normals[at];
        set_lane(r.place.x, i, place.x);
        set_lane(r.place.y, i, place.y);
        set_lane(r.place.z, i, place.z);
        set_lane(r.area, i, place.w);
        set_lane(r.normal.x, i, normal.x);
        set_lane(r.normal.y, i, normal.y);
        set_lane(r.normal.z, i, normal.z);
    }
    return r;
}

// What one point sends to a pack of receivers, for each unit of its area times radiance.
__device__ __forceinline__ Real exchange(const Receivers& to, const float4& place, const float4& normal) {
    const Real3 r = {splat(place.x) - to.place.x, splat(place.y) - to.place.y, splat(place.z) - to.place.z};
    const Real squared = dot(r, r);
    const Real arrives = max(dot(to.normal, r), splat(0.0f));
    const Real leaves = max(-(r.x * splat(normal.x) + r.y * splat(normal.y) + r.z * splat(normal.z)), splat(0.0f));
    const Real disc = max(squared * splat(PI), (to.area + splat(place.w)) * splat(0.5f));
    return fast_divide(arrives * leaves, max(squared * disc, splat(LEAST_DIVISOR)));
}

__device__ __forceinline__ void store_gathered(float4* gathered, int first, int last, Real3 sum) {
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (first + i <= last) gathered[first + i] = make_float4(lane(sum.x, i), lane(sum.y, i), lane(sum.z, i), 0.0f);
    }
}
