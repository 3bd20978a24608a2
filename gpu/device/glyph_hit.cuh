// Rays and glyphs: where a ray enters and leaves, and where on the surface that is.
//
// The ray is looked at from its point nearest to the centre. That point is the difference of large numbers, taken
// without rounding (Knuth's sum and one fused product), so that a glyph that is small and far keeps its digits; there
// the ray is turned into the glyph's frame and scaled to its largest size. Every shape is made of spans, the parts of
// the ray inside of something simple: between two planes, in an elliptic tube, in a ball, in a cone. In that frame a
// hit is wrong by a few 1e-7 of the largest size.
//
// u and v of a hit: on ellipsoids and boxes the direction of the point, with the glyph scaled to a ball or a cube
// (octahedral.cuh); on the others u goes once round the axis, v along the outline from below to above by GlyphOutline.
// A disc has the outline of a cylinder's top; a splat is its centre wherever it is hit.
#pragma once
#include "gpu/device/glyph.cuh"
#include "gpu/device/intersection.cuh"
#include "gpu/device/octahedral.cuh"

// From where to where a ray is inside, in its own measure, and by which part of the surface it enters and leaves. Empty
// where it does not enter before it leaves.
struct GlyphSpan {
    Real enter, exit, first_part, last_part;
};
// The parts of solids of revolution, from below to above; of a box the axis of the face.
namespace GlyphPart {
constexpr float BOTTOM = 0.0f, SIDE = 1.0f, BASE = 2.0f, TOP = 3.0f;
}
constexpr float OUTLINE_PART = 0.25f;  // of v: the bottom has the first quarter, the top the last one

__device__ __forceinline__ GlyphSpan empty_span() {
    return {splat(FLOAT_MAX), splat(-FLOAT_MAX), splat(0.0f), splat(0.0f)};
}
__device__ __forceinline__ Mask is_some(const GlyphSpan& span) { return span.enter <= span.exit; }
__device__ __forceinline__ GlyphSpan span_where(Mask some, const GlyphSpan& span) {
    const GlyphSpan none = empty_span();
    return {select(some, span.enter, none.enter), select(some, span.exit, none.exit), span.first_part, span.last_part};
}
__device__ __forceinline__ GlyphSpan both(const GlyphSpan& a, const GlyphSpan& b) {
    const Mask later = b.enter > a.enter, earlier = b.exit < a.exit;
    const GlyphSpan span = {select(later, b.enter, a.enter), select(earlier, b.exit, a.exit),
                            select(later, b.first_part, a.first_part), select(earlier, b.last_part, a.last_part)};
    return span_where(is_some(span), span);
}
// What lies between the ends of two that touch, or of which one is empty.
__device__ __forceinline__ GlyphSpan hull(const GlyphSpan& a, const GlyphSpan& b) {
    const Mask earlier = b.enter<a.enter, later = b.exit> a.exit;
    return {select(earlier, b.enter, a.enter), select(later, b.exit, a.exit),
            select(earlier, b.first_part, a.first_part), select(later, b.last_part, a.last_part)};
}

// Between the planes `low` and `high` of one coordinate.
__device__ __forceinline__ GlyphSpan span_of_slab(Real at, Real direction, float low, float high, float low_part,
                                                  float high_part) {
    const Real inverse = clamped_inverse(direction);
    const Real to_low = (splat(low) - at) * inverse, to_high = (splat(high) - at) * inverse;
    const Mask up = to_low <= to_high;
    return {select(up, to_low, to_high), select(up, to_high, to_low), select(up, splat(low_part), splat(high_part)),
            select(up, splat(high_part), splat(low_part))};
}
// Where the sum of two or three squares is at most 1. The discriminant is taken from the nearest point (sphere.cuh).
__device__ __forceinline__ GlyphSpan span_of_ball(Real x, Real y, Real z, Real dx, Real dy, Real dz, float part) {
    const Real squared = max(dx * dx + dy * dy + dz * dz, splat(LEAST_DIVISOR));
    const Real nearest = -(x * dx + y * dy + z * dz) / squared;
    const Real lx = lanes_fma(nearest, dx, x), ly = lanes_fma(nearest, dy, y), lz = lanes_fma(nearest, dz, z);
    const Real inside = splat(1.0f) - (lx * lx + ly * ly + lz * lz);
    const Real half = lanes_sqrt(max(inside, splat(0.0f)) / squared);
    return span_where(inside >= splat(0.0f), {nearest - half, nearest + half, splat(part), splat(part)});
}
// Where x^2 + y^2 <= (slope below)^2 and `below` is positive: a cone, whose tip is where `below` is 0.
__device__ __forceinline__ GlyphSpan span_of_cone(Real x, Real y, Real below, Real dx, Real dy, Real down, float slope,
                                                  float part) {
    const Real zero = splat(0.0f), big = splat(FLOAT_MAX), s2 = splat(slope * slope);
    const Real a = dx * dx + dy * dy - s2 * down * down, b = x * dx + y * dy - s2 * below * down;
    const Real c = x * x + y * y - s2 * below * below;
    // b^2 - a c without the terms that cancel: (slope (down p - below d))^2 - (x dy - y dx)^2
    const Real turned = x * dy - y * dx, px = down * x - below * dx, py = down * y - below * dy;
    const Real discriminant = s2 * (px * px + py * py) - turned * turned;
    const Real root = lanes_sqrt(max(discriminant, zero));
    const Real q = -(b + select(b < zero, -root, root));
    const Real least = splat(LEAST_DIVISOR), safe_a = select(lanes_abs(a) < least, select(a < zero, -least, least), a);
    const Real one = q / safe_a, other = select(lanes_abs(q) > zero, c / q, one);
    const Real low = min(one, other), high = max(one, other);
    // A ray steeper than the cone is inside up to one root or from the other on, where it goes down and up.
    const Mask steep = a<zero, falls = down> zero;
    const GlyphSpan span = {select(steep, select(falls, high, -big), low), select(steep, select(falls, big, low), high),
                            splat(part), splat(part)};
    return span_where(discriminant >= zero, span);
}

// A ray in a glyph's frame, whose largest size is 1. `t` of the ray is `start` + `step` times that in the frame.
struct GlyphRays {
    Real x, y, z, dx, dy, dz, start, step;
};
__device__ __forceinline__ Real lost_in(Real a, Real b, Real difference) {
    const Real taken = difference - a;
    return (a - (difference - taken)) - (b + taken);
}
__device__ __forceinline__ GlyphRays in_frame_of(const Glyph& glyph, float largest, const Rays& rays) {
    const Real cx = splat(glyph.centre.x), cy = splat(glyph.centre.y), cz = splat(glyph.centre.z);
    const Real ax = rays.ox - cx, ay = rays.oy - cy, az = rays.oz - cz;
    const Real squared = rays.dx * rays.dx + rays.dy * rays.dy + rays.dz * rays.dz;
    const Real start = -(ax * rays.dx + ay * rays.dy + az * rays.dz) / squared;
    const Real inverse = splat(1.0f / largest), unit = splat(1.0f) / lanes_sqrt(squared);
    const Real x = (lanes_fma(start, rays.dx, ax) + lost_in(rays.ox, cx, ax)) * inverse;
    const Real y = (lanes_fma(start, rays.dy, ay) + lost_in(rays.oy, cy, ay)) * inverse;
    const Real z = (lanes_fma(start, rays.dz, az) + lost_in(rays.oz, cz, az)) * inverse;
    const Real dx = rays.dx * unit, dy = rays.dy * unit, dz = rays.dz * unit;
    const GlyphAxes f = axes_of(glyph.turn);
    return {x * f.x.x + y * f.x.y + z * f.x.z,
            x * f.y.x + y * f.y.y + z * f.y.z,
            x * f.z.x + y * f.z.y + z * f.z.z,
            dx * f.x.x + dy * f.x.y + dz * f.x.z,
            dx * f.y.x + dy * f.y.y + dz * f.y.z,
            dx * f.z.x + dy * f.z.y + dz * f.z.z,
            start,
            unit * splat(largest)};
}

// A disc is met once, where the ray goes through its plane.
__device__ __forceinline__ GlyphSpan span_of_disc(const GlyphRays& r, Real kx, Real ky) {
    const Real place = -r.z * clamped_inverse(r.dz);
    const Real x = lanes_fma(place, r.dx, r.x) * kx, y = lanes_fma(place, r.dy, r.y) * ky;
    const Real part = splat(GlyphPart::TOP);
    return span_where(x * x + y * y <= splat(1.0f), {place, place, part, part});
}
// A splat is met at the ray's point nearest to its centre, by rays that do not begin beside it on its surface: those
// that leave what it stands for, or what lies around that.
__device__ __forceinline__ GlyphSpan span_of_splat(const GlyphRays& r, float radius) {
    const Real nearest = -(r.x * r.dx + r.y * r.dy + r.z * r.dz);  // what rounding left between
    const Real x = lanes_fma(nearest, r.dx, r.x), y = lanes_fma(nearest, r.dy, r.y), z = lanes_fma(nearest, r.dz, r.z);
    const Real squared = x * x + y * y + z * z, begin = r.start / r.step + nearest, height = z - begin * r.dz;
    const float most = radius * radius, near = (float)SPLAT_NEAR;
    const Mask beside = (height * height < splat(most)) & (begin * begin + squared < splat(most * near * near));
    const Real part = splat(GlyphPart::TOP);
    return span_where((squared <= splat(most)) & !beside, {nearest, nearest, part, part});
}

// Where a glyph is met: one span, an arrow two, the earlier one first; sizes as the frame has them.
struct GlyphSpans {
    GlyphSpan first, second;
};
LONG_ON_PACKS GlyphSpans glyph_spans(int shape, float3 s, const GlyphRays& r) {
    using namespace GlyphPart;
    const Real none = splat(0.0f), kx = splat(1.0f / s.x), ky = splat(1.0f / s.y), kz = splat(1.0f / s.z);
    if (shape == GLYPH_SHAPES::ellipsoid)
        return {span_of_ball(r.x * kx, r.y * ky, r.z * kz, r.dx * kx, r.dy * ky, r.dz * kz, SIDE), empty_span()};
    if (shape == GLYPH_SHAPES::box)
        return {
            both(both(span_of_slab(r.x, r.dx, -s.x, s.x, 0.0f, 0.0f), span_of_slab(r.y, r.dy, -s.y, s.y, 1.0f, 1.0f)),
                 span_of_slab(r.z, r.dz, -s.z, s.z, 2.0f, 2.0f)),
            empty_span()};
    if (shape == GLYPH_SHAPES::disc) return {span_of_disc(r, kx, ky), empty_span()};
    if (shape == GLYPH_SHAPES::splat) return {span_of_splat(r, s.x), empty_span()};
    const bool is_elliptic = shape == GLYPH_SHAPES::cylinder;
    const Real ry = is_elliptic ? ky : kx;
    const GlyphSpan tube = span_of_ball(r.x * kx, r.y * ry, none, r.dx * kx, r.dy * ry, none, SIDE);
    if (shape == GLYPH_SHAPES::cylinder)
        return {both(tube, span_of_slab(r.z, r.dz, -s.z, s.z, BOTTOM, TOP)), empty_span()};
    if (shape == GLYPH_SHAPES::capsule) {
        const GlyphSpan side = both(tube, span_of_slab(r.z, r.dz, -s.z, s.z, BOTTOM, TOP)),
                        low = span_of_ball(r.x * kx, r.y * kx, (r.z + splat(s.z)) * kx, r.dx * kx, r.dy * kx, r.dz * kx,
                                           BOTTOM);
        const GlyphSpan high = span_of_ball(r.x * kx, r.y * kx, (r.z - splat(s.z)) * kx, r.dx * kx, r.dy * kx,
                                            r.dz * kx, TOP);
        return {hull(hull(side, low), high), empty_span()};
    }
    const ArrowHead head = arrow_head(s);
    const float shaft_end = head.base > -s.z ? BASE : BOTTOM;  // without a length it is its disc
    const GlyphSpan shaft = both(tube, span_of_slab(r.z, r.dz, -s.z, head.base, BOTTOM, shaft_end));
    const GlyphSpan cone = both(
        span_of_cone(r.x, r.y, splat(s.z) - r.z, r.dx, r.dy, -r.dz, head.radius / (s.z - head.base), TOP),
        span_of_slab(r.z, r.dz, head.base, s.z, BASE, TOP));
    // The plane between them is computed in one way, so that spans that touch there have the same end.
    const Mask touch = is_some(shaft) & is_some(cone) & (shaft.enter <= cone.exit) & (cone.enter <= shaft.exit);
    const GlyphSpan whole = hull(shaft, cone);
    const Mask is_later = cone.enter < shaft.enter;
    const GlyphSpan first = {select(is_later, cone.enter, shaft.enter), select(is_later, cone.exit, shaft.exit),
                             select(is_later, cone.first_part, shaft.first_part),
                             select(is_later, cone.last_part, shaft.last_part)};
    const GlyphSpan second = {select(is_later, shaft.enter, cone.enter), select(is_later, shaft.exit, cone.exit),
                              select(is_later, shaft.first_part, cone.first_part),
                              select(is_later, shaft.last_part, cone.last_part)};
    return {{select(touch, whole.enter, first.enter), select(touch, whole.exit, first.exit),
             select(touch, whole.first_part, first.first_part), select(touch, whole.last_part, first.last_part)},
            span_where(!touch, second)};
}

struct GlyphPlace {
    Real u, v;
};
__device__ __forceinline__ Real share_of(Real part, Real whole) {
    return min(max(part / max(whole, splat(LEAST_DIVISOR)), splat(0.0f)), splat(1.0f));
}
// A coordinate of a point of the cube: its own face is the one that was met, however near an edge.
__device__ __forceinline__ Real on_face(Real coordinate, Real face, float axis) {
    const Mask own = (face > splat(axis - 0.5f)) & (face < splat(axis + 0.5f)), below = coordinate < splat(0.0f);
    const Real end = select(below, splat(-1.0f), splat(1.0f)), inner = splat(BEFORE_EDGE);
    return select(own, end, min(max(coordinate, -inner), inner));
}
// A point's way round the axis and along the outline.
LONG_ON_PACKS GlyphPlace glyph_place(int shape, float3 s, Real x, Real y, Real z, Real part) {
    using namespace GlyphPart;
    const Real one = splat(1.0f), zero = splat(0.0f), kx = splat(1.0f / s.x), ky = splat(1.0f / s.y);
    if (shape == GLYPH_SHAPES::ellipsoid || shape == GLYPH_SHAPES::box) {
        Real cx = x * kx, cy = y * ky, cz = z * splat(1.0f / s.z);
        if (shape == GLYPH_SHAPES::box) {  // on the face that was met
            cx = on_face(cx, part, 0.0f);
            cy = on_face(cy, part, 1.0f);
            cz = on_face(cz, part, 2.0f);
        }
        const OctahedralPlace place = octahedral_place(cx, cy, cz);
        return {place.u, place.v};
    }
    const bool is_capsule = shape == GLYPH_SHAPES::capsule, is_arrow = shape == GLYPH_SHAPES::arrow;
    const bool is_elliptic = shape == GLYPH_SHAPES::cylinder || shape == GLYPH_SHAPES::disc;
    const Real ax = x * kx, ay = y * (is_elliptic ? ky : kx), r = lanes_sqrt(ax * ax + ay * ay);
    const Real round = ax / max(lanes_abs(ax) + lanes_abs(ay), splat(LEAST_DIVISOR));
    const Real u = select(ay < zero, splat(3.0f) + round, one - round) * splat(0.25f);
    const ArrowHead head = arrow_head(s);
    const float side_end = is_arrow ? head.base : s.z;
    const Mask at_bottom = part < splat(SIDE), at_side = part < splat(BASE), at_base = part < splat(TOP);
    const Real beyond = select(at_bottom, -z, z) - splat(s.z);
    const Real cap = is_capsule ? share_of(r, r + max(beyond * kx, zero)) : share_of(r, one);
    const Real along_side = share_of(z + splat(s.z), splat(side_end + s.z));
    const Real on_base = share_of(r * splat(s.x) - splat(s.x), splat(head.radius - s.x));
    const Real on_top = is_arrow ? share_of(z - splat(head.base), splat(s.z - head.base)) : one - cap;
    const float quarter = OUTLINE_PART, side_size = is_arrow ? quarter : 2.0f * quarter;
    const Real v = select(at_bottom, cap * splat(quarter),
                          select(at_side, along_side * splat(side_size) + splat(quarter),
                                 select(at_base, on_base * splat(quarter) + splat(2.0f * quarter),
                                        on_top * splat(quarter) + splat(3.0f * quarter))));
    return {u, v};
}

// The first of the places where the ray enters or leaves that lies inside (t_min, t_max].
__device__ __forceinline__ Intersection intersect_glyph(const Glyph& glyph, int prim_id, const Rays& rays) {
    const float largest = max(max(glyph.sizes.x, glyph.sizes.y), glyph.sizes.z), scale = 1.0f / largest;
    const float3 s = glyph.sizes * scale;
    const GlyphRays r = in_frame_of(glyph, largest, rays);
    const GlyphSpans spans = glyph_spans(glyph.shape, s, r);
    Mask hit = rays.active & splat_mask(false);
    Real at = splat(0.0f), t = splat(0.0f), part = splat(0.0f);
    const auto meet = [&](Mask some, Real place, Real its_part) {
        const Real found = r.start + r.step * place;
        const Mask here = rays.active & some & !hit & (found > rays.t_min) & (found <= rays.t_max);
        at = select(here, place, at);
        t = select(here, found, t);
        part = select(here, its_part, part);
        hit = hit | here;
    };
    const Mask any_first = is_some(spans.first) & splat_mask(largest >= LEAST_RADIUS);
    meet(any_first, spans.first.enter, spans.first.first_part);
    meet(any_first, spans.first.exit, spans.first.last_part);
    if (glyph.shape == GLYPH_SHAPES::arrow) {
        const Mask any_second = is_some(spans.second) & splat_mask(largest >= LEAST_RADIUS);
        meet(any_second, spans.second.enter, spans.second.first_part);
        meet(any_second, spans.second.exit, spans.second.last_part);
    }
    Intersection found = {hit, t, splat(0.0f), splat(0.0f), prim_id};
    if (!any(hit)) return found;
    const GlyphPlace place = glyph_place(glyph.shape, s, lanes_fma(at, r.dx, r.x), lanes_fma(at, r.dy, r.y),
                                         lanes_fma(at, r.dz, r.z), part);
    found.u = place.u;
    found.v = place.v;
    return found;
}
