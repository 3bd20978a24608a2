// One step of recursive ray tracing (Whitted, An Improved Illumination Model for Shaded Display, 1980), in lane packs:
// what a ray sees where it hits, and the rays that go on from there, each with its weight. Nothing is traced here.
//
// Materials scatter as bsdf.cuh says. Lights are added by its diffuse and glossy lobes; a mirror's share of the glossy
// lobe is followed by a ray instead, sharp (`whitted`) or spread as the lobe is (`distributed`: Cook, Porter and
// Carpenter, Distributed Ray Tracing, 1984).
// from gpu.light_row import MAX_LIGHTS
// from gpu.shade.materials import MEDIUM_BITS
// from gpu.shade.whitted import WhittedRow
// from gpu.shade.whitted_wavefront import KINDS_OF_RAYS
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/bsdf.cuh"
#include "gpu/shade/interaction.cuh"
#include "gpu/shade/sampling.cuh"
#include "gpu/trace/on_primitive.cuh"

// Dimensions of the samples' sequence.
constexpr int LENS_DIMENSION = 2, GLOSS_DIMENSION = 16, LIGHT_DIMENSION = 64, LIGHTS_A_DEPTH = MAX_LIGHTS;

// Counters of rays: of each depth one per kind.
enum RayKind { SHADOW_RAYS, REFLECTED_RAYS, TRANSMITTED_RAYS };

// A ray that waits: what it is inside of (`media`: 15 bits the material's number and one, above them that of what lies
// around it) and how much of what it finds is seen.
struct WaitingRay {
    Real3 from, direction, weight;
    Int media;
    Mask active;
    int depth;
};

struct WhittedStep {
    Real3 color;  // seen here, weighed
    WaitingRay reflected, transmitted;
};

__device__ __forceinline__ Real largest_of(Real3 color) { return max(max(color.x, color.y), color.z); }

// -- what rays are inside of -----------------------------------------------------------------------------
constexpr int MEDIUM_MASK = (1 << MEDIUM_BITS) - 1;
__device__ __forceinline__ Int medium_of(Int media) { return media & MEDIUM_MASK; }
__device__ __forceinline__ Int medium_around(Int media) { return (media >> MEDIUM_BITS) & MEDIUM_MASK; }
__device__ __forceinline__ Int record_of_medium(Int medium) {
    return select(splat_int(0) < medium, medium + splat_int(-1), splat_int(0)) * splat_int(MaterialRow::FLOATS);
}
__device__ __forceinline__ Real ior_of_medium(const SurfaceView& surface, Int media) {
    const Int medium = medium_of(media);
    return select(splat_int(0) < medium, gather(surface.materials + MaterialRow::ior, record_of_medium(medium)),
                  splat(1.0f));
}
__device__ __forceinline__ Int inside_of(Int media, Int medium) { return (medium_of(media) << MEDIUM_BITS) | medium; }
// Bodies may overlap, and a camera may stand in one: what is left is taken out wherever it is, and what was never
// entered is no loss.
__device__ __forceinline__ Int outside_of(Int media, Int medium) {
    const Int without_around = select(medium_around(media) == medium, medium_of(media), media);
    return select(medium_of(media) == medium, medium_around(media), without_around);
}
// What a medium leaves of light over a distance (Beer's law); all of it outside of everything.
LONG_ON_PACKS Real3 transmittance(const SurfaceView& surface, Int medium, Real distance) {
    const Mask inside = splat_int(0) < medium;
    const Int record = record_of_medium(medium);
    const Real way = select(inside, distance, splat(0.0f)) * splat(-1.442695041f);
    const float* absorption = surface.materials + MaterialRow::absorption;
    return {exp2_of(gather(absorption, record) * way), exp2_of(gather(absorption + 1, record) * way),
            exp2_of(gather(absorption + 2, record) * way)};
}

// -- surfaces --------------------------------------------------------------------------------------------
// How a surface takes part in a step.
struct WhittedSurface {
    Bsdf bsdf;
    Basis basis;
    Real3 out;  // to where the ray came from, in the basis; z > 0
    Real mirror;  // the share of the glossy lobe that a ray follows
    Mask glass, thin;
    Int beyond;  // the media on the other side
};

LONG_ON_PACKS WhittedSurface whitted_surface(const SurfaceView& surface, const float* options, const Interaction& hit,
                                             Int material_id, Int media) {
    WhittedSurface s;
    const MaterialSample& m = hit.material;
    s.basis = basis_around(hit.shading_normal);
    const Real3 to_eye = hit.direction * splat(-1.0f);
    s.out = {dot(to_eye, s.basis.tangent), dot(to_eye, s.basis.bitangent),
             max(dot(to_eye, s.basis.normal), splat(LEAST_EYE_COSINE))};
    s.glass = s.thin = splat_mask(false);
    s.beyond = media;
    Real index = m.ior;
    if (surface.features & MaterialFeatures::GLASS) {
        s.glass = hit.hit & (m.transmission > splat(0.0f));
        s.thin = s.glass & (gather(surface.materials + MaterialRow::is_thin, m.record) > splat(0.5f));
        const Int medium = material_id + splat_int(1);
        const Mask leaves = s.glass & hit.at.is_back & !s.thin, enters = s.glass & !hit.at.is_back & !s.thin;
        s.beyond = select(leaves, outside_of(media, medium), select(enters, inside_of(media, medium), media));
        const Real here = ior_of_medium(surface, media), there = ior_of_medium(surface, s.beyond);
        index = select(leaves, there / m.ior, select(s.thin, m.ior, m.ior / here));
    }
    s.bsdf = make_bsdf(surface.gloss, m.base_color, m.metallic, m.roughness, m.transmission, index, s.out.z);
    // Sharp rays follow what is smooth: all of it up to a roughness of 0.1, nothing from 0.5 on.
    const Real rough = min(max((m.roughness - splat(0.1f)) * splat(2.5f), splat(0.0f)), splat(1.0f));
    s.mirror = options[WhittedRow::is_glossy] != 0.0f
                   ? splat(1.0f)
                   : select(s.glass, splat(1.0f), splat(1.0f) - rough * rough * (splat(3.0f) - rough * splat(2.0f)));
    return s;
}

// Light that reaches the surface from all sides alike, but from where rays are followed to.
__device__ __forceinline__ Real3 ambient_reflectance(const WhittedSurface& s) {
    const Real3 whole = splat3(1.0f, 1.0f, 1.0f),
                fresnel = bsdf_fresnel(s.bsdf, min(s.out.z, splat(1.0f)),
                                       dielectric_fresnel(s.bsdf.index, min(s.out.z, splat(1.0f))));
    const Real diffuse = (splat(1.0f) - s.bsdf.metallic) * (splat(1.0f) - s.bsdf.transmission);
    return s.bsdf.base * (whole - fresnel) * diffuse + fresnel * (splat(1.0f) - s.mirror);
}
// Light of an irradiance from a direction: what of it goes where the ray came from.
__device__ __forceinline__ Real3 reflected_light(const WhittedSurface& s, const Interaction& hit, Real3 towards,
                                                 Real3 irradiance) {
    const Real3 in = {dot(towards, s.basis.tangent), dot(towards, s.basis.bitangent), dot(towards, s.basis.normal)};
    const Mask above = (in.z > splat(LEAST_COSINE)) & (dot(hit.at.normal, towards) > splat(0.0f));
    const Real3 value = evaluate_reflection(s.bsdf, s.out, in).value;
    return select(above, value * irradiance, splat3(0.0f, 0.0f, 0.0f));
}

// -- rays that go on -------------------------------------------------------------------------------------
__device__ __forceinline__ Real3 in_world(const WhittedSurface& s, Real3 local) {
    return along(s.basis, local.x, local.y, local.z);
}
// A direction that the triangle itself would stop is turned back over it.
__device__ __forceinline__ Real3 on_side(Real3 direction, Real3 normal, Real wanted) {
    const Real height = dot(direction, normal) * wanted;
    return direction +
           normal * (select(height > splat(LEAST_HEIGHT), splat(0.0f), splat(TURNED_HEIGHT) - height * splat(2.0f)) *
                     wanted);
}

// Masking and shadowing (G2 / G1) of a ray mirrored at a visible normal.
__device__ __forceinline__ Real masking_of_mirrored(const WhittedSurface& s, Real3 mirrored) {
    const Real lambda = ggx_lambda(s.bsdf.alpha, s.out);
    const Real rough = (splat(1.0f) + lambda) / (splat(1.0f) + lambda + ggx_lambda(s.bsdf.alpha, mirrored));
    return select(s.bsdf.mirror, splat(1.0f), select(mirrored.z > splat(0.0f), rough, splat(0.0f)));
}

// Rays mirrored and refracted at the normal, or at one of the glossy lobe's. A ray too weak to be seen, or too deep, is
// ambient light instead.
__device__ __forceinline__ void follow(const SurfaceView& surface, const float* options, const Interaction& hit,
                                       const WhittedSurface& s, Real3 weight, Int media, int depth, Sample2d gloss,
                                       WhittedStep& step) {
    const bool is_glossy = options[WhittedRow::is_glossy] != 0.0f;
    const Real3 upright = splat3(0.0f, 0.0f, 1.0f);
    const Real3 h = is_glossy
                        ? select(s.bsdf.mirror, upright, sample_visible_normal(s.bsdf.alpha, s.out, gloss.x, gloss.y))
                        : upright;
    const Real cosine = min(max(dot(s.out, h), splat(0.0f)), splat(1.0f));
    Real fresnel = dielectric_fresnel(s.bsdf.index, cosine);
    // A pane's two sides send light to and fro: the series adds up.
    const Real of_pane = splat(2.0f) * fresnel / (splat(1.0f) + fresnel);
    fresnel = select(s.thin, of_pane, fresnel);
    const Real3 mirrored = h * (splat(2.0f) * cosine) - s.out;
    const Real masking = is_glossy ? masking_of_mirrored(s, mirrored) : splat(1.0f);
    const Real3 towards = on_side(in_world(s, mirrored), hit.at.normal, splat(1.0f));
    const Real3 reflectance = bsdf_fresnel(s.bsdf, cosine, fresnel) * (s.mirror * masking);
    const bool ends = depth >= (int)options[WhittedRow::depth];
    const Real least = splat(options[WhittedRow::threshold]);
    Real3 left = splat3(0.0f, 0.0f, 0.0f);
    Real3 part = weight * reflectance;
    Mask active = hit.hit & (largest_of(part) > least);
    if (ends) active = splat_mask(false);
    left = select(active, left, part);
    step.reflected = {offset_ray_origin(hit.at, towards), normalize(towards), part, media, active, depth + 1};

    step.transmitted = {hit.at.point, hit.direction, part, media, splat_mask(false), depth + 1};
    const Real share = select(s.glass, s.bsdf.transmission * (splat(1.0f) - fresnel), splat(0.0f));
    part = weight * s.bsdf.base * share;
    Real3 onwards = hit.direction;
    Int beyond = s.beyond;
    if (surface.features & MaterialFeatures::GLASS) {
        const Real sine2 = (splat(1.0f) - cosine * cosine) / (s.bsdf.index * s.bsdf.index);
        const Real3 bent = h * (cosine / s.bsdf.index - lanes_sqrt(max(splat(1.0f) - sine2, splat(0.0f)))) -
                           s.out * (splat(1.0f) / s.bsdf.index);
        onwards = select(s.glass & !s.thin, on_side(in_world(s, bent), hit.at.normal, splat(-1.0f)), onwards);
    }
    if (surface.features & MaterialFeatures::ALPHA) {
        // Where a surface covers a share alone, the ray goes on through the rest of it: glass with holes is not both at
        // once.
        const Mask holed = hit.material.alpha < splat(1.0f);
        const Real open = splat(1.0f) / max(hit.material.alpha, splat(LEAST_CHANCE)) - splat(1.0f);
        part = select(holed, weight * open, part);
        onwards = select(holed, hit.direction, onwards);
        beyond = select(holed, media, beyond);
    }
    if (surface.features & (MaterialFeatures::GLASS | MaterialFeatures::ALPHA)) {
        active = hit.hit & (largest_of(part) > least);
        if (ends) active = splat_mask(false);
        left = left + select(active, splat3(0.0f, 0.0f, 0.0f), part);
        step.transmitted = {offset_ray_origin(hit.at, onwards), normalize(onwards), part, beyond, active, depth + 1};
    }
    step.color = step.color + select(hit.hit, left * splat3(options + WhittedRow::ambient), splat3(0.0f, 0.0f, 0.0f));
}

// A light at the eye that casts no shadow.
__device__ __forceinline__ Real3 light_of_eye(const ViewFrame* frame, const float* options, const Interaction& hit,
                                              const WhittedSurface& s) {
    const float* c = frame->camera;
    const float* ahead = c + CameraRow::ahead;
    const Real3 towards = normalize(c[CameraRow::is_orthographic] != 0.0f ? splat3(-ahead[0], -ahead[1], -ahead[2])
                                                                          : splat3(c + CameraRow::eye) - hit.at.point);
    const Real strength = splat(PI * options[WhittedRow::headlight]);
    return reflected_light(s, hit, towards, Real3{strength, strength, strength});
}

// What a ray has hit, and how much of it is seen: as little as it takes to shade it once for each light, so that a
// traversal has the registers.
struct FoundHit {
    Hits hits;
    Real3 direction, weight;
    Int media;
    Mask is_hit;
    int depth;
};
// Light that is seen if nothing is in its way.
struct ExpectedLight {
    Real3 color, towards;
    Real distance, gap;
    SurfacePoint at;
    Mask active;
};

__device__ __forceinline__ Rays rays_of(const ExpectedLight& light) {
    return rays_to_light(light.at, light.towards, light.distance, light.gap, light.active);
}

// One light's sample on a hit; with the first of them what needs no shadow ray, and the rays that go on.
__device__ __forceinline__ ExpectedLight shade_item(const ViewFrame* frame, const SurfaceView& surface,
                                                    const float* options, const FoundHit& found, Int pixel, int l,
                                                    int i, int count, WhittedStep& step) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    const Int prim_id = select(found.is_hit, found.hits.prim_id, splat_int(0));
    const Interaction hit = interaction_at(surface, found.direction, found.is_hit, prim_id, found.hits.u, found.hits.v);
    Real3 weight = found.weight;
    if (surface.features & MaterialFeatures::GLASS)
        weight = weight *
                 transmittance(surface, medium_of(found.media), select(found.is_hit, found.hits.t, splat(0.0f)));
    if (surface.features & MaterialFeatures::ALPHA) weight = weight * hit.material.alpha;
    const WhittedSurface s = whitted_surface(surface, options, hit, gather_int(surface.material_ids, prim_id),
                                             found.media);
    if (l == 0 && i == 0) {
        Real3 seen = hit.material.emission + ambient_reflectance(s) * splat3(options + WhittedRow::ambient);
        if (options[WhittedRow::headlight] != 0.0f) seen = seen + light_of_eye(frame, options, hit, s);
        step.color = select(found.is_hit, weight * seen, nothing);
        Sample2d gloss = {splat(0.5f), splat(0.5f)};
        if (options[WhittedRow::is_glossy] != 0.0f)
            gloss = sample_2d(pixel, frame->sample_index, GLOSS_DIMENSION + found.depth, frame->seed);
        follow(surface, options, hit, s, weight, found.media, found.depth, gloss, step);
    }
    ExpectedLight light = {nothing, nothing, splat(0.0f), splat(0.0f), hit.at, splat_mask(false)};
    if (l >= surface.light_count) return light;
    const float* of_light = surface.lights + LightRow::FLOATS * l;
    Sample2d place = {splat((int)of_light[LightRow::kind] == LIGHT_KINDS::sphere ? 0.0f : 0.5f), splat(0.5f)};
    if (is_area_light(of_light))
        place = sample_2d(pixel, frame->sample_index * count + i, LIGHT_DIMENSION + found.depth * LIGHTS_A_DEPTH + l,
                          frame->seed);
    const LightSample sample = sample_light(of_light, hit.at.point, place.x, place.y);
    light.color = weight * reflected_light(s, hit, sample.towards, sample.irradiance) * splat(1.0f / (float)count);
    light.active = found.is_hit & (largest_of(light.color) > splat(0.0f));
    light.towards = sample.towards;
    light.distance = sample.distance;
    light.gap = shadow_gap(hit.at.size, sample.distance, sample.cosine);
    return light;
}

// Primary rays through a thin lens (Cook, Porter and Carpenter 1984): all that start on it and meet in one point of the
// plane in focus.
__device__ __forceinline__ Rays through_lens(const ViewFrame* frame, const float* options, Int pixel, Rays rays) {
    const float* c = frame->camera;
    if (options[WhittedRow::lens_radius] <= 0.0f || c[CameraRow::is_orthographic] != 0.0f) return rays;
    const Sample2d sample = sample_2d(pixel, frame->sample_index, LENS_DIMENSION, frame->seed);
    const SineCosine turn = sine_and_cosine(sample.y);
    const Real radius = lanes_sqrt(sample.x) * splat(options[WhittedRow::lens_radius]);
    const Real3 forward = normalize(splat3(c + CameraRow::ahead)), right = normalize(splat3(c + CameraRow::across)),
                down = normalize(splat3(c + CameraRow::down));
    const Real3 direction = direction_of(rays), eye = {rays.ox, rays.oy, rays.oz};
    const Real3 shift = right * (radius * turn.cosine) + down * (radius * turn.sine);
    const Real3 bent = normalize(
        direction * (splat(options[WhittedRow::focus]) / max(dot(direction, forward), splat(LEAST_LENS_COSINE))) -
        shift);
    const Real3 from = eye + shift;
    const Rays whole = make_rays(from.x, from.y, from.z, bent.x, bent.y, bent.z, rays.t_min, rays.t_max, rays.active);
    return frame->is_clipped ? clipped(*frame, whole) : whole;
}
