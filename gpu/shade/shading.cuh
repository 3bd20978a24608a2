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
__device__ __forceinline__ MaterialSample load_material(const float* materials, Int material_id) {
    const Int at = material_id * splat_int(MATERIAL_FLOATS);
    return {{gather(materials, at), gather(materials + 1, at), gather(materials + 2, at)},
            {gather(materials + 4, at), gather(materials + 5, at), gather(materials + 6, at)},
            gather(materials + 8, at), gather(materials + 9, at), truncated(gather(materials + 7, at))};
}

__device__ __forceinline__ float3 texel_color(const SurfaceView& surface, const int4& place, int x, int y) {
    const unsigned texel = surface.texels[place.x + y * place.y + x];
    const float* decode = surface.decode + (place.w ? 256 : 0);
    return make_float3(decode[texel & 255u], decode[texel >> 8 & 255u], decode[texel >> 16 & 255u]);
}

__device__ __forceinline__ int wrapped(int index, int size) { return index < 0 ? index + size : (index >= size ? index - size : index); }

// Bilinear, repeating; texel centres at .5, v downwards. Filtered after decoding. Coordinates that are not finite take texel 0.
__device__ __forceinline__ float3 sample_texture(const SurfaceView& surface, int texture, float u, float v) {
    const int4 place = surface.textures[texture];
    const float whole_u = u - floorf(u), whole_v = v - floorf(v);
    const float x = (is_finite(whole_u) ? whole_u : 0.0f) * place.y - 0.5f, y = (is_finite(whole_v) ? whole_v : 0.0f) * place.z - 0.5f;
    const float floor_x = floorf(x), floor_y = floorf(y);
    const int x0 = wrapped((int)floor_x, place.y), x1 = wrapped((int)floor_x + 1, place.y);
    const int y0 = wrapped((int)floor_y, place.z), y1 = wrapped((int)floor_y + 1, place.z);
    const float s = x - floor_x, t = y - floor_y;
    const float3 above = lerp(texel_color(surface, place, x0, y0), texel_color(surface, place, x1, y0), s);
    const float3 below = lerp(texel_color(surface, place, x0, y1), texel_color(surface, place, x1, y1), s);
    return lerp(above, below, t);
}

// Multiply the base colour of the lanes that have a texture.
__device__ __forceinline__ void apply_textures(const SurfaceView& surface, Mask hit, const Corners& corners, Real u, Real v, MaterialSample& material) {
    const unsigned textured = mask_bits(hit & !(material.texture < splat_int(0)));
    if (!textured) return;
    const Real w = splat(1.0f) - u - v;
    const Int a = corners.a + corners.a, b = corners.b + corners.b, c = corners.c + corners.c;
    const Real s = gather(surface.uvs, a) * w + gather(surface.uvs, b) * u + gather(surface.uvs, c) * v;
    const Real t = gather(surface.uvs + 1, a) * w + gather(surface.uvs + 1, b) * u + gather(surface.uvs + 1, c) * v;
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (!(textured >> i & 1u)) continue;
        const float3 color = sample_texture(surface, lane(material.texture, i), lane(s, i), lane(t, i));
        set_lane(material.base_color.x, i, lane(material.base_color.x, i) * color.x);
        set_lane(material.base_color.y, i, lane(material.base_color.y, i) * color.y);
        set_lane(material.base_color.z, i, lane(material.base_color.z, i) * color.z);
    }
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
