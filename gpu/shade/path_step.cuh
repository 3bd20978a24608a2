// One step of a path: what the ray found, a ray to a light, and the ray that goes on. Everything in lane packs, nothing
// traced: the megakernel (path.cu) and the wavefront (path_wavefront.cu) trace between steps, each in its own way, and
// give the same picture.
//
// Light is found twice, by sampling lights and by meeting them, and weighed by the power heuristic (Veach and Guibas,
// Optimally Combining Sampling Techniques for Monte Carlo Rendering, 1995). Paths end by chance (Arvo and Kirk,
// Particle Transport and Image Synthesis, 1990).
// from gpu.shade.path import MOST_BOUNCES, PathRow
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/bsdf.cuh"
#include "gpu/shade/interaction.cuh"
#include "gpu/shade/path_lights.cuh"
#include "gpu/shade/sampling.cuh"
#include "gpu/trace/on_primitive.cuh"

struct PathState {
    Real3 weight;  // of the light that comes along the ray
    // by solid angle, with which the ray was sampled; DELTA where no other way could have found it, SHARP if nor by
    // chance
    Real density;
    Real scale;  // radiance over power, by the indices of what the path is in
};
// Sharp: seen by the eye itself or in mirrors. Light of one point or sun there, too, is without noise, and no filter
// has to touch it.
constexpr float DELTA = -1.0f, SHARP = -2.0f;
__device__ __forceinline__ PathState path_begins() { return {splat3(1.0f, 1.0f, 1.0f), splat(SHARP), splat(1.0f)}; }

struct PathStep {
    Real3 found;  // light that came along the ray
    Rays to_light;
    Real3 if_reached;  // light that comes where `to_light` meets nothing
    Real if_crossed;  // times this much of it where holes let it through
    Rays next;
    PathState state;
    Mask is_sharp, is_lit_sharply;  // `found`, and `if_reached`
};

__device__ __forceinline__ Real largest(Real3 color) { return max(max(color.x, color.y), color.z); }
__device__ __forceinline__ Real power_heuristic(Real mine, Real other) {
    const Real a = mine * mine;
    return a / max(a + other * other, splat(LEAST_DIVISOR));
}
// At most `limit` (0: any) in the brightest channel.
__device__ __forceinline__ Real3 limited(Real3 color, float limit) {
    if (limit <= 0.0f) return color;
    return color * min(splat(limit) / max(largest(color), splat(LEAST_SHARE)), splat(1.0f));
}

// Which numbers a bounce takes.
struct PathNumbers {
    Int pixel;
    int sample_index, seed, first;
    __device__ __forceinline__ Real one(int place) const { return sample_1d(pixel, sample_index, first + place, seed); }
    __device__ __forceinline__ Sample2d two(int place) const {
        return sample_2d(pixel, sample_index, first + place, seed);
    }
};
constexpr int NUMBERS_A_BOUNCE = 8, NUMBERS_OF_THE_CAMERA = 16;
// Of the pixels of rays: numbers that do not depend on how a picture's rays lie.
__device__ __forceinline__ Int path_pixel(const ViewFrame* frame, int first) {
    const PackPixels at = pixels_of(first, *frame);
    return pixel_number(at.x, at.y);
}
__device__ __forceinline__ int one_pixel(int ray, int width) {
    const int tile = ray / TILE_RAYS, across = tiles_across(width), local = ray % TILE_RAYS;
    const int x = (local & 1) | (local >> 1 & 2) | (local >> 2 & 4),
              y = (local >> 1 & 1) | (local >> 2 & 2) | (local >> 3 & 4);
    return (x + tile % across * TILE_SIDE) | (y + tile / across * TILE_SIDE) << 16;
}
__device__ __forceinline__ Int path_pixels(const ViewFrame* frame, Int rays) {
    Int found = splat_int(0);
#pragma unroll
    for (int i = 0; i < PACK; ++i)
        set_lane(found, i, one_pixel(rays_before_rows(*frame) + lane(rays, i), frame->width));
    return found;
}
__device__ __forceinline__ PathNumbers path_numbers(const ViewFrame* frame, const float* options, Int pixel,
                                                    int bounce) {
    const unsigned seed = (unsigned)frame->seed + (unsigned)(int)options[PathRow::seed] * 2654435761u;
    return {pixel, frame->sample_index, (int)seed, NUMBERS_OF_THE_CAMERA + bounce * NUMBERS_A_BOUNCE};
}
// The part of a sample that is without noise; the first step writes what was not there.
__device__ __forceinline__ void add_sharp(float* sharp, int64 plane, int first, int bounce, Real3 light) {
    if (sharp != nullptr && (bounce == 0 || any(largest(light) > splat(0.0f))))
        add_to_film(sharp, plane, first, bounce, light);
}
__device__ __forceinline__ PathLights path_lights(const SurfaceView& surface, const EnvironmentView& environment,
                                                  const ViewFrame* frame, const float* options) {
    const float* eye = frame->camera;
    return {
        environment,         options[PathRow::headlight], splat3(eye + CameraRow::eye),
        surface.light_count, surface.emitter_count,       surface.light_count > 0 && !is_area_light(surface.lights)};
}

__device__ __forceinline__ Real3 to_local(const Basis& basis, Real3 v) {
    return {dot(v, basis.tangent), dot(v, basis.bitangent), dot(v, basis.normal)};
}

// Where a ray that found nothing ends, and what a surface shines by itself.
__device__ Real3 found_light(const SurfaceView& surface, const PathLights& lights, const float* options,
                             const Rays& rays, const Interaction& hit, Mask active, Int prim_id, Real distance,
                             const PathState& state) {
    const Real3 direction = direction_of(rays);
    const Mask is_sampled = state.density > splat(0.0f);
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    Real3 light = nothing;
    if (any(active & !hit.hit)) {
        const Real weight = select(is_sampled, power_heuristic(state.density, sky_density(lights, direction)),
                                   splat(1.0f));
        light = select(hit.hit, nothing, sky_light(lights, options, direction) * weight);
    }
    const Mask shines = hit.hit & (largest(hit.material.emission) > splat(0.0f));
    if (any(shines)) {
        const Real3 area_vector = triangle_area_vector(surface.positions, hit.at.corners);
        const Real density = emission_density(surface, lights, prim_id, shines, rays, distance, area_vector, direction);
        const Real weight = select(is_sampled, power_heuristic(state.density, density), splat(1.0f));
        light = select(shines, hit.material.emission * weight, light);
    }
    return select(active, light * state.weight, nothing);
}

// Glass takes light away on the way through it: as much as the side from within says.
__device__ __forceinline__ Real3 transmittance(const SurfaceView& surface, const MaterialSample& m, Real distance) {
    const Real way = distance * splat(-1.442695041f);  // exp by exp2
    const float* of = surface.materials + MaterialRow::absorption;
    const Real3 exponent = Real3{gather(of, m.record), gather(of + 1, m.record), gather(of + 2, m.record)} * way;
    return {exp2_of(exponent.x), exp2_of(exponent.y), exp2_of(exponent.z)};
}
__device__ __forceinline__ Mask is_thin(const SurfaceView& surface, const MaterialSample& m) {
    return gather(surface.materials + MaterialRow::is_thin, m.record) > splat(0.5f);
}

__device__ Bsdf bsdf_at(const SurfaceView& surface, const Interaction& hit, Mask thin, Real out_z) {
    const MaterialSample& m = hit.material;
    const Mask enters = (m.transmission > splat(0.0f)) & !thin;
    const Real index = select(hit.at.is_back & enters, splat(1.0f) / m.ior, m.ior);
    Bsdf bsdf = make_bsdf(surface.gloss, m.base_color, m.metallic, m.roughness, m.transmission, index, out_z);
    bsdf.clear = bsdf.clear | thin;
    return bsdf;
}

// What a step has found out about the place where it is.
struct PathPlace {
    Interaction hit;
    Mask goes_on, passes, thin;  // scatters here; goes through without a surface; is a pane
    Basis basis;
    Real3 out;  // towards where the path came from, in the basis
    Bsdf bsdf;
};

// A light, chosen by chance.
__device__ void choose_ray_to_light(const SurfaceView& surface, const PathLights& lights, const PathNumbers& numbers,
                                    const PathPlace& at, const PathState& state, float limit, PathStep& step) {
    const Sample2d on_light = numbers.two(0);
    const LightChoice light = choose_light(surface, lights, at.hit.at, numbers.one(1), on_light.x, on_light.y,
                                           at.goes_on);
    const Real3 in = to_local(at.basis, light.towards);
    const BsdfValue value = evaluate_bsdf(at.bsdf, at.out, in);
    const Mask is_same_side = dot(at.hit.at.normal, light.towards) * in.z > splat(0.0f);  // by both normals
    const Real weight = select(light.density > splat(0.0f), power_heuristic(light.density, value.density), splat(1.0f));
    const Real3 arrives = limited(state.weight * value.value * light.light * weight, limit);
    const Mask is_tried = at.goes_on & is_same_side & (largest(arrives) > splat(0.0f));
    step.to_light = rays_to_light(at.hit.at, light.towards, light.distance, light.gap, is_tried);
    step.if_reached = select(is_tried, arrives, splat3(0.0f, 0.0f, 0.0f));
    step.if_crossed = splat(1.0f) / max(weight, splat(LEAST_SUM));
    step.is_lit_sharply = lights.is_one_without_size() ? is_tried & step.is_sharp : splat_mask(false);
}

// A direction, chosen by the surface.
__device__ void choose_next_ray(const float* options, const PathNumbers& numbers, const PathPlace& at, int bounce,
                                Real3 direction, const PathState& state, PathStep& step) {
    const Sample2d on_surface = numbers.two(2);
    const BsdfSample sampled = sample_bsdf(at.bsdf, at.out, numbers.one(3), on_surface.x, on_surface.y);
    const Mask straight = sampled.is_transmitted & at.thin;
    const Real3 in = select(straight, at.out * splat(-1.0f), sampled.in);
    const Real index2 = at.bsdf.index * at.bsdf.index;
    const Real3 onwards = along(at.basis, in.x, in.y, in.z);
    const Mask is_possible = at.goes_on & (sampled.density > splat(0.0f)) &
                             (dot(at.hit.at.normal, onwards) * in.z > splat(0.0f));
    PathState next = {state.weight * sampled.weight * select(straight, index2, splat(1.0f)),
                      select(sampled.is_delta, splat(DELTA), sampled.density),
                      select(sampled.is_transmitted & !straight, state.scale * index2, state.scale)};
    next.density = select(step.is_sharp & sampled.is_delta & (at.bsdf.reflect_share > splat(SHARPLY_REFLECTED)),
                          splat(SHARP), next.density);
    // What is left is light enough to go on, or dies by chance and hands its light to those that do not.
    Mask survives = is_possible & (largest(next.weight) > splat(0.0f));
    if (bounce + 1 >= (int)options[PathRow::roulette_from]) {
        const Real share = min(largest(next.weight) * next.scale, splat(0.95f));
        survives = survives & (numbers.one(4) < share);
        next.weight = next.weight * (splat(1.0f) / max(share, splat(LEAST_CHANCE)));
    }
    step.state = {select(at.passes, state.weight, next.weight),
                  select(at.passes, min(state.density, splat(THROUGH_HOLES)), next.density),
                  select(at.passes, state.scale, next.scale)};
    step.next = rays_from(at.hit.at, select(at.passes, direction, onwards), splat(FLOAT_MAX), survives | at.passes);
}

__device__ PathStep step_path(const SurfaceView& surface, const PathLights& lights, const float* options,
                              const PathNumbers& numbers, int bounce, const Rays& rays, const Hits& hits,
                              PathState state) {
    PathStep step;
    PathPlace at;
    const Mask is_hit = rays.active & !(hits.prim_id < splat_int(0));
    const Real3 direction = direction_of(rays);
    at.hit = interaction_at(surface, direction, is_hit, hits.prim_id, hits.u, hits.v);
    const Real distance = select(is_hit, hits.t, splat(0.0f));
    const bool has_glass = surface.features & MaterialFeatures::GLASS;
    const Mask glass = has_glass ? is_hit & (at.hit.material.transmission > splat(0.0f)) : splat_mask(false);
    at.thin = has_glass ? glass & is_thin(surface, at.hit.material) : splat_mask(false);
    const Mask leaves_glass = glass & at.hit.at.is_back & !at.thin;
    if (any(leaves_glass))
        state.weight = select(leaves_glass, state.weight * transmittance(surface, at.hit.material, distance),
                              state.weight);
    const float limit = bounce > 0 ? options[PathRow::clamp] : 0.0f;
    step.is_sharp = rays.active & (state.density < splat(0.5f * (DELTA + SHARP)));
    step.found = limited(
        found_light(surface, lights, options, rays, at.hit, rays.active, hits.prim_id, distance, state), limit);

    // Where a surface is not there, by its alpha, the path goes on straight.
    const Mask may_go_on = bounce < (int)options[PathRow::bounces] ? is_hit : splat_mask(false);
    at.passes = splat_mask(false);
    if (surface.features & MaterialFeatures::ALPHA) at.passes = may_go_on & !(numbers.one(5) < at.hit.material.alpha);
    at.goes_on = may_go_on & !at.passes;
    at.basis = basis_around(at.hit.shading_normal);
    at.out = to_local(at.basis, direction * splat(-1.0f));
    at.out.z = max(at.out.z, splat(LEAST_EYE_COSINE));
    at.bsdf = bsdf_at(surface, at.hit, at.thin, at.out.z);
    choose_ray_to_light(surface, lights, numbers, at, state, limit, step);
    choose_next_ray(options, numbers, at, bounce, direction, state, step);
    return step;
}
