// What a ray finds where it hits: point and normals, texture coordinates, material. Everything in lane packs. Rays that go on from there begin at
// lifted(at, direction) or are made by rays_from (gpu/trace/hit_point.cuh).
#pragma once
#include "gpu/shade/shading.cuh"

// The corners' normal, on the side of the triangle that the ray came from; the triangle's own where the corners have none. At silhouettes it may
// still look away from the eye, which no light would reach (dark specks): it is then mirrored to face the eye, without a step in between.
__device__ __forceinline__ Real3 shading_normal(const SurfaceView& surface, const SurfacePoint& at, Real3 direction) {
    const Real3 sum = gather3(surface.normals, at.corners.a) * (splat(1.0f) - at.u - at.v) + gather3(surface.normals, at.corners.b) * at.u +
                      gather3(surface.normals, at.corners.c) * at.v;
    const Real3 smooth = normalize(select(dot(sum, sum) > splat(1e-12f), sum, at.normal));
    const Real3 normal = select(dot(at.normal, smooth) < splat(0.0f), smooth * splat(-1.0f), smooth);
    return normal - direction * (splat(2.0f) * max(dot(normal, direction), splat(0.0f)));
}

// Texture coordinates: v downwards, repeating.
struct TexturePlace {
    Real s, t;
};
__device__ __forceinline__ TexturePlace texture_place(const SurfaceView& surface, const SurfacePoint& at) {
    const Real w = splat(1.0f) - at.u - at.v;
    const Int a = at.corners.a + at.corners.a, b = at.corners.b + at.corners.b, c = at.corners.c + at.corners.c;
    return {gather(surface.uvs, a) * w + gather(surface.uvs, b) * at.u + gather(surface.uvs, c) * at.v,
            gather(surface.uvs + 1, a) * w + gather(surface.uvs + 1, b) * at.u + gather(surface.uvs + 1, c) * at.v};
}

// The material, its textures looked up. Lanes outside `hit` have any values.
__device__ __forceinline__ MaterialSample material_at(const SurfaceView& surface, const SurfacePoint& at, Mask hit, Int prim_id) {
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), hit);
    if (surface.has_textures) apply_textures(surface, hit, at.corners, at.u, at.v, material);
    return material;
}

// All of it at once. `prim_id` of lanes outside `hit` may be anything.
struct Interaction {
    SurfacePoint at;
    Real3 direction;        // of the ray that came
    Real3 shading_normal;
    MaterialSample material;
    Mask hit;
};
__device__ __forceinline__ SurfacePoint point_of_hit(const SurfaceView& surface, Real3 direction, Mask hit, Int prim_id, Real u, Real v) {
    return surface_point(surface.positions, surface.triangles, direction, select(hit, prim_id, splat_int(0)), u, v);
}
__device__ __forceinline__ Interaction interaction_at(const SurfaceView& surface, Real3 direction, Mask hit, Int prim_id, Real u, Real v) {
    const SurfacePoint at = point_of_hit(surface, direction, hit, prim_id, u, v);
    return {at, direction, shading_normal(surface, at, direction), material_at(surface, at, hit, select(hit, prim_id, splat_int(0))), hit};
}
