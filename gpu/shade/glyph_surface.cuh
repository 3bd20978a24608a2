// Glyphs as surfaces, beside triangles and spheres (sphere_surface.cuh). Each lane's glyph is looked at by itself.
#pragma once
#include "gpu/device/glyph_surface.cuh"
#include "gpu/shade/sphere_surface.cuh"

__device__ __forceinline__ Glyph glyph_at(Pointer<const float4> rows, int glyph) {
    const float4* at = rows + 3 * (int64)glyph;
    return glyph_of(at[0], at[1], at[2]);
}
__device__ __forceinline__ Mask is_on_glyph(const GlyphSurface& surface, Int prim_id) {
    return !(prim_id < splat_int(surface.glyphs.first_id));
}
// Whatever a pack may look at in place of its glyphs.
__device__ __forceinline__ Int without_glyphs(Mask here, Int prim_id) { return select(here, splat_int(0), prim_id); }
__device__ __forceinline__ Mask is_sphere(const GlyphSurface& surface, Int prim_id) {
    return !(prim_id < splat_int(surface.spheres.first_id)) & !is_on_glyph(surface, prim_id);
}
__device__ __forceinline__ void set_lane(Real3& v, int i, float3 value) {
    set_lane(v.x, i, value.x);
    set_lane(v.y, i, value.y);
    set_lane(v.z, i, value.z);
}

// The texture lies on a glyph as on a sphere around it, its poles on the glyph's own axis: u and v of the point found
// are that direction's.
LONG_ON_PACKS SurfacePoint point_on(const GlyphSurface& surface, Real3 direction, Int prim_id, Real u, Real v) {
    const Mask here = is_on_glyph(surface, prim_id);
    const SphereSurface& others = surface;
    SurfacePoint at = point_on(others, direction, without_glyphs(here, prim_id), u, v);
    if (!any(here)) return at;
    const Int none = splat_int(0);
    Real3 normal = at.normal, mapped = {splat(0.0f), splat(1.0f), splat(0.0f)};
    for (unsigned rest = mask_bits(here); rest != 0u; rest &= rest - 1u) {
        const int i = __ffs((int)rest) - 1;
        const Glyph glyph = glyph_at(surface.glyphs.rows, lane(prim_id, i) - surface.glyphs.first_id);
        const GlyphPoint found = glyph_point(glyph, lane(u, i), lane(v, i));
        const float3 point = glyph.centre + found.offset, size = max(point, -point);
        set_lane(at.point, i, point);
        set_lane(normal, i, found.normal);
        set_lane(mapped, i, make_float3(found.mapped.x, found.mapped.z, -found.mapped.y));
        set_lane(at.size, i, max(max(size.x, size.y), size.z) + glyph.sizes.x + glyph.sizes.y + glyph.sizes.z);
    }
    const Mask is_back = dot(normal, direction) > splat(0.0f);
    const OctahedralPlace place = octahedral_place(mapped.x, mapped.y, mapped.z);
    at.u = select(here, place.u, at.u);
    at.v = select(here, place.v, at.v);
    at.corners = {select(here, none, at.corners.a), select(here, none, at.corners.b), select(here, none, at.corners.c)};
    at.normal = select(here, select(is_back, normal * splat(-1.0f), normal), at.normal);
    at.is_back = (here & is_back) | (!here & at.is_back);
    return at;
}

__device__ __forceinline__ MaterialSample plain_material(const GlyphSurface& surface, const SurfacePoint& at, Mask hit,
                                                         Int prim_id) {
    MaterialSample material = load_material(surface.materials, gather_int(surface.material_ids, prim_id), hit);
    const Mask ball = on_sphere(surface, at) & is_sphere(surface, prim_id), glyph = is_on_glyph(surface, prim_id);
    if (surface.spheres.colours != nullptr && any(ball)) {
        const Real3 own = gather3(surface.spheres.colours, sphere_or_first(surface, ball, prim_id));
        material.base_color = select(ball & !(own.x < splat(0.0f)), own, material.base_color);
    }
    if (surface.glyphs.colours != nullptr && any(glyph)) {
        const Int place = select(glyph, prim_id - splat_int(surface.glyphs.first_id), splat_int(0));
        const Real3 own = gather3(surface.glyphs.colours, place);
        material.base_color = select(glyph & !(own.x < splat(0.0f)), own, material.base_color);
    }
    return material;
}

// A point that keeps its place in a glyph's frame while that moves, turns and grows.
__device__ __forceinline__ float3 carried_along(const Glyph& from, const Glyph& to, float3 point) {
    const GlyphAxes old_axes = axes_of(from.turn), new_axes = axes_of(to.turn);
    const float3 away = point - from.centre, a = from.sizes, b = to.sizes;
    return to.centre + new_axes.x * (dot(old_axes.x, away) * (b.x / a.x)) +
           new_axes.y * (dot(old_axes.y, away) * (b.y / a.y)) + new_axes.z * (dot(old_axes.z, away) * (b.z / a.z));
}
LONG_ON_PACKS Real3 point_before(const GlyphSurface& surface, const SurfacePoint& at, Int prim_id, Real3 before) {
    const Mask here = is_on_glyph(surface, prim_id);
    const Mask ball = on_sphere(surface, at) & is_sphere(surface, prim_id);
    Real3 found = before;
    if (any(ball)) {
        const Int sphere = sphere_or_first(surface, ball, prim_id);
        const Real3 moved = gather3(surface.spheres.previous, sphere) - gather3(surface.spheres.centres, sphere);
        const Mask is_known = dot(moved, moved) >= splat(0.0f);
        found = select(ball, select(is_known, at.point + moved, at.point), found);
    }
    for (unsigned rest = mask_bits(here); rest != 0u; rest &= rest - 1u) {
        const int i = __ffs((int)rest) - 1, place = lane(prim_id, i) - surface.glyphs.first_id;
        const Glyph now = glyph_at(surface.glyphs.rows, place), then = glyph_at(surface.glyphs.previous, place);
        const float3 point = make_float3(lane(at.point.x, i), lane(at.point.y, i), lane(at.point.z, i));
        set_lane(found, i, is_there(then) ? carried_along(now, then, point) : point);
    }
    return found;
}
