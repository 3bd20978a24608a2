// Lights as paths take them: one of all, chosen by chance. The scene's lights, a light at the eye, the triangles that shine and the environment each
// have a place; triangles among themselves are chosen by area and brightness (emitters.py), directions of the environment by their brightness.
#pragma once
#include "gpu/shade/far_away.cuh"

// It holds no pointer to the surface: beside one, NVRTC 13.0 took the environment's for a pointer into local memory.
struct PathLights {
    EnvironmentView environment;
    float headlight;
    Real3 eye;
    int light_count, emitter_count;
    bool is_first_without_size;   // the scene's first light is a point or a sun

    __device__ __forceinline__ int triangles_place() const { return light_count; }
    __device__ __forceinline__ int environment_place() const { return triangles_place() + (emitter_count > 0 ? 1 : 0); }
    __device__ __forceinline__ int headlight_place() const { return environment_place() + (environment.is_there() ? 1 : 0); }
    __device__ __forceinline__ int count() const { return headlight_place() + (headlight > 0.0f ? 1 : 0); }
    // Whether there is but one light, and its shadows are hard.
    __device__ __forceinline__ bool is_one_without_size() const {
        return count() == 1 && (headlight > 0.0f || (light_count == 1 && is_first_without_size));
    }
};

// `light` is radiance over density by solid angle, or irradiance of what has none (`density` 0): the scene's lights, which rays do not meet.
struct LightChoice {
    Real3 towards;
    Real distance;
    Real3 light;
    Real density;
};
// A light seen from so far away that its ray ends before it.
constexpr float SHORT_OF = 0.9999f;

__device__ __forceinline__ Real triangle_area(Real3 area_vector) { return lanes_sqrt(max(dot(area_vector, area_vector), splat(1e-36f))) * splat(0.5f); }

// A point of a triangle that shines, evenly over its area, whichever side is seen: one may be dark.
__device__ LightChoice choose_triangle(const SurfaceView& surface, Real3 point, Real choice, Real u, Real v, Mask wanted) {
    const Int place = place_in_sums(surface.emitter_cdf, splat_int(0), surface.emitter_count, choice);
    const Int prim_id = gather_int(surface.emitters, place);
    const Corners corners = gather_corners(surface.triangles, prim_id);
    const Real3 a = gather3(surface.positions, corners.a);
    const Real3 across = gather3(surface.positions, corners.b) - a, along_side = gather3(surface.positions, corners.c) - a;
    const Real root = lanes_sqrt(u), b = root * (splat(1.0f) - v), c = root * v;
    const Real3 area_vector = cross(across, along_side);
    const Real3 away = a + across * b + along_side * c - point;
    const Real squared = max(dot(away, away), splat(1e-30f)), distance = lanes_sqrt(squared);
    const Real3 towards = away * (splat(1.0f) / distance);
    const Real area = triangle_area(area_vector);
    const Real cosine = lanes_abs(dot(towards, area_vector)) * splat(0.5f) / area;
    const Real density = share_of(surface.emitter_cdf, splat_int(0), place) * squared / max(area * cosine, splat(1e-30f));
    // A triangle with a vertex that is not finite is nowhere.
    const Mask is_there = dot(area_vector, area_vector) >= splat(0.0f);
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), wanted);
    if (surface.has_textures) apply_textures(surface, wanted, corners, b, c, material);
    const Mask usable = is_there & (cosine > splat(1e-6f)) & (density > splat(0.0f)) & (density < splat(1e30f));
    const Real scale = select(usable, splat(1.0f) / max(density, splat(1e-30f)), splat(0.0f));
    return {towards, distance * splat(SHORT_OF), emission_of_side(surface, material, dot(towards, area_vector) > splat(0.0f)) * scale, select(usable, density, splat(0.0f))};
}

// Each lane's of the scene's lights; most packs choose few.
__device__ LightChoice choose_placed(const SurfaceView& surface, Real3 point, Int which, Real u, Real v, Mask wanted) {
    LightChoice result = {splat3(0.0f, 1.0f, 0.0f), splat(0.0f), splat3(0.0f, 0.0f, 0.0f), splat(0.0f)};
    while (any(wanted)) {
        const int light = lane(which, lowest_lane(wanted));
        const Mask these = wanted & (which == splat_int(light));
        const LightSample found = sample_light(surface.lights + LIGHT_FLOATS * light, point, u, v);
        const Real distance = select(found.distance < splat(FLOAT_MAX), found.distance * splat(SHORT_OF), splat(FLOAT_MAX));
        result = {select(these, found.towards, result.towards), select(these, distance, result.distance),
                  select(these, found.irradiance, result.light), splat(0.0f)};
        wanted = wanted & !these;
    }
    return result;
}

__device__ __forceinline__ LightChoice select(Mask mask, const LightChoice& a, const LightChoice& b) {
    return {select(mask, a.towards, b.towards), select(mask, a.distance, b.distance), select(mask, a.light, b.light), select(mask, a.density, b.density)};
}

// One light for each lane of `active`; `choice`, u and v in [0, 1). No light at all: `light` is zero.
__device__ LightChoice choose_light(const SurfaceView& surface, const PathLights& lights, Real3 point, Real choice, Real u, Real v, Mask active) {
    const int count = lights.count();
    LightChoice result = {splat3(0.0f, 1.0f, 0.0f), splat(0.0f), splat3(0.0f, 0.0f, 0.0f), splat(0.0f)};
    if (count == 0) return result;
    const Real scaled = choice * splat((float)count);
    const Int which = truncated(min(scaled, splat((float)count - 0.5f)));
    const Real rest = min(max(scaled - to_real(which), splat(0.0f)), splat(0.9999999f));
    const Mask is_placed = active & (which < splat_int(surface.light_count));
    if (any(is_placed)) result = select(is_placed, choose_placed(surface, point, which, u, v, is_placed), result);
    const Mask is_triangle = active & (which == splat_int(lights.triangles_place()));
    if (surface.emitter_count > 0 && any(is_triangle)) result = select(is_triangle, choose_triangle(surface, point, rest, u, v, is_triangle), result);
    const Mask is_sky = active & (which == splat_int(lights.environment_place()));
    if (lights.environment.is_there() && any(is_sky)) {
        const EnvironmentChoice found = choose_direction(lights.environment, rest, u, v);
        result = select(is_sky, LightChoice{found.towards, splat(FLOAT_MAX), found.radiance * (splat(1.0f) / max(found.density, splat(1e-20f))), found.density}, result);
    }
    const Mask is_eye = active & (which == splat_int(lights.headlight_place()));
    if (lights.headlight > 0.0f && any(is_eye)) {
        const Real3 away = lights.eye - point;
        const Real distance = lanes_sqrt(max(dot(away, away), splat(1e-30f)));
        const float strength = PI * lights.headlight;
        result = select(is_eye, LightChoice{away * (splat(1.0f) / distance), distance * splat(SHORT_OF), splat3(strength, strength, strength), splat(0.0f)}, result);
    }
    result.light = result.light * splat((float)count);
    result.density = result.density * splat(1.0f / (float)count);
    return result;
}

// The density by solid angle with which `choose_light` takes the point of an emitter that a ray meets.
__device__ Real emission_density(const SurfaceView& surface, const PathLights& lights, Int prim_id, Mask shines, Real distance, Real3 area_vector, Real3 direction) {
    if (surface.emitter_count == 0) return splat(0.0f);
    // Ascending ids: the place of each lane's.
    Int low = splat_int(0), high = splat_int(surface.emitter_count - 1);
    for (int width = surface.emitter_count; width > 0; width >>= 1) {
        const Int middle = (low + high) >> 1;
        const Mask is_before = gather_int(surface.emitters, middle) < prim_id;
        low = select(is_before, select(middle < high, middle + splat_int(1), high), low);
        high = select(is_before, high, middle);
    }
    const Mask is_one = shines & (gather_int(surface.emitters, high) == prim_id);
    const Real facing = lanes_abs(dot(area_vector, direction)) * splat(0.5f);   // area times cosine
    const Real density = share_of(surface.emitter_cdf, splat_int(0), high) * distance * distance / max(facing, splat(1e-30f));
    return select(is_one, min(density, splat(1e30f)) * splat(1.0f / (float)lights.count()), splat(0.0f));
}

// What comes from where no ray meets anything.
__device__ __forceinline__ Real3 sky_light(const PathLights& lights, const float* below_and_above, Real3 direction) {
    return far_away(lights.environment, below_and_above, direction);
}
__device__ __forceinline__ Real sky_density(const PathLights& lights, Real3 direction) {
    return lights.environment.is_there() ? environment_density(lights.environment, direction) * splat(1.0f / (float)lights.count()) : splat(0.0f);
}
