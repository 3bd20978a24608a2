// Spheres as surfaces: points, normals and colours; texture coordinates are shading.cuh's. Each function has two forms:
// that of a scene of triangles alone does nothing, so that such a scene has the code that it would have without.
#pragma once
#include "gpu/shade/shading.cuh"

// Lanes that lie on a sphere: their corners are one, as no triangle's are that a ray can hit.
__device__ __forceinline__ Mask on_sphere(const SphereSurface&, const SurfacePoint& at) {
    return at.corners.a == at.corners.b;
}
// Those of `lanes` that lie on no sphere.
__device__ __forceinline__ Mask off_spheres(const TriangleSurface&, const SurfacePoint&, Mask lanes) { return lanes; }
__device__ __forceinline__ Mask off_spheres(const SphereSurface& surface, const SurfacePoint& at, Mask lanes) {
    return lanes & !on_sphere(surface, at);
}
__device__ __forceinline__ Mask is_sphere(const SphereSurface& surface, Int prim_id) {
    return !(prim_id < splat_int(surface.spheres.first_id));
}
__device__ __forceinline__ Int sphere_or_first(const SphereSurface& surface, Mask here, Int prim_id) {
    return select(here, prim_id - splat_int(surface.spheres.first_id), splat_int(0));
}
// A triangle to read in its place, where a primitive is a sphere.
__device__ __forceinline__ Int triangle_or_first(const TriangleSurface&, Int prim_id) { return prim_id; }
__device__ __forceinline__ Int triangle_or_first(const SphereSurface& surface, Int prim_id) {
    return select(is_sphere(surface, prim_id), splat_int(0), prim_id);
}

// Where a ray has hit; `prim_id` of all lanes is valid.
__device__ __forceinline__ SurfacePoint point_on(const TriangleSurface& surface, Real3 direction, Int prim_id, Real u,
                                                 Real v) {
    return surface_point(surface.positions, surface.triangles, direction, prim_id, u, v);
}
// On spheres point and normal are as exact as the centre is.
__device__ __forceinline__ SurfacePoint point_on(const SphereSurface& surface, Real3 direction, Int prim_id, Real u,
                                                 Real v) {
    const Mask here = is_sphere(surface, prim_id);
    SurfacePoint at = surface_point(surface.positions, surface.triangles, direction,
                                    select(here, splat_int(0), prim_id), u, v);
    if (!any(here)) return at;
    const Int sphere = sphere_or_first(surface, here, prim_id), none = splat_int(0);
    const Real3 centre = gather3(surface.spheres.centres, sphere);
    const Real radius = gather(surface.spheres.radii, sphere);
    const OctahedralDirection found = octahedral_direction(u, v);
    const Real3 outwards = {found.x, found.y, found.z};
    const Mask is_back = dot(outwards, direction) > splat(0.0f);
    at.corners = {select(here, none, at.corners.a), select(here, none, at.corners.b), select(here, none, at.corners.c)};
    at.point = select(here, centre + outwards * radius, at.point);
    at.normal = select(here, select(is_back, outwards * splat(-1.0f), outwards), at.normal);
    at.size = select(here, largest_coordinate(centre) + radius, at.size);
    at.is_back = (here & is_back) | (!here & at.is_back);
    return at;
}

// The material without its textures; a sphere may have a colour of its own.
__device__ __forceinline__ MaterialSample plain_material(const TriangleSurface& surface, const SurfacePoint&, Mask hit,
                                                         Int prim_id) {
    return load_material(surface.materials, gather_int(surface.material_ids, prim_id), hit);
}
__device__ __forceinline__ MaterialSample plain_material(const SphereSurface& surface, const SurfacePoint& at, Mask hit,
                                                         Int prim_id) {
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), hit);
    const Mask here = on_sphere(surface, at) & is_sphere(surface, prim_id);
    if (surface.spheres.colours == nullptr || !any(here)) return material;
    const Real3 own = gather3(surface.spheres.colours, sphere_or_first(surface, here, prim_id));
    material.base_color = select(here & !(own.x < splat(0.0f)), own, material.base_color);
    return material;
}

// Where a point of a sphere was in the picture before; where it was nowhere, where it is now.
__device__ __forceinline__ Real3 point_before(const TriangleSurface&, const SurfacePoint&, Int, Real3 before) {
    return before;
}
__device__ __forceinline__ Real3 point_before(const SphereSurface& surface, const SurfacePoint& at, Int prim_id,
                                              Real3 before) {
    const Mask here = on_sphere(surface, at) & is_sphere(surface, prim_id);
    if (!any(here)) return before;
    const Int sphere = sphere_or_first(surface, here, prim_id);
    const Real3 moved = gather3(surface.spheres.previous, sphere) - gather3(surface.spheres.centres, sphere);
    const Mask is_known = dot(moved, moved) >= splat(0.0f);
    return select(here, select(is_known, at.point + moved, at.point), before);
}

// The area of the primitive that a point lies on.
__device__ __forceinline__ Real primitive_area(const TriangleSurface& surface, const SurfacePoint& at, Int) {
    const Real3 twice = triangle_area_vector(surface.positions, at.corners);
    return lanes_sqrt(dot(twice, twice)) * splat(0.5f);
}
__device__ __forceinline__ Real primitive_area(const SphereSurface& surface, const SurfacePoint& at, Int prim_id) {
    const TriangleSurface& triangles = surface;
    const Mask here = is_sphere(surface, prim_id);
    const Real radius = max(gather(surface.spheres.radii, sphere_or_first(surface, here, prim_id)), splat(0.0f));
    return select(here, radius * radius * splat(4.0f * PI), primitive_area(triangles, at, prim_id));
}
