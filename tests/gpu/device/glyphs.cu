// A glyph and a ray each: the box, the hit, and the surface there.
#include "gpu/device/glyph_surface.cuh"
#include "gpu/device/loops.cuh"

// `rows` (n, 12); `rays` (8, n): origin, direction, t_min, t_max; `boxes` (n, 6); `hits` (4, n): 1 for a hit, t, u, v;
// `points` (3, n, 3): offset, normal, mapped.
extern "C" __global__ void look_at_glyphs(const float4* rows, const float* rays, int n, float* boxes, float* hits,
                                          float* points) {
    for (int i : grid_stride(n)) {
        const Glyph glyph = glyph_of(rows[3 * i], rows[3 * i + 1], rows[3 * i + 2]);
        const Aabb box = aabb_of(glyph);
        store3(boxes, 2 * i, box.lower);
        store3(boxes, 2 * i + 1, box.upper);
        const float* ray = rays + i;
        const Rays one = make_rays(ray[0], ray[n], ray[2 * n], ray[3 * n], ray[4 * n], ray[5 * n], ray[6 * n],
                                   ray[7 * n], splat_mask(true));
        const Intersection found = intersect_glyph(glyph, i, one);
        hits[i] = found.hit ? 1.0f : 0.0f;
        hits[n + i] = found.t;
        hits[2 * n + i] = found.u;
        hits[3 * n + i] = found.v;
        const GlyphPoint at = glyph_point(glyph, found.u, found.v);
        store3(points, i, at.offset);
        store3(points, n + i, at.normal);
        store3(points, 2 * n + i, at.mapped);
    }
}
