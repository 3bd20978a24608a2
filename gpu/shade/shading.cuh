// What the integrators share: the surface under a hit, materials, textures, the background, and adding to the film.
// Everything in lane packs.
// from gpu.shade.base import PictureRow
// from gpu.shade.material_row import ALPHA_IS_A_SHARE, MaterialFeatures, MaterialRow
// from gpu.shade.surface_view import GlyphArrays, GlyphSurface, SphereArrays, SphereSurface, TriangleSurface
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/octahedral.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/lights.cuh"
#include "gpu/trace/ray_sources.cuh"

// The surface and its materials: one by-value struct. The unit constant SURFACE_KIND is 0 for a scene of triangles
// alone, 1 for one with spheres, 2 for one with glyphs.
template <int KIND>
struct SurfaceOf {
    using Type = TriangleSurface;
};
template <>
struct SurfaceOf<1> {
    using Type = SphereSurface;
};
template <>
struct SurfaceOf<2> {
    using Type = GlyphSurface;
};
using SurfaceView = SurfaceOf<SURFACE_KIND>::Type;

struct MaterialSample {
    Real3 base_color, emission;
    Real metallic, roughness;
    Int texture;
    Real alpha;  // the share that is covered: 0 or 1 for a mask
    Real transmission, ior;
    Int record;  // its first float, for what few need
};

// Most packs lie on one material: then it is read once.
LONG_ON_PACKS MaterialSample load_material(const float* materials, Int material_id, Mask hit) {
    const int first = lane(material_id, lowest_lane(hit));
    const float* m = materials + MaterialRow::FLOATS * first;
    if (all((material_id == splat_int(first)) | !hit))
        return {splat3(m + MaterialRow::base_color),
                splat3(m + MaterialRow::emission),
                splat(m[MaterialRow::metallic]),
                splat(m[MaterialRow::roughness]),
                splat_int((int)m[MaterialRow::base_color_texture]),
                splat(m[MaterialRow::alpha]),
                splat(m[MaterialRow::transmission]),
                splat(m[MaterialRow::ior]),
                splat_int(MaterialRow::FLOATS * first)};
    const Int at = select(hit, material_id, splat_int(first)) * splat_int(MaterialRow::FLOATS);
    return {{gather(materials + MaterialRow::base_color, at), gather(materials + MaterialRow::base_color + 1, at),
             gather(materials + MaterialRow::base_color + 2, at)},
            {gather(materials + MaterialRow::emission, at), gather(materials + MaterialRow::emission + 1, at),
             gather(materials + MaterialRow::emission + 2, at)},
            gather(materials + MaterialRow::metallic, at),
            gather(materials + MaterialRow::roughness, at),
            truncated(gather(materials + MaterialRow::base_color_texture, at)),
            gather(materials + MaterialRow::alpha, at),
            gather(materials + MaterialRow::transmission, at),
            gather(materials + MaterialRow::ior, at),
            at};
}

// The corner at column x, row y of each lane's texture.
__device__ __forceinline__ Real3 texel_color(const SurfaceView& surface, Int row_start, Int x, Int decode_start) {
    const Int texel = gather_int((const int*)surface.texels, row_start + x);
    return {gather(surface.decode, decode_start + (texel & 255)),
            gather(surface.decode, decode_start + ((texel >> 8) & 255)),
            gather(surface.decode, decode_start + ((texel >> 16) & 255))};
}

// Where a coordinate lies between two texels of `size`, repeating.
struct TexelPair {
    Int first, second;
    Real weight;
};
__device__ __forceinline__ TexelPair texels_around(Real coordinate, Int size) {
    const Real fraction = fraction_of(coordinate);
    const Real place = fraction * to_real(size) + splat(0.5f);  // one texel too far right, so that it is positive
    const Int next = truncated(place), zero = splat_int(0);
    const Int first = select(next < splat_int(1), size - splat_int(1), next - splat_int(1));
    return {first, select(next < size, next, zero), place - to_real(next)};
}

// Four corners and how they are weighed.
struct TexturePatch {
    Int upper_left, upper_right, lower_left, lower_right, decode;
    Real across, down;
};
LONG_ON_PACKS TexturePatch texture_patch(const SurfaceView& surface, Int texture, Real u, Real v) {
    const int* places = (const int*)surface.textures;
    const Int at = texture << 2;
    const Int first = gather_int(places, at), width = gather_int(places + 1, at), height = gather_int(places + 2, at);
    const TexelPair x = texels_around(u, width), y = texels_around(v, height);
    const Int above = first + y.first * width, below = first + y.second * width;
    return {above + x.first, above + x.second, below + x.first, below + x.second, gather_int(places + 3, at) << 8,
            x.weight,        y.weight};
}
// Bilinear, repeating; texel centres at .5, v downwards. Filtered after decoding.
LONG_ON_PACKS Real3 sample_textures(const SurfaceView& surface, const TexturePatch& p) {
    const Int none = splat_int(0);
    const Real3 top = lerp(texel_color(surface, p.upper_left, none, p.decode),
                           texel_color(surface, p.upper_right, none, p.decode), p.across);
    const Real3 bottom = lerp(texel_color(surface, p.lower_left, none, p.decode),
                              texel_color(surface, p.lower_right, none, p.decode), p.across);
    return lerp(top, bottom, p.down);
}
__device__ __forceinline__ Real3 sample_textures(const SurfaceView& surface, Int texture, Real u, Real v) {
    return sample_textures(surface, texture_patch(surface, texture, u, v));
}
__device__ __forceinline__ Real texel_alpha(const SurfaceView& surface, Int texel) {
    return to_real((gather_int((const int*)surface.texels, texel) >> 24) & 255) * splat(1.0f / 255.0f);
}
LONG_ON_PACKS Real sample_alpha(const SurfaceView& surface, const TexturePatch& p) {
    const Real a = texel_alpha(surface, p.upper_left), b = texel_alpha(surface, p.upper_right);
    const Real c = texel_alpha(surface, p.lower_left), d = texel_alpha(surface, p.lower_right);
    const Real top = a + (b - a) * p.across, bottom = c + (d - c) * p.across;
    return top + (bottom - top) * p.down;
}

// Texture coordinates: v downwards, repeating.
struct TexturePlace {
    Real s, t;
};
__device__ __forceinline__ TexturePlace texture_place(const TriangleSurface& surface, const Corners& corners, Real u,
                                                      Real v) {
    const Real w = splat(1.0f) - u - v;
    const Int a = corners.a + corners.a, b = corners.b + corners.b, c = corners.c + corners.c;
    return {gather(surface.uvs, a) * w + gather(surface.uvs, b) * u + gather(surface.uvs, c) * v,
            gather(surface.uvs + 1, a) * w + gather(surface.uvs + 1, b) * u + gather(surface.uvs + 1, c) * v};
}
// Lanes on spheres (their corners are one): longitude from -z on and latitude from above, in the scene's axes, as the
// environment has them.
__device__ __forceinline__ TexturePlace texture_place(const SphereSurface& surface, const Corners& corners, Real u,
                                                      Real v) {
    const TriangleSurface& triangles = surface;
    const TexturePlace place = texture_place(triangles, corners, u, v);
    const Mask here = corners.a == corners.b;
    if (!any(here)) return place;
    const OctahedralDirection d = octahedral_direction(u, v);
    const Real side = lanes_sqrt(d.x * d.x + d.z * d.z);
    return {select(here, turns_of(-d.z, d.x), place.s), select(here, turns_of(d.y, side) * splat(2.0f), place.t)};
}

// What is left of alpha after the material's rule: all of it, a share, or all or nothing.
__device__ __forceinline__ Real covered_share(const SurfaceView& surface, const MaterialSample& material, Real alpha) {
    const Real rule = gather(surface.materials + MaterialRow::alpha_rule, material.record);
    const Real kept = select(alpha >= rule, splat(1.0f), splat(0.0f));
    const Real share = splat(ALPHA_IS_A_SHARE);
    return select(rule < share, splat(1.0f), select(rule > share, kept, alpha));
}

// Metalness, roughness and emission of the lanes that have textures of them.
__device__ __forceinline__ void apply_other_maps(const SurfaceView& surface, Mask hit, const TexturePlace& at,
                                                 MaterialSample& material) {
    const Int none = splat_int(0);
    const Int rough = truncated(gather(surface.materials + MaterialRow::roughness_texture, material.record));
    const Mask is_rough = hit & !(rough < none);
    if (any(is_rough)) {
        const Real3 found = sample_textures(surface, select(is_rough, rough, none), at.s, at.t);
        material.roughness = select(is_rough, material.roughness * found.y, material.roughness);
        material.metallic = select(is_rough, material.metallic * found.z, material.metallic);
    }
    const Int glow = truncated(gather(surface.materials + MaterialRow::emission_texture, material.record));
    const Mask glows = hit & !(glow < none);
    if (any(glows))
        material.emission = select(glows,
                                   material.emission * sample_textures(surface, select(glows, glow, none), at.s, at.t),
                                   material.emission);
}

// What textures make of the material of the lanes that have them.
__device__ __forceinline__ void apply_textures(const SurfaceView& surface, Mask hit, const Corners& corners, Real u,
                                               Real v, MaterialSample& material) {
    const Mask textured = hit & !(material.texture < splat_int(0));
    const bool has_alpha = surface.features & MaterialFeatures::ALPHA;
    if (any(textured) || surface.features & MaterialFeatures::OTHER_MAPS) {
        const TexturePlace at = texture_place(surface, corners, u, v);
        if (any(textured)) {
            const TexturePatch patch = texture_patch(surface, select(textured, material.texture, splat_int(0)), at.s,
                                                     at.t);
            material.base_color = select(textured, material.base_color * sample_textures(surface, patch),
                                         material.base_color);
            if (has_alpha)
                material.alpha = select(textured, material.alpha * sample_alpha(surface, patch), material.alpha);
        }
        if (surface.features & MaterialFeatures::OTHER_MAPS) apply_other_maps(surface, hit, at, material);
    }
    if (has_alpha) material.alpha = covered_share(surface, material, material.alpha);
}

// What shines to one side: the back of what is not double-sided is dark.
__device__ __forceinline__ Real3 emission_of_side(const SurfaceView& surface, const MaterialSample& material,
                                                  Mask is_back) {
    if (!(surface.features & MaterialFeatures::ONE_SIDED_LAMPS)) return material.emission;
    const Mask is_dark = is_back &
                         (gather(surface.materials + MaterialRow::is_double_sided, material.record) < splat(0.5f));
    return select(is_dark, splat3(0.0f, 0.0f, 0.0f), material.emission);
}

// From below to above by the direction's height; equal colours make it constant. `options` begin with a PictureRow.
__device__ __forceinline__ Real3 background(const float* options, Real3 direction) {
    const Real height = splat(0.5f) + direction.y * splat(0.5f);
    return lerp(splat3(options + PictureRow::background_below), splat3(options + PictureRow::background_above), height);
}

// The first sample of a film overwrites what was there.
__device__ __forceinline__ void add_to_film(float* sums, int64 plane, int first, int sample_index, Real3 color) {
    if (sample_index > 0)
        color = color + Real3{load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)};
    store(sums + first, color.x);
    store(sums + plane + first, color.y);
    store(sums + 2 * plane + first, color.z);
}
