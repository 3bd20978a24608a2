// What a diffuse ray brings back, and the colour they make together.
#pragma once
#include "gpu/shade/gather.cuh"

__device__ __forceinline__ Real3 diffuse_color(const MaterialSample& material) {
    return material.base_color * (splat(1.0f) - material.metallic);
}

// White where nothing was hit; else the diffuse term of Phong's model for all lights, which throw no shadows here. A
// scene without lights is lit from where the ray comes from.
__device__ __forceinline__ Real3 light_of_ray(const SurfaceView& surface, Real3 direction, Int prim_id, Real u,
                                              Real v) {
    const Mask hit = !(prim_id < splat_int(0));
    const Real3 white = splat3(1.0f, 1.0f, 1.0f);
    if (!any(hit)) return white;
    const Interaction found = interaction_at(surface, direction, hit, prim_id, u, v);
    Real3 light = splat3(0.0f, 0.0f, 0.0f);
    if (surface.light_count == 0) light = white * (max(-dot(found.shading_normal, direction), splat(0.0f)) * splat(PI));
    for (int l = 0; l < surface.light_count; ++l) {
        const LightSample sample = sample_light(surface.lights + LightRow::FLOATS * l, found.at.point);
        light = light + sample.irradiance * max(dot(found.shading_normal, sample.towards), splat(0.0f));
    }
    return select(hit, diffuse_color(found.material) * light * splat(1.0f / PI), white);
}

// Three planes of sums, in ray order.
__device__ __forceinline__ void add_sums(float* sums, int64 plane, int place, Real3 light, int i) {
    sums[place] += lane(light.x, i);
    sums[plane + place] += lane(light.y, i);
    sums[2 * plane + place] += lane(light.z, i);
}
