// The ball round a glyph's centre that holds all of it.
// from gpu.glyph_shapes import GLYPH_SHAPES
#pragma once
#include "gpu/device/glyph.cuh"

__device__ __forceinline__ float ball_radius(const Glyph& glyph) {
    const float3 s = glyph.sizes;
    const float wide = max(s.x, s.y);
    float radius = sqrtf(wide * wide + s.z * s.z);  // of a cylinder, and of an arrow
    if (glyph.shape == GLYPH_SHAPES::ellipsoid) radius = max(wide, s.z);
    if (glyph.shape == GLYPH_SHAPES::capsule) radius = s.x + s.z;
    if (glyph.shape == GLYPH_SHAPES::box) radius = length(s);
    if (glyph.shape == GLYPH_SHAPES::disc) radius = wide;
    if (glyph.shape == GLYPH_SHAPES::splat) radius = s.x;
    return radius + (wide + s.z) * (2.0f * GLYPH_SLACK);
}
