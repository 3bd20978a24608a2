// How much of even light the gloss of a dielectric reflects, from a table of integrals (gloss.py makes it and says what
// is in it), in lane packs.
// from gpu.shade.gloss import GLOSS_COSINES, GLOSS_INDICES, GLOSS_LARGEST, GLOSS_ROUGHNESSES
#pragma once
#include "gpu/trace/hit_point.cuh"

// Where a value lies between two of `nodes`, from 0 to nodes - 1.
struct GlossPlace {
    Int first;
    Real weight;  // of the next
};
__device__ __forceinline__ GlossPlace gloss_place(Real value, int nodes) {
    const Real place = min(max(value * splat((float)(nodes - 1)), splat(0.0f)), splat((float)(nodes - 1)));
    const Int first = truncated(min(place, splat((float)nodes - 1.5f)));
    return {first, place - to_real(first)};
}
// The row of an index (or its inverse) and a roughness, squared: the nearest four and how they are weighed.
struct GlossRows {
    Int first;
    Real by_index, by_roughness;
};
__device__ __forceinline__ GlossRows gloss_rows(Real index, Real alpha) {
    const Real larger = max(index, splat(1.0f) / index);
    const Real side = (larger - splat(1.0f)) / (larger + splat(1.0f));
    const GlossPlace i = gloss_place(lanes_sqrt(side * splat(1.0f / GLOSS_LARGEST)), GLOSS_INDICES),
                     r = gloss_place(lanes_sqrt(alpha), GLOSS_ROUGHNESSES);
    return {(i.first * splat_int(GLOSS_ROUGHNESSES) + r.first) * splat_int(GLOSS_COSINES + 1), i.weight, r.weight};
}
__device__ __forceinline__ Real gloss_between(const float* table, const GlossRows& rows, Int column) {
    constexpr int ROUGHER = GLOSS_COSINES + 1, DENSER = ROUGHER * GLOSS_ROUGHNESSES;
    const Int at = rows.first + column;
    const Real low = gather(table, at), high = gather(table + DENSER, at);
    const Real low_rough = gather(table + ROUGHER, at), high_rough = gather(table + DENSER + ROUGHER, at);
    const Real smooth = low + (high - low) * rows.by_index,
               rough = low_rough + (high_rough - low_rough) * rows.by_index;
    return smooth + (rough - smooth) * rows.by_roughness;
}

// What of light from a direction, by its cosine, is reflected to all sides; `fresnel` is what a smooth surface would
// reflect.
LONG_ON_PACKS Real gloss_reflects(const float* table, Real index, Real alpha, Real cosine, Real fresnel) {
    const GlossRows rows = gloss_rows(index, alpha);
    const GlossPlace c = gloss_place(lanes_sqrt(max(cosine, splat(0.0f))), GLOSS_COSINES);
    const Real share = gloss_between(table, rows, c.first);
    return min(fresnel * (share + (gloss_between(table, rows, c.first + splat_int(1)) - share) * c.weight),
               splat(1.0f));
}
// The mean of that over all directions, for an index from 1 on; 0 below, where no base is worth a table.
LONG_ON_PACKS Real gloss_reflects_of_all(const float* table, Real index, Real alpha) {
    const Real smooth = max(index - splat(1.0f), splat(0.0f)) / (splat(4.08567f) + index * splat(1.00071f));
    return smooth * gloss_between(table, gloss_rows(index, alpha), splat_int(GLOSS_COSINES));
}
