// Triangles, spheres and glyphs, and regions of space. Here glyphs are solids, all but discs; a splat, which faces
// every ray, is the ball of its radius.
#pragma once
#include "gpu/device/glyphs.cuh"
#include "gpu/device/mixed_queries.cuh"

constexpr int NEWTON_STEPS = 16;  // from the left of the root, where at most 3 is 1: fewer do
constexpr int PROJECTIONS = 32;  // onto glyph and box in turn, until one of them says how they lie

// The point of an ellipse (of which z of `p` is 0) or ellipsoid that is nearest to one outside of it. That is
// sizes^2 p / (t + sizes^2), where t > 0 is the root of a convex function that falls: Newton's steps from its left come
// near to the root and never pass it (Eberly, Distance from a Point to an Ellipse, 2013). In units of the largest size.
__device__ __forceinline__ float3 nearest_on_ellipsoid(float3 sizes, float3 p) {
    const float size = max(sizes.x, max(sizes.y, sizes.z));
    const float3 s = sizes / size, at = max(p, -p) / size;
    const float3 squares = make_float3(s.x * s.x, s.y * s.y, s.z * s.z);
    const float3 weights = make_float3(s.x * at.x, s.y * at.y, s.z * at.z);
    float t = max(0.0f, max(weights.x - squares.x, max(weights.y - squares.y, weights.z - squares.z)));
    for (int step = 0; step < NEWTON_STEPS; ++step) {
        const float3 below = squares + make_float3(t, t, t);
        const float3 share = make_float3(weights.x / below.x, weights.y / below.y, weights.z / below.z);
        const float3 slope = make_float3(share.x / below.x, share.y / below.y, share.z / below.z);
        const float further = (dot(share, share) - 1.0f) / (2.0f * dot(share, slope));
        if (!(further > t * NEWTON_ENOUGH)) break;
        t += further;
    }
    const float3 below = squares + make_float3(t, t, t);
    return make_float3(p.x * (squares.x / below.x), p.y * (squares.y / below.y), p.z * (squares.z / below.z));
}
__device__ __forceinline__ float3 nearest_in_ellipsoid(float3 sizes, float3 p) {
    const float x = p.x / sizes.x, y = p.y / sizes.y, z = p.z / sizes.z;
    return x * x + y * y + z * z <= 1.0f ? p : nearest_on_ellipsoid(sizes, p);
}
__device__ __forceinline__ float3 nearest_in_ellipse(float3 sizes, float3 p) {
    const float3 found = nearest_in_ellipsoid(make_float3(sizes.x, sizes.y, max(sizes.x, sizes.y)),
                                              make_float3(p.x, p.y, 0.0f));
    return make_float3(found.x, found.y, 0.0f);
}
__device__ __forceinline__ float3 nearest_in_ball(float radius, float3 p) {
    const float far = length(p);
    return far <= radius ? p : p * (radius / far);
}
__device__ __forceinline__ float clamped(float value, float least, float most) { return min(max(value, least), most); }

// A cone that stands on a disc at `base` and has its tip at `tip`, above; in the plane of the axis and the point.
__device__ __forceinline__ float3 nearest_in_cone(float base, float radius, float tip, float3 p) {
    const float side = sqrtf(p.x * p.x + p.y * p.y), height = tip - base;
    const float above = clamped(p.z - base, 0.0f, height), wide = radius * (1.0f - above / height);
    if (p.z >= base && p.z <= tip && side <= wide) return p;
    const float3 disc = make_float3(min(side, radius), 0.0f, base), here = make_float3(side, 0.0f, p.z);
    const float t = clamped(((side - radius) * -radius + (p.z - base) * height) / (radius * radius + height * height),
                            0.0f, 1.0f);
    const float3 slant = make_float3(radius * (1.0f - t), 0.0f, base + height * t);
    const float3 found = here + nearer(slant - here, disc - here);
    const float scale = side > 0.0f ? found.x / side : 0.0f;
    return make_float3(p.x * scale, p.y * scale, found.z);
}

// Convex parts: an arrow has two.
__device__ __forceinline__ int parts_of(const Glyph& glyph) { return glyph.shape == GLYPH_SHAPES::arrow ? 2 : 1; }

// The point of a part that is nearest to `p`, itself where it lies inside; in the glyph's frame.
__device__ __forceinline__ float3 nearest_in(const Glyph& glyph, int part, float3 p) {
    const float3 s = glyph.sizes;
    if (glyph.shape == GLYPH_SHAPES::ellipsoid) return nearest_in_ellipsoid(s, p);
    if (glyph.shape == GLYPH_SHAPES::box) return max(min(p, s), -s);
    if (glyph.shape == GLYPH_SHAPES::splat) return nearest_in_ball(s.x, p);
    if (glyph.shape == GLYPH_SHAPES::capsule) {
        const float3 middle = make_float3(0.0f, 0.0f, clamped(p.z, -s.z, s.z));
        return middle + nearest_in_ball(s.x, p - middle);
    }
    if (glyph.shape == GLYPH_SHAPES::arrow) {
        const ArrowHead head = arrow_head(s);
        if (part == 1) return nearest_in_cone(head.base, head.radius, s.z, p);
        const float3 across = nearest_in_ball(s.x, make_float3(p.x, p.y, 0.0f));
        return make_float3(across.x, across.y, clamped(p.z, -s.z, head.base));
    }
    const float3 across = nearest_in_ellipse(s, p);
    return make_float3(across.x, across.y, glyph.shape == GLYPH_SHAPES::disc ? 0.0f : clamped(p.z, -s.z, s.z));
}

__device__ __forceinline__ float3 in_frame(const GlyphAxes& axes, float3 v) {
    return make_float3(dot(axes.x, v), dot(axes.y, v), dot(axes.z, v));
}
__device__ __forceinline__ float3 in_scene(const GlyphAxes& axes, float3 v) {
    return axes.x * v.x + axes.y * v.y + axes.z * v.z;
}

// From `point` to the nearest point of one part, relative to both.
__device__ __forceinline__ float3 offset_to_part(const Glyph& glyph, const GlyphAxes& axes, int part, float3 point) {
    const float3 p = in_frame(axes, point - glyph.centre), found = nearest_in(glyph, part, p);
    return in_scene(axes, found - p);
}
__device__ __forceinline__ float3 offset_to(const Glyph& glyph, float3 point) {
    const GlyphAxes axes = axes_of(glyph.turn);
    float3 to = offset_to_part(glyph, axes, 0, point);
    if (parts_of(glyph) == 2) to = nearer(to, offset_to_part(glyph, axes, 1, point));
    return to;
}

// Whether a part and the box have a point in common. The part lies behind the plane through its point nearest to one of
// the box: where all of the box is before it, they are apart. What is not decided after PROJECTIONS, and was nearly
// touching all along, is taken to touch.
__device__ __forceinline__ bool part_reaches_into(const Glyph& glyph, const GlyphAxes& axes, int part,
                                                  const Aabb& box) {
    float3 at = max(min(glyph.centre, box.upper), box.lower);
    for (int i = 0; i < PROJECTIONS; ++i) {
        const float3 to = offset_to_part(glyph, axes, part, at), on_part = at + to;
        if (dot(to, to) == 0.0f) return true;
        const float3 next = max(min(on_part, box.upper), box.lower), away = next - on_part;
        if (dot(away, away) == 0.0f) return true;
        // of the box's corners the one that is the farthest along `to`, hence behind the plane if any is
        const float3 corner = make_float3(to.x > 0.0f ? box.upper.x : box.lower.x,
                                          to.y > 0.0f ? box.upper.y : box.lower.y,
                                          to.z > 0.0f ? box.upper.z : box.lower.z);
        if (dot(corner - on_part, to) < 0.0f) return false;
        // over the nearest point by half: what lies inside of both is reached, and not only come near to
        at = max(min(at + to * 1.5f, box.upper), box.lower);
    }
    return true;
}
__device__ __forceinline__ bool reaches_into(const Glyph& glyph, const Aabb& box) {
    if (!overlap(aabb_of(glyph), box)) return false;
    const GlyphAxes axes = axes_of(glyph.turn);
    return part_reaches_into(glyph, axes, 0, box) || (parts_of(glyph) == 2 && part_reaches_into(glyph, axes, 1, box));
}

__device__ __forceinline__ float3 offset_to(const WithGlyphs::Shape& shape, float3 point) {
    return shape.is_glyph() ? offset_to(shape.glyph(), point) : offset_to(shape.other(), point);
}
__device__ __forceinline__ bool reaches_into(const WithGlyphs::Shape& shape, const Aabb& box) {
    return shape.is_glyph() ? reaches_into(shape.glyph(), box) : reaches_into(shape.other(), box);
}
