// What a ray finds where it hits: point and normals, texture coordinates, material. Everything in lane packs. Rays that
// go on from there begin at offset_ray_origin(at, direction) or are made by rays_from (gpu/trace/hit_point.cuh).
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/shading.cuh"
#include "gpu/shade/glyph_surface.cuh"

// The corners' normal, on the side of the triangle that the ray came from; the triangle's own where the corners have
// none, as on spheres. At silhouettes it may still look away from the eye, which no light would reach (dark specks): it
// is then mirrored to face the eye, without a step in between.
__device__ __forceinline__ Real3 shading_normal(const SurfaceView& surface, const SurfacePoint& at, Real3 direction) {
    const Real3 sum = gather3(surface.normals, at.corners.a) * (splat(1.0f) - at.u - at.v) +
                      gather3(surface.normals, at.corners.b) * at.u + gather3(surface.normals, at.corners.c) * at.v;
    const Real3 smooth = normalize(
        select(off_spheres(surface, at, dot(sum, sum) > splat(LEAST_NORMAL2)), sum, at.normal));
    const Real3 normal = select(dot(at.normal, smooth) < splat(0.0f), smooth * splat(-1.0f), smooth);
    return normal - direction * (splat(2.0f) * max(dot(normal, direction), splat(0.0f)));
}

__device__ __forceinline__ TexturePlace texture_place(const SurfaceView& surface, const SurfacePoint& at) {
    return texture_place(surface, at.corners, at.u, at.v);
}

// The normal that a normal map puts in place of the corners': its red along growing u, its green along falling v, as in
// glTF. Where the texture lies without an extent, or the map turns the normal away from the eye, the one there was is
// kept.
LONG_ON_PACKS Real3 mapped_normal(const SurfaceView& surface, const SurfacePoint& at, Real3 direction, Mask hit,
                                  const MaterialSample& material, Real3 normal) {
    const Int none = splat_int(0),
              texture = truncated(gather(surface.materials + MaterialRow::normal_texture, material.record));
    const Mask mapped = off_spheres(surface, at, hit & !(texture < none));
    if (!any(mapped)) return normal;
    const Corners& c = at.corners;
    const Real3 origin = gather3(surface.positions, c.a), first = gather3(surface.positions, c.b) - origin,
                second = gather3(surface.positions, c.c) - origin;
    const Int a = c.a + c.a, b = c.b + c.b, d = c.c + c.c;
    const Real s = gather(surface.uvs, a), t = gather(surface.uvs + 1, a);
    const Real s1 = gather(surface.uvs, b) - s, t1 = gather(surface.uvs + 1, b) - t, s2 = gather(surface.uvs, d) - s,
               t2 = gather(surface.uvs + 1, d) - t;
    const Real sign = select(s1 * t2 - s2 * t1 < splat(0.0f), splat(-1.0f), splat(1.0f));
    Real3 tangent = (first * t2 - second * t1) * sign;
    tangent = normalize(unscaled(tangent - normal * dot(tangent, normal)));
    const Real3 along_v = (second * s1 - first * s2) * sign;
    Real3 upwards = cross(normal, tangent);
    upwards = select(dot(upwards, along_v) > splat(0.0f), upwards * splat(-1.0f), upwards);
    const TexturePlace place = texture_place(surface, at);
    const Real3 found = sample_textures(surface, select(mapped, texture, none), place.s, place.t) * splat(2.0f) -
                        splat3(1.0f, 1.0f, 1.0f);
    const Real scale = gather(surface.materials + MaterialRow::normal_scale, material.record);
    const Real3 turned = normalize((tangent * found.x + upwards * found.y) * scale + normal * found.z);
    const Mask usable = mapped & (dot(tangent, tangent) > splat(0.5f)) & (dot(turned, direction) < splat(0.0f)) &
                        (dot(turned, at.normal) > splat(0.0f));
    return select(usable, turned, normal);
}

// The material, its textures looked up. Lanes outside `hit` have any values.
LONG_ON_PACKS MaterialSample material_at(const SurfaceView& surface, const SurfacePoint& at, Mask hit, Int prim_id) {
    MaterialSample material = plain_material(surface, at, hit, prim_id);
    if (surface.has_textures) apply_textures(surface, hit, at.corners, at.u, at.v, material);
    return material;
}

// All of it at once. `prim_id` of lanes outside `hit` may be anything.
struct Interaction {
    SurfacePoint at;
    Real3 direction;  // of the ray that came
    Real3 shading_normal;
    MaterialSample material;
    Mask hit;
};
__device__ __forceinline__ SurfacePoint point_of_hit(const SurfaceView& surface, Real3 direction, Mask hit, Int prim_id,
                                                     Real u, Real v) {
    return point_on(surface, direction, select(hit, prim_id, splat_int(0)), u, v);
}
__device__ __forceinline__ Interaction interaction_at(const SurfaceView& surface, Real3 direction, Mask hit,
                                                      Int prim_id, Real u, Real v) {
    const SurfacePoint at = point_of_hit(surface, direction, hit, prim_id, u, v);
    MaterialSample material = material_at(surface, at, hit, select(hit, prim_id, splat_int(0)));
    material.emission = emission_of_side(surface, material, at.is_back);
    Real3 normal = shading_normal(surface, at, direction);
    if (surface.features & MaterialFeatures::NORMAL_MAPS)
        normal = mapped_normal(surface, at, direction, hit, material, normal);
    return {at, direction, normal, material, hit};
}
