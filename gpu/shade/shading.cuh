// What the integrators share: the surface under a hit, materials, textures, the background, and adding to the film. Everything in lane packs.
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/ray_sources.cuh"

// The surface and its materials: one by-value struct (base.py lays it out).
struct SurfaceView {
    const float* positions;
    const float* normals;
    const float* uvs;
    const int* triangles;
    const int* material_ids;
    const float* materials;
    const int4* textures;
    const unsigned* texels;
    const float* decode;
    const float* lights;
    int light_count, has_textures;
};
static_assert(sizeof(SurfaceView) == 88, "base.py lays this struct out");

constexpr int MATERIAL_FLOATS = 12;

struct MaterialSample {
    Real3 base_color, emission;
    Real metallic, roughness;
    Int texture;
};
// Most packs lie on one material: then it is read once.
__device__ __forceinline__ MaterialSample load_material(const float* materials, Int material_id, Mask hit) {
    const int first = lane(material_id, lowest_lane(hit));
    const float* m = materials + MATERIAL_FLOATS * first;
    if (all((material_id == splat_int(first)) | !hit))
        return {splat3(m[0], m[1], m[2]), splat3(m[4], m[5], m[6]), splat(m[8]), splat(m[9]), splat_int((int)m[7])};
    const Int at = material_id * splat_int(MATERIAL_FLOATS);
    return {{gather(materials, at), gather(materials + 1, at), gather(materials + 2, at)},
            {gather(materials + 4, at), gather(materials + 5, at), gather(materials + 6, at)},
            gather(materials + 8, at), gather(materials + 9, at), truncated(gather(materials + 7, at))};
}

// The corner at column x, row y of each lane's texture.
__device__ __forceinline__ Real3 texel_color(const SurfaceView& surface, Int row_start, Int x, Int decode_start) {
    const Int texel = gather_int((const int*)surface.texels, row_start + x);
    return {gather(surface.decode, decode_start + (texel & 255)), gather(surface.decode, decode_start + ((texel >> 8) & 255)),
            gather(surface.decode, decode_start + ((texel >> 16) & 255))};
}

// Where a coordinate lies between two texels of `size`, repeating.
struct TexelPair {
    Int first, second;
    Real weight;
};
__device__ __forceinline__ TexelPair texels_around(Real coordinate, Int size) {
    const Real fraction = fraction_of(coordinate);
    const Real place = fraction * to_real(size) + splat(0.5f);   // one texel too far right, so that it is positive
    const Int next = truncated(place), zero = splat_int(0);
    const Int first = select(next < splat_int(1), size - splat_int(1), next - splat_int(1));
    return {first, select(next < size, next, zero), place - to_real(next)};
}

// Bilinear, repeating; texel centres at .5, v downwards. Filtered after decoding.
__device__ __forceinline__ Real3 sample_textures(const SurfaceView& surface, Int texture, Real u, Real v) {
    const int* places = (const int*)surface.textures;
    const Int at = texture << 2;
    const Int first = gather_int(places, at), width = gather_int(places + 1, at), height = gather_int(places + 2, at);
    const Int decode = gather_int(places + 3, at) << 8;
    const TexelPair x = texels_around(u, width), y = texels_around(v, height);
    const Int above = first + y.first * width, below = first + y.second * width;
    const Real3 top = lerp(texel_color(surface, above, x.first, decode), texel_color(surface, above, x.second, decode), x.weight);
    const Real3 bottom = lerp(texel_color(surface, below, x.first, decode), texel_color(surface, below, x.second, decode), x.weight);
    return lerp(top, bottom, y.weight);
}

// Multiply the base colour of the lanes that have a texture.
__device__ __forceinline__ void apply_textures(const SurfaceView& surface, Mask hit, const Corners& corners, Real u, Real v, MaterialSample& material) {
    const Mask textured = hit & !(material.texture < splat_int(0));
    if (!any(textured)) return;
    const Real w = splat(1.0f) - u - v;
    const Int a = corners.a + corners.a, b = corners.b + corners.b, c = corners.c + corners.c;
    const Real s = gather(surface.uvs, a) * w + gather(surface.uvs, b) * u + gather(surface.uvs, c) * v;
    const Real t = gather(surface.uvs + 1, a) * w + gather(surface.uvs + 1, b) * u + gather(surface.uvs + 1, c) * v;
    const Real3 color = sample_textures(surface, select(textured, material.texture, splat_int(0)), s, t);
    material.base_color = select(textured, material.base_color * color, material.base_color);
}

// From below to above by the direction's height; equal colours make it constant.
__device__ __forceinline__ Real3 background(const float* below_and_above, Real3 direction) {
    const Real height = splat(0.5f) + direction.y * splat(0.5f);
    const Real3 below = splat3(below_and_above[0], below_and_above[1], below_and_above[2]);
    const Real3 above = splat3(below_and_above[3], below_and_above[4], below_and_above[5]);
    return lerp(below, above, height);
}

// The first sample of a film overwrites what was there.
__device__ __forceinline__ void add_to_film(float* sums, int64 plane, int first, int sample_index, Real3 color) {
    if (sample_index > 0)
        color = color + Real3{load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)};
    store(sums + first, color.x);
    store(sums + plane + first, color.y);
    store(sums + 2 * plane + first, color.z);
}
