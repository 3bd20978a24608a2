// Lights as animate places them (tables.py): LIGHT_FLOATS numbers each.
//
//     place, or direction of a directional light | kind      colour | radius
//     direction | cosine where nothing is left               half the edge across | cosine up to where all is there       half the edge down | 0
//
// Lights are no part of the scene: rays do not hit them.
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/trace/hit_point.cuh"

constexpr int LIGHT_FLOATS = 20;
enum LightKind { POINT_LIGHT, DIRECTIONAL_LIGHT, SPOT_LIGHT, SPHERE_LIGHT, RECTANGLE_LIGHT };
// Whether different samples of a light lie apart: its shadows are soft.
__device__ __forceinline__ bool is_area_light(const float* light) { return light[3] >= (float)SPHERE_LIGHT; }

// `towards` is of unit length; `distance` FLOAT_MAX for a directional light. `irradiance` is what reaches a surface that faces the light: of an area
// light an estimate whose mean over (u, v) is right.
struct LightSample {
    Real3 towards;
    Real distance;
    Real3 irradiance;
};

// A direction of the cone that the sphere fills, evenly by solid angle (Pharr, Jakob and Humphreys 2016, 14.2.2); its radiance is the intensity
// over the area of its disc. A point inside sees the half sphere around the centre.
__device__ __forceinline__ LightSample sample_sphere_light(const float* light, Real3 away, Real squared, Real u, Real v) {
    const Real distance = lanes_sqrt(squared), radius = splat(light[7]);
    const Real3 axis = away * (splat(1.0f) / distance);
    const Real sine2 = min(radius * radius / squared, splat(1.0f));
    const Real widest = sine2 / (splat(1.0f) + lanes_sqrt(splat(1.0f) - sine2));   // 1 - cosine, exact for small spheres too
    const Real short_of_one = u * widest, cosine = splat(1.0f) - short_of_one;
    const Real sine = lanes_sqrt(max(short_of_one * (splat(2.0f) - short_of_one), splat(0.0f)));
    const Real3 side = normalize(select(lanes_abs(axis.x) < splat(0.7f), Real3{splat(0.0f), axis.z, -axis.y}, Real3{-axis.z, splat(0.0f), axis.x}));
    const SineCosine turn = sine_and_cosine(v);
    const Real3 towards = axis * cosine + (side * turn.cosine + cross(axis, side) * turn.sine) * sine;
    const Real reach = distance * cosine - lanes_sqrt(max(radius * radius - squared * sine * sine, splat(0.0f)));
    const Real solid_angle = widest * splat(2.0f * PI), disc = max(radius * radius * splat(PI), splat(1e-30f));
    return {towards, max(reach, splat(0.0f)), splat3(light[4], light[5], light[6]) * (solid_angle / disc)};
}

// One sample of a light from a point; `u`, `v` in [0, 1) choose a place on it.
LONG_ON_PACKS LightSample sample_light(const float* light, Real3 point, Real u, Real v) {
    const Real3 color = splat3(light[4], light[5], light[6]);
    const int kind = (int)light[3];
    if (kind == DIRECTIONAL_LIGHT) return {splat3(-light[0], -light[1], -light[2]), splat(FLOAT_MAX), color};
    Real3 place = splat3(light[0], light[1], light[2]);
    if (kind == RECTANGLE_LIGHT) {
        const Real s = u * splat(2.0f) - splat(1.0f), t = v * splat(2.0f) - splat(1.0f);
        place = place + splat3(light[12], light[13], light[14]) * s + splat3(light[16], light[17], light[18]) * t;
    }
    const Real3 away = place - point;
    const Real squared = max(dot(away, away), splat(1e-12f));
    if (kind == SPHERE_LIGHT && light[7] > 0.0f) return sample_sphere_light(light, away, squared, u, v);
    const Real distance = lanes_sqrt(squared);
    const Real3 towards = away * (splat(1.0f) / distance);
    Real share = splat(1.0f) / squared;
    if (kind == SPOT_LIGHT || kind == RECTANGLE_LIGHT) {
        const Real cosine = -dot(towards, splat3(light[8], light[9], light[10]));
        const Real inside = (cosine - splat(light[11])) * splat(1.0f / max(light[15] - light[11], 1e-4f));
        const Real falloff = min(max(inside, splat(0.0f)), splat(1.0f));
        share = share * (kind == SPOT_LIGHT ? falloff * falloff : max(cosine, splat(0.0f)));
    }
    return {towards, distance, color * share};
}
// Without numbers to choose by: an area light's middle.
__device__ __forceinline__ LightSample sample_light(const float* light, Real3 point) {
    return sample_light(light, point, splat((int)light[3] == SPHERE_LIGHT ? 0.0f : 0.5f), splat(0.5f));
}

// From a surface up to the light.
__device__ __forceinline__ Rays rays_to_light(const SurfacePoint& at, const LightSample& light, Mask active) {
    const Real t_max = select(light.distance < splat(FLOAT_MAX), light.distance * splat(0.9999f), splat(FLOAT_MAX));
    return rays_from(at, light.towards, t_max, active);
}
