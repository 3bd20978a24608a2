// A glyph (gpu/glyph_shapes.py tells its shapes), its frame, and the smallest box around it in closed form.
// from gpu.glyph_shapes import ARROW_HEAD, GLYPH_SHAPES, SPLAT_NEAR
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"

//  byte  0        12       16               32      44
//        | centre | unused | turn: x y z w  | sizes | mark |
// The mark is GLYPH_MARK - shape; of a glyph that is not there it is -0, and the centre is not a number.
struct Glyph {
    float3 centre;
    float4 turn;
    float3 sizes;
    int shape;  // NONE: it is not there

    static constexpr int NONE = -1;
};
constexpr float GLYPH_MARK = -2.0f;

__device__ __forceinline__ bool is_glyph(float4 last) { return last.w <= GLYPH_MARK; }
__device__ __forceinline__ Glyph glyph_of(float4 first, float4 turn, float4 last) {
    return {make_float3(first.x, first.y, first.z), turn, make_float3(last.x, last.y, last.z),
            is_glyph(last) ? (int)(GLYPH_MARK - last.w) : Glyph::NONE};
}
__device__ __forceinline__ bool is_there(const Glyph& glyph) {
    const float3 s = glyph.sizes, zero = (glyph.centre + s) * 0.0f;
    const float4 q = glyph.turn;
    return glyph.shape != Glyph::NONE && s.x > 0.0f && s.y > 0.0f && s.z > 0.0f && is_finite(zero) &&
           is_finite((q.x + q.y + q.z + q.w) * 0.0f);
}

// The axes of a glyph's frame in the scene.
struct GlyphAxes {
    float3 x, y, z;
};
__device__ __forceinline__ GlyphAxes axes_of(float4 q) {
    const float x2 = q.x * 2.0f, y2 = q.y * 2.0f, z2 = q.z * 2.0f;
    const float xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    const float wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return {make_float3(1.0f - yy - zz, xy + wz, xz - wy), make_float3(xy - wz, 1.0f - xx - zz, yz + wx),
            make_float3(xz + wy, yz - wx, 1.0f - xx - yy)};
}

// Of one axis of the scene its parts along those.
__device__ __forceinline__ float3 parts_along(float4 q, int axis) {
    const float x2 = q.x * 2.0f, y2 = q.y * 2.0f, z2 = q.z * 2.0f;
    if (axis == 0) return make_float3(1.0f - q.y * y2 - q.z * z2, q.x * y2 - q.w * z2, q.x * z2 + q.w * y2);
    if (axis == 1) return make_float3(q.x * y2 + q.w * z2, 1.0f - q.x * x2 - q.z * z2, q.y * z2 - q.w * x2);
    return make_float3(q.x * z2 - q.w * y2, q.y * z2 + q.w * x2, 1.0f - q.x * x2 - q.y * y2);
}

// An arrow's measures: where along z its head begins, and how wide that is.
struct ArrowHead {
    float base, radius;
};
__device__ __forceinline__ ArrowHead arrow_head(float3 sizes) {
    const float radius = max(sizes.x, sizes.y), length = min(radius * (float)ARROW_HEAD, sizes.z * 2.0f);
    return {sizes.z - length, radius};
}

// How far a glyph reaches below and above its centre along an axis of the scene, of which `along_it` are the parts
// along its own axes.
struct GlyphReach {
    float below, above;
};
__device__ __forceinline__ GlyphReach reach_along(const Glyph& glyph, float3 along_it) {
    const float3 s = glyph.sizes, part = make_float3(s.x * along_it.x, s.y * along_it.y, s.z * along_it.z);
    const float side = sqrtf(part.x * part.x + part.y * part.y), up = max(part.z, -part.z);
    if (glyph.shape == GLYPH_SHAPES::arrow) {
        // the hull of the tail's disc, the head's disc and the tip
        const float slope = sqrtf(along_it.x * along_it.x + along_it.y * along_it.y);
        const ArrowHead head = arrow_head(s);
        const float shaft = s.x * slope, wide = head.radius * slope, middle = head.base * along_it.z;
        return {max(max(part.z + shaft, wide - middle), -part.z), max(max(shaft - part.z, middle + wide), part.z)};
    }
    float reach = sqrtf(side * side + part.z * part.z);
    if (glyph.shape == GLYPH_SHAPES::cylinder) reach = up + side;
    if (glyph.shape == GLYPH_SHAPES::capsule) reach = up + s.x;
    if (glyph.shape == GLYPH_SHAPES::disc) reach = side;
    if (glyph.shape == GLYPH_SHAPES::splat) reach = s.x;
    if (glyph.shape == GLYPH_SHAPES::box) reach = max(part.x, -part.x) + max(part.y, -part.y) + up;
    return {reach, reach};
}

// The smallest box, and as much more as rounding may take away.
__device__ __forceinline__ Aabb aabb_of(const Glyph& glyph) {
    if (!is_there(glyph)) return empty_aabb();
    const float size = (max(glyph.sizes.x, glyph.sizes.y) + glyph.sizes.z) * GLYPH_SLACK;
    Aabb box;
#pragma unroll
    for (int axis = 0; axis < 3; ++axis) {
        const GlyphReach reach = reach_along(glyph, parts_along(glyph.turn, axis));
        const float at = along(glyph.centre, axis), slack = size + max(at, -at) * GLYPH_CENTRE_SLACK;
        set_along(box.lower, axis, at - reach.below - slack + 0.0f);
        set_along(box.upper, axis, at + reach.above + slack + 0.0f);
    }
    return box;
}
