// Lights as paths take them: one of all, chosen by chance. The scene's lights, a light at the eye, the triangles and
// spheres that shine and the environment each have a place; triangles and spheres among themselves are chosen by area
// and brightness (emitters.py), directions of the environment by their brightness.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/sampling.cuh"
#include "gpu/shade/sphere_surface.cuh"

// It holds no pointer to the surface: beside one, NVRTC 13.0 took the environment's for a pointer into local memory.
struct PathLights {
    EnvironmentView environment;
    float headlight;
    Real3 eye;
    int light_count, emitter_count;
    bool is_first_without_size;  // the scene's first light is a point or a sun

    __device__ __forceinline__ int triangles_place() const { return light_count; }
    __device__ __forceinline__ int environment_place() const { return triangles_place() + (emitter_count > 0 ? 1 : 0); }
    __device__ __forceinline__ int headlight_place() const {
        return environment_place() + (environment.is_there() ? 1 : 0);
    }
    __device__ __forceinline__ int count() const { return headlight_place() + (headlight > 0.0f ? 1 : 0); }
    // Whether there is but one light, and its shadows are hard.
    __device__ __forceinline__ bool is_one_without_size() const {
        return count() == 1 && (headlight > 0.0f || (light_count == 1 && is_first_without_size));
    }
};

// `light` is radiance over density by solid angle, or irradiance of what has none (`density` 0): the scene's lights,
// which rays do not meet. `gap`: how much before it a shadow ray ends.
struct LightChoice {
    Real3 towards;
    Real distance, gap;
    Real3 light;
    Real density;
};

__device__ __forceinline__ Real triangle_area(Real3 area_vector) {
    return lanes_sqrt(max(dot(area_vector, area_vector), splat(LEAST_LENGTH2))) * splat(0.5f);
}

// A point of a triangle that shines, evenly over its area, whichever side is seen: one may be dark.
__device__ LightChoice choose_triangle(const SurfaceView& surface, const SurfacePoint& from, Real choice, Real u,
                                       Real v, Mask wanted) {
    const Int place = place_in_sums(surface.emitter_cdf, splat_int(0), surface.emitter_count, choice);
    Int prim_id = gather_int(surface.emitters, place);
    if constexpr (SURFACE_KIND > 0) prim_id = triangle_or_first(surface, prim_id);
    const Corners corners = gather_corners(surface.triangles, prim_id);
    const Real3 a = gather3(surface.positions, corners.a);
    const Real3 across = gather3(surface.positions, corners.b) - a,
                along_side = gather3(surface.positions, corners.c) - a;
    const Real root = lanes_sqrt(u), b = root * (splat(1.0f) - v), c = root * v;
    const Real3 area_vector = cross(across, along_side);
    const Real size = from.size + largest_coordinate(a) + largest_coordinate(across) + largest_coordinate(along_side);
    const Real3 away = a + across * b + along_side * c - from.point;
    const Real squared = max(dot(away, away), splat(LEAST_DISTANCE2)), distance = lanes_sqrt(squared);
    const Real3 towards = away * (splat(1.0f) / distance);
    const Real area = triangle_area(area_vector);
    const Real cosine = lanes_abs(dot(towards, area_vector)) * splat(0.5f) / area;
    const Real density = share_of(surface.emitter_cdf, splat_int(0), place) * squared /
                         max(area * cosine, splat(LEAST_DIVISOR));
    // A triangle with a vertex that is not finite is nowhere.
    const Mask is_there = dot(area_vector, area_vector) >= splat(0.0f);
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), wanted);
    if (surface.has_textures) apply_textures(surface, wanted, corners, b, c, material);
    const Mask usable = is_there & (cosine > splat(LEAST_COSINE)) & (density > splat(0.0f)) & (density < splat(1e30f));
    const Real scale = select(usable, splat(1.0f) / max(density, splat(LEAST_DIVISOR)), splat(0.0f));
    return {towards, distance, shadow_gap(size, distance, cosine),
            emission_of_side(surface, material, dot(towards, area_vector) > splat(0.0f)) * scale,
            select(usable, density, splat(0.0f))};
}

// The cone in which a point sees a sphere: `widest` is 1 - the cosine of half its angle, 2 from within, where all
// directions meet it (Pharr, Jakob and Humphreys 2016, 14.2.2). Where the sphere is not there it is not a number.
struct SphereCone {
    Real3 axis;
    Real radius, distance, widest;
    Mask is_within;
    __device__ __forceinline__ Real density() const {
        return splat(1.0f) / max(widest * splat(2.0f * PI), splat(LEAST_DIVISOR));
    }
};
__device__ __forceinline__ SphereCone cone_of_sphere(const SphereSurface& surface, Int sphere, Real3 from) {
    const Real3 away = gather3(surface.spheres.centres, sphere) - from;
    const Real radius = gather(surface.spheres.radii, sphere), squared = dot(away, away);
    const Mask is_within = squared < radius * radius * splat(WITHIN_SPHERE);
    const Real sine2 = min(radius * radius / max(squared, splat(LEAST_DISTANCE2)), splat(1.0f));
    const Real widest = sine2 / (splat(1.0f) + lanes_sqrt(splat(1.0f) - sine2));  // exact for small spheres too
    return {normalize(away), radius, lanes_sqrt(squared), select(is_within, splat(2.0f), widest), is_within};
}

// Where the emitter that was chosen is a sphere: a direction of its cone, evenly by solid angle. Of scenes with
// spheres.
template <class Surface>
__device__ LightChoice or_sphere(const Surface& surface, const SurfacePoint& from, Real choice, Real u, Real v,
                                 Mask wanted, const LightChoice& of_triangle) {
    if (surface.emitter_count == 0) return of_triangle;
    const Int place = place_in_sums(surface.emitter_cdf, splat_int(0), surface.emitter_count, choice);
    const Int prim_id = gather_int(surface.emitters, place), none = splat_int(0);
    const Mask here = wanted & is_sphere(surface, prim_id);
    if (!any(here)) return of_triangle;
    const Int sphere = sphere_or_first(surface, here, prim_id);
    const SphereCone cone = cone_of_sphere(surface, sphere, from.point);
    const Real short_of_one = u * cone.widest, cosine = splat(1.0f) - short_of_one;
    const Real sine2 = max(short_of_one * (splat(2.0f) - short_of_one), splat(0.0f)), sine = lanes_sqrt(sine2);
    const SineCosine turn = sine_and_cosine(v);
    const Real3 towards = along(basis_around(cone.axis), sine * turn.cosine, sine * turn.sine, cosine);
    const Real middle = cone.distance * cosine, squared = cone.radius * cone.radius;
    const Real half = lanes_sqrt(max(squared - cone.distance * cone.distance * sine2, splat(0.0f)));
    const Real distance = middle + select(cone.is_within, half, -half);
    const Real at_surface = half / max(cone.radius, splat(LEAST_DIVISOR));
    const Real3 centre = gather3(surface.spheres.centres, sphere);
    const Real gap = shadow_gap(from.size + largest_coordinate(centre) + cone.radius, distance, at_surface);
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), here);
    if (surface.has_textures) {
        const Real3 outwards = from.point + towards * distance - centre;
        const OctahedralPlace on_it = octahedral_place(outwards.x, outwards.y, outwards.z);
        apply_textures(surface, here, {none, none, none}, on_it.u, on_it.v, material);
    }
    const Real density = cone.density() * share_of(surface.emitter_cdf, splat_int(0), place);
    // A point of the sphere itself does not light itself through nothing.
    const Mask usable = here & (cone.radius > splat(0.0f)) & (distance > gap + gap) & (density > splat(0.0f)) &
                        (density < splat(1e30f));
    const Real scale = select(usable, splat(1.0f) / max(density, splat(LEAST_DIVISOR)), splat(0.0f));
    const Real3 up = splat3(0.0f, 1.0f, 0.0f);
    return {select(here, select(usable, towards, up), of_triangle.towards),
            select(here, select(usable, distance, splat(0.0f)), of_triangle.distance),
            select(here, select(usable, gap, splat(0.0f)), of_triangle.gap),
            select(here, emission_of_side(surface, material, cone.is_within) * scale, of_triangle.light),
            select(here, select(usable, density, splat(0.0f)), of_triangle.density)};
}

// Each lane's of the scene's lights; most packs choose few.
__device__ LightChoice choose_placed(const SurfaceView& surface, const SurfacePoint& from, Int which, Real u, Real v,
                                     Mask wanted) {
    LightChoice result = {splat3(0.0f, 1.0f, 0.0f), splat(0.0f), splat(0.0f), splat3(0.0f, 0.0f, 0.0f), splat(0.0f)};
    while (any(wanted)) {
        const int light = lane(which, lowest_lane(wanted));
        const Mask these = wanted & (which == splat_int(light));
        const LightSample found = sample_light(surface.lights + LightRow::FLOATS * light, from.point, u, v);
        const Real gap = shadow_gap(from.size, found.distance, found.cosine);
        result = {select(these, found.towards, result.towards), select(these, found.distance, result.distance),
                  select(these, gap, result.gap), select(these, found.irradiance, result.light), splat(0.0f)};
        wanted = wanted & !these;
    }
    return result;
}

__device__ __forceinline__ LightChoice select(Mask mask, const LightChoice& a, const LightChoice& b) {
    return {select(mask, a.towards, b.towards), select(mask, a.distance, b.distance), select(mask, a.gap, b.gap),
            select(mask, a.light, b.light), select(mask, a.density, b.density)};
}

// One light for each lane of `active`; `choice`, u and v in [0, 1). No light at all: `light` is zero.
__device__ LightChoice choose_light(const SurfaceView& surface, const PathLights& lights, const SurfacePoint& from,
                                    Real choice, Real u, Real v, Mask active) {
    const int count = lights.count();
    LightChoice result = {splat3(0.0f, 1.0f, 0.0f), splat(0.0f), splat(0.0f), splat3(0.0f, 0.0f, 0.0f), splat(0.0f)};
    if (count == 0) return result;
    const Real scaled = choice * splat((float)count);
    const Int which = truncated(min(scaled, splat((float)count - 0.5f)));
    const Real rest = min(max(scaled - to_real(which), splat(0.0f)), splat(BELOW_ONE));
    const Mask is_placed = active & (which < splat_int(surface.light_count));
    if (any(is_placed)) result = select(is_placed, choose_placed(surface, from, which, u, v, is_placed), result);
    const Mask is_triangle = active & (which == splat_int(lights.triangles_place()));
    if (surface.emitter_count > 0 && any(is_triangle))
        result = select(is_triangle, choose_triangle(surface, from, rest, u, v, is_triangle), result);
    if constexpr (SURFACE_KIND > 0) result = or_sphere(surface, from, rest, u, v, is_triangle, result);
    const Mask is_sky = active & (which == splat_int(lights.environment_place()));
    if (lights.environment.is_there() && any(is_sky)) {
        const EnvironmentChoice found = choose_direction(lights.environment, rest, u, v);
        result = select(
            is_sky,
            LightChoice{found.towards, splat(FLOAT_MAX), splat(0.0f),
                        found.radiance * (splat(1.0f) / max(found.density, splat(LEAST_SHARE))), found.density},
            result);
    }
    const Mask is_eye = active & (which == splat_int(lights.headlight_place()));
    if (lights.headlight > 0.0f && any(is_eye)) {
        const Real3 away = lights.eye - from.point;
        const Real distance = lanes_sqrt(max(dot(away, away), splat(LEAST_DISTANCE2)));
        const float strength = PI * lights.headlight;
        result = select(
            is_eye,
            LightChoice{away * (splat(1.0f) / distance), distance, shadow_gap(from.size, distance, splat(1.0f)),
                        splat3(strength, strength, strength), splat(0.0f)},
            result);
    }
    result.light = result.light * splat((float)count);
    result.density = result.density * splat(1.0f / (float)count);
    return result;
}

// Of those of `shines` that lie on spheres: that of the cone, by the share with which the sphere is chosen.
template <class Surface>
__device__ __forceinline__ Real or_density_of_sphere(const Surface& surface, Int prim_id, Mask shines, const Rays& rays,
                                                     Int place, Real of_triangle) {
    const Mask here = shines & is_sphere(surface, prim_id);
    if (!any(here)) return of_triangle;
    const SphereCone cone = cone_of_sphere(surface, sphere_or_first(surface, here, prim_id),
                                           {rays.ox, rays.oy, rays.oz});
    return select(here, cone.density() * share_of(surface.emitter_cdf, splat_int(0), place), of_triangle);
}

// The density by solid angle with which `choose_light` takes the point of an emitter that a ray meets.
__device__ Real emission_density(const SurfaceView& surface, const PathLights& lights, Int prim_id, Mask shines,
                                 const Rays& rays, Real distance, Real3 area_vector, Real3 direction) {
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
    const Real facing = lanes_abs(dot(area_vector, direction)) * splat(0.5f);  // area times cosine
    Real density = share_of(surface.emitter_cdf, splat_int(0), high) * distance * distance /
                   max(facing, splat(LEAST_DIVISOR));
    if constexpr (SURFACE_KIND > 0) density = or_density_of_sphere(surface, prim_id, is_one, rays, high, density);
    return select(is_one, min(density, splat(1e30f)) * splat(1.0f / (float)lights.count()), splat(0.0f));
}

// What comes from where no ray meets anything.
__device__ __forceinline__ Real3 sky_light(const PathLights& lights, const float* below_and_above, Real3 direction) {
    return far_away(lights.environment, below_and_above, direction);
}
__device__ __forceinline__ Real sky_density(const PathLights& lights, Real3 direction) {
    return lights.environment.is_there()
               ? environment_density(lights.environment, direction) * splat(1.0f / (float)lights.count())
               : splat(0.0f);
}
