// Where on a glyph a hit lies: from its u and v (glyph_hit.cuh), as exact as the glyph is, whatever the ray was.
#pragma once
#include "gpu/device/glyph_hit.cuh"

// From the centre, along the scene's axes; the normal outwards, of unit length. `mapped` is the direction that a
// texture lies by: that of the point in the glyph's own frame, with the glyph scaled to a cube.
struct GlyphPoint {
    float3 offset, normal, mapped;
};
__device__ __forceinline__ float3 unit_of_place(float u, float v) {
    const float a = u * 2.0f - 1.0f, b = v * 2.0f - 1.0f, z = 1.0f - fabsf(a) - fabsf(b), below = max(-z, 0.0f);
    return normalize(make_float3(a + (a < 0.0f ? below : -below), b + (b < 0.0f ? below : -below), z));
}
// The direction round the axis that u names.
__device__ __forceinline__ float2 way_round(float u) {
    const float turned = 4.0f * u;
    const float x = turned <= 2.0f ? 1.0f - turned : turned - 3.0f;
    const float y = (1.0f - fabsf(x)) * (turned <= 2.0f ? 1.0f : -1.0f);
    const float scale = 1.0f / sqrtf(x * x + y * y);
    return make_float2(x * scale, y * scale);
}

// A point of the outline of a solid of revolution: how far from the axis, how high, and the normal there.
struct OutlinePoint {
    float radius, height, out, up;
};
__device__ __forceinline__ OutlinePoint outline_at(int shape, float3 s, float v) {
    const float quarters = v / OUTLINE_PART;
    const bool is_bottom = quarters <= 1.0f;
    if (shape == GLYPH_SHAPES::arrow) {
        const ArrowHead head = arrow_head(s);
        if (is_bottom) return {s.x * quarters, -s.z, 0.0f, -1.0f};
        if (quarters <= 2.0f) return {s.x, -s.z + (quarters - 1.0f) * (head.base + s.z), 1.0f, 0.0f};
        if (quarters <= 3.0f) return {s.x + (quarters - 2.0f) * (head.radius - s.x), head.base, 0.0f, -1.0f};
        const float length = s.z - head.base, slant = 1.0f / sqrtf(length * length + head.radius * head.radius);
        const float share = quarters - 3.0f;
        return {head.radius * (1.0f - share), head.base + share * length, length * slant, head.radius * slant};
    }
    const float side = is_bottom ? -1.0f : 1.0f, cap = is_bottom ? quarters : 4.0f - quarters;
    if (!is_bottom && quarters < 3.0f) {
        const float radius = shape == GLYPH_SHAPES::cylinder ? 1.0f : s.x;
        return {radius, (quarters - 2.0f) * s.z, 1.0f, 0.0f};
    }
    if (shape == GLYPH_SHAPES::cylinder) return {cap, side * s.z, 0.0f, side};
    if (shape == GLYPH_SHAPES::disc) return {cap, 0.0f, 0.0f, 1.0f};
    const float scale = 1.0f / sqrtf(cap * cap + (1.0f - cap) * (1.0f - cap));
    const float out = cap * scale, up = (1.0f - cap) * scale * side;
    return {s.x * out, side * s.z + s.x * up, out, up};
}

__device__ __forceinline__ GlyphPoint glyph_point(const Glyph& glyph, float u, float v) {
    const float3 s = glyph.sizes;
    float3 point, normal;
    if (glyph.shape == GLYPH_SHAPES::ellipsoid) {
        const float3 unit = unit_of_place(u, v);
        const float least = min(min(s.x, s.y), s.z);
        point = make_float3(unit.x * s.x, unit.y * s.y, unit.z * s.z);
        normal = normalize(make_float3(unit.x * (least / s.x), unit.y * (least / s.y), unit.z * (least / s.z)));
    } else if (glyph.shape == GLYPH_SHAPES::box) {
        float3 unit = unit_of_place(u, v);
        const float3 size = max(unit, -unit);
        const float most = max(max(size.x, size.y), size.z);
        unit = unit / most;
        const int axis = size.x == most ? 0 : size.y == most ? 1 : 2;
        point = make_float3(unit.x * s.x, unit.y * s.y, unit.z * s.z);
        normal = make_float3(0.0f, 0.0f, 0.0f);
        set_along(normal, axis, along(unit, axis) < 0.0f ? -1.0f : 1.0f);
    } else if (glyph.shape == GLYPH_SHAPES::splat) {
        point = make_float3(0.0f, 0.0f, 0.0f);
        normal = make_float3(0.0f, 0.0f, 1.0f);
    } else {
        const float2 way = way_round(u);
        const OutlinePoint at = outline_at(glyph.shape, s, v);
        const bool is_elliptic = glyph.shape == GLYPH_SHAPES::cylinder || glyph.shape == GLYPH_SHAPES::disc;
        const float sx = is_elliptic ? s.x : 1.0f, sy = is_elliptic ? s.y : 1.0f, least = min(sx, sy);
        point = make_float3(way.x * at.radius * sx, way.y * at.radius * sy, at.height);
        normal = normalize(make_float3(way.x * at.out * (least / sx), way.y * at.out * (least / sy), at.up));
    }
    const bool is_flat = glyph.shape == GLYPH_SHAPES::disc || glyph.shape == GLYPH_SHAPES::splat;
    const float3 mapped = make_float3(point.x / s.x, point.y / s.y, is_flat ? 1.0f : point.z / s.z);
    const GlyphAxes axes = axes_of(glyph.turn);
    return {axes.x * point.x + axes.y * point.y + axes.z * point.z,
            normalize(axes.x * normal.x + axes.y * normal.y + axes.z * normal.z), normalize(mapped)};
}
