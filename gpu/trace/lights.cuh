// Lights as animate places them, a LightRow each. They are no part of the scene: rays do not hit them.
// from gpu.light_row import LightRow
// from gpu.scene import LIGHT_KINDS
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/trace/hit_point.cuh"

static_assert(LIGHT_KINDS::sphere > LIGHT_KINDS::spot && LIGHT_KINDS::rectangle > LIGHT_KINDS::sphere,
              "lights with an area are the last");
// Whether different samples of a light lie apart: its shadows are soft.
__device__ __forceinline__ bool is_area_light(const float* light) {
    return light[LightRow::kind] >= (float)LIGHT_KINDS::sphere;
}

// `towards` is of unit length; `distance` FLOAT_MAX for a directional light. `irradiance` is what reaches a surface
// that faces the light: of an area light an estimate whose mean over (u, v) is right. `cosine`: to the surface that the
// light lies in, 1 where it lies in none.
struct LightSample {
    Real3 towards;
    Real distance;
    Real3 irradiance;
    Real cosine;
};

// A direction of the cone that the sphere fills, evenly by solid angle (Pharr, Jakob and Humphreys 2016, 14.2.2); its
// radiance is the intensity over the area of its disc. A point inside sees the half sphere around the centre.
__device__ __forceinline__ LightSample sample_sphere_light(const float* light, Real3 away, Real squared, Real u,
                                                           Real v) {
    const Real distance = lanes_sqrt(squared), radius = splat(light[LightRow::radius]);
    const Real3 axis = away * (splat(1.0f) / distance);
    const Real sine2 = min(radius * radius / squared, splat(1.0f));
    // 1 - cosine, exact for small spheres too
    const Real widest = sine2 / (splat(1.0f) + lanes_sqrt(splat(1.0f) - sine2));
    const Real short_of_one = u * widest, cosine = splat(1.0f) - short_of_one;
    const Real sine = lanes_sqrt(max(short_of_one * (splat(2.0f) - short_of_one), splat(0.0f)));
    const Real3 side = normalize(select(lanes_abs(axis.x) < splat(0.7f), Real3{splat(0.0f), axis.z, -axis.y},
                                        Real3{-axis.z, splat(0.0f), axis.x}));
    const SineCosine turn = sine_and_cosine(v);
    const Real3 towards = axis * cosine + (side * turn.cosine + cross(axis, side) * turn.sine) * sine;
    const Real reach = distance * cosine - lanes_sqrt(max(radius * radius - squared * sine * sine, splat(0.0f)));
    const Real solid_angle = widest * splat(2.0f * PI), disc = max(radius * radius * splat(PI), splat(LEAST_DIVISOR));
    return {towards, max(reach, splat(0.0f)), splat3(light + LightRow::color) * (solid_angle / disc), splat(1.0f)};
}

// One sample of a light from a point; `u`, `v` in [0, 1) choose a place on it.
LONG_ON_PACKS LightSample sample_light(const float* light, Real3 point, Real u, Real v) {
    const Real3 color = splat3(light + LightRow::color);
    const int kind = (int)light[LightRow::kind];
    const float* at = light + LightRow::place;
    if (kind == LIGHT_KINDS::directional) return {splat3(-at[0], -at[1], -at[2]), splat(FLOAT_MAX), color, splat(1.0f)};
    Real3 place = splat3(at);
    if (kind == LIGHT_KINDS::rectangle) {
        const Real s = u * splat(2.0f) - splat(1.0f), t = v * splat(2.0f) - splat(1.0f);
        place = place + splat3(light + LightRow::across) * s + splat3(light + LightRow::down) * t;
    }
    const Real3 away = place - point;
    const Real squared = max(dot(away, away), splat(LEAST_LIGHT_DISTANCE2));
    if (kind == LIGHT_KINDS::sphere && light[LightRow::radius] > 0.0f)
        return sample_sphere_light(light, away, squared, u, v);
    const Real distance = lanes_sqrt(squared);
    const Real3 towards = away * (splat(1.0f) / distance);
    Real share = splat(1.0f) / squared, of_surface = splat(1.0f);
    if (kind == LIGHT_KINDS::spot || kind == LIGHT_KINDS::rectangle) {
        const Real cosine = -dot(towards, splat3(light + LightRow::direction));
        const float outside = light[LightRow::cosine_outside], full = light[LightRow::cosine_inside];
        const Real inside = (cosine - splat(outside)) * splat(1.0f / max(full - outside, LEAST_SPOT_EDGE));
        const Real falloff = min(max(inside, splat(0.0f)), splat(1.0f));
        share = share * (kind == LIGHT_KINDS::spot ? falloff * falloff : max(cosine, splat(0.0f)));
        if (kind == LIGHT_KINDS::rectangle) of_surface = cosine;
    }
    return {towards, distance, color * share, of_surface};
}
// Without numbers to choose by: an area light's middle.
__device__ __forceinline__ LightSample sample_light(const float* light, Real3 point) {
    return sample_light(light, point, splat((int)light[LightRow::kind] == LIGHT_KINDS::sphere ? 0.0f : 0.5f),
                        splat(0.5f));
}

// How much before a light a ray ends that starts where coordinates are at most `size`: as much as makes a height of
// LIGHT_OFFSET above the light's surface, edge-on all of the way.
__device__ __forceinline__ Real shadow_gap(Real size, Real distance, Real cosine) {
    return (size + distance) * splat(LIGHT_OFFSET) / max(cosine, splat(LEAST_COSINE));
}
// From a surface up to a light, `gap` before it. The ray starts off the surface, so it is aimed anew from there.
__device__ __forceinline__ Rays rays_to_light(const SurfacePoint& at, Real3 towards, Real distance, Real gap,
                                              Mask active) {
    const Real3 from = offset_ray_origin(at, towards);
    const Mask is_near = distance < splat(FLOAT_MAX);
    const Real3 away = towards * select(is_near, distance, splat(1.0f)) - (from - at.point);
    const Real squared = dot(away, away), length = lanes_sqrt(max(squared, splat(LEAST_DISTANCE2)));
    const Mask is_aimed = is_near & (squared > splat(LEAST_DISTANCE2));
    const Real3 direction = select(is_aimed, away * (splat(1.0f) / length), towards);
    const Real t_max = select(is_near, max(length - gap, splat(0.0f)), splat(FLOAT_MAX));
    return make_rays(from.x, from.y, from.z, direction.x, direction.y, direction.z, splat(0.0f), t_max, active);
}
__device__ __forceinline__ Rays rays_to_light(const SurfacePoint& at, const LightSample& light, Mask active) {
    return rays_to_light(at, light.towards, light.distance, shadow_gap(at.size, light.distance, light.cosine), active);
}
