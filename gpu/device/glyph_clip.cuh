// The part of a triangle, a sphere or a glyph inside a box, and boxes of neighbours. Of a glyph it is that of its box.
#pragma once
#include "gpu/device/glyphs.cuh"
#include "gpu/device/mixed_clip.cuh"

__device__ __forceinline__ bool bound_inside(const WithGlyphs::Shape& shape, Aabb& box) {
    if (!shape.is_glyph()) return bound_inside(shape.other(), box);
    const Aabb whole = aabb_of(shape.glyph()), inside = {max(box.lower, whole.lower), min(box.upper, whole.upper)};
    if (is_empty(inside)) return false;
    box = inside;
    return true;
}

__device__ __forceinline__ bool may_meet(const WithGlyphs::Shape& shape, const Aabb& box) {
    return shape.is_glyph() ? overlap(aabb_of(shape.glyph()), box) : may_meet(shape.other(), box);
}

template <int THREADS, bool WITH_VERTICES>
__device__ __forceinline__ Aabb staged_box(const WithGlyphs& primitives, int first) {
    const int prim_id = first + thread_index();
    const Aabb box = staged_box<THREADS, WITH_VERTICES>(primitives.others, first);
    if (prim_id < primitives.others.count) return box;
    return prim_id < primitives.count ? primitives.aabb(prim_id) : empty_aabb();
}
