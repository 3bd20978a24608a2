// Smooth shading: interpolated normals, textures, and for every light Lambert's diffuse and Blinn-Phong's or Phong's
// specular reflection, with shadows.
//
// Metallic-roughness materials: diffuse colour base * (1 - metallic), specular colour from 0.04 to base. Blinn-Phong:
// the cosine of normal and half vector to the exponent 2 / roughness^4 - 2 (Walter et al. 2007's match to roughness),
// energy factor (exponent + 8) / (8 pi), times the light's cosine. Phong (1975): the cosine of the mirrored light and
// the eye to a quarter of that exponent, at which highlights are as large (Fisher and Woo 1994), energy factor
// (exponent + 2) / (2 pi), not times the light's cosine; none where the light is behind the surface. Radiance leaving
// is what the film sums.
// from gpu.shade.smooth import SmoothRow
#pragma once
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/interaction.cuh"

struct Reflector {
    Real3 diffuse, specular;
    Real exponent, factor;
    bool is_phong;
};
__device__ __forceinline__ Reflector make_reflector(const MaterialSample& m, bool is_phong) {
    const Real3 dielectric = splat3(0.04f, 0.04f, 0.04f);
    const Real alpha = max(m.roughness * m.roughness, splat(0.03f));
    const Real blinn = max(splat(2.0f) / (alpha * alpha) - splat(2.0f), splat(1.0f));
    const Real exponent = is_phong ? blinn * splat(0.25f) : blinn;
    const Real factor = is_phong ? (exponent + splat(2.0f)) * splat(1.0f / (2.0f * PI))
                                 : (exponent + splat(8.0f)) * splat(1.0f / (8.0f * PI));
    return {m.base_color * (splat(1.0f) - m.metallic), lerp(dielectric, m.base_color, m.metallic), exponent, factor,
            is_phong};
}

// `peak`: the cosine that the lobe is about.
__device__ __forceinline__ Real3 shine_of(const Reflector& surface, Real peak) {
    return surface.specular * (surface.factor * power_of(min(max(peak, splat(0.0f)), splat(1.0f)), surface.exponent));
}
__device__ __forceinline__ Real3 reflect_light(const Reflector& surface, Real3 normal, Real3 to_eye, Real3 to_light,
                                               Real3 irradiance) {
    const Real cosine = max(dot(normal, to_light), splat(0.0f));
    const Real3 matt = surface.diffuse * splat(1.0f / PI);
    if (surface.is_phong) {
        const Real3 shine = shine_of(surface, dot(normal * (splat(2.0f) * cosine) - to_light, to_eye));
        return (matt * cosine + select(cosine > splat(0.0f), shine, splat3(0.0f, 0.0f, 0.0f))) * irradiance;
    }
    return (matt + shine_of(surface, dot(normal, normalize(to_eye + to_light)))) * irradiance * cosine;
}

// What arrives of a light: all or nothing, by bit l of a word, or a share. No member of the latter points into the
// surface's struct.
struct ShadowBits {
    Int shadowed;
    __device__ __forceinline__ Real3 arriving(int l, Real3 light) const {
        const Mask dark = !((shadowed & (int)(1u << l)) == splat_int(0));
        return select(dark, splat3(0.0f, 0.0f, 0.0f), light);
    }
};
struct ShadowShares {
    Pointer<const float> shares;  // of the pack's first ray
    int64 plane;
    __device__ __forceinline__ Real3 arriving(int l, Real3 light) const { return light * load(shares + l * plane); }
};

template <class Shadows>
__device__ __forceinline__ Real3 shade_hits(const SurfaceView& surface, const float* options, Real3 direction, Mask hit,
                                            Int primitives, Real u, Real v, const Shadows& shadows) {
    const Interaction found = interaction_at(surface, direction, hit, primitives, u, v);
    const MaterialSample& material = found.material;
    const Real3 normal = found.shading_normal, to_eye = direction * splat(-1.0f), point = found.at.point;
    const Reflector reflector = make_reflector(material, options[SmoothRow::is_phong] != 0.0f);
    Real3 color = material.emission + (reflector.diffuse + reflector.specular) * splat3(options + SmoothRow::ambient);
    if (options[SmoothRow::headlight] != 0.0f)
        color = color + reflect_light(reflector, normal, to_eye, to_eye,
                                      splat3(PI, PI, PI) * splat(options[SmoothRow::headlight]));
    for (int l = 0; l < surface.light_count; ++l) {
        const LightSample light = sample_light(surface.lights + LightRow::FLOATS * l, point);
        const Real3 reflected = reflect_light(reflector, normal, to_eye, light.towards, light.irradiance);
        color = color + shadows.arriving(l, reflected);
    }
    return color;
}

// `shadows_of(first)`: what the hits of a pack have of the lights.
template <class ShadowsOf>
__device__ __forceinline__ void shade_film(const SurfaceView& surface, const EnvironmentView& environment,
                                           const ViewFrame* frame, const float* options, int pack_count,
                                           const int* prim_id, const float* u, const float* v, float* sums,
                                           const ShadowsOf& shadows_of) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 direction = direction_of(rays_of(camera, first));
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Real3 color = splat3(0.0f, 0.0f, 0.0f);
        if (any(!hit)) color = far_away(environment, options, direction);
        if (any(hit)) {
            const auto shadows = shadows_of(first);
            color = select(
                hit,
                shade_hits(surface, options, direction, hit, primitives, load(u + first), load(v + first), shadows),
                color);
        }
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
}
