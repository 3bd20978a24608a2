// What shines: the lights of the scene (gpu/trace/lights.cuh), and its emitters, triangles whose material does. A path chooses one emitter by the
// list's shares and a place on it evenly.
#pragma once
#include "gpu/shade/shading.cuh"

// The number of the first share that is above `choice` in [0, 1): 20 or so steps.
__device__ __forceinline__ Int chosen_emitter(const SurfaceView& surface, Real choice) {
    Int low = splat_int(0), high = splat_int(surface.emitter_count - 1);
    for (int left = surface.emitter_count; left > 1; left = (left + 1) / 2) {
        const Int middle = (low + high) >> 1;
        const Mask above = gather(surface.emitter_cdf, middle) > choice;
        const Mask open = low < high;
        high = select(open & above, middle, high);
        low = select(open & !above, middle + 1, low);
    }
    return low;
}
// How often emitter number `emitter` is chosen.
__device__ __forceinline__ Real emitter_share(const SurfaceView& surface, Int emitter) {
    const Mask is_first = emitter == splat_int(0);
    const Real before = gather(surface.emitter_cdf, select(is_first, emitter, emitter + splat_int(-1)));
    return gather(surface.emitter_cdf, emitter) - select(is_first, splat(0.0f), before);
}
// The number of primitive `prim_id` among the emitters; of any other primitive the number of a neighbour, which `is_emitter` tells.
__device__ __forceinline__ Int emitter_of(const SurfaceView& surface, Int prim_id) {
    Int low = splat_int(0), high = splat_int(surface.emitter_count - 1);
    for (int left = surface.emitter_count; left > 1; left = (left + 1) / 2) {
        const Int middle = (low + high) >> 1;
        const Mask before = gather_int(surface.emitters, middle) < prim_id;
        const Mask open = low < high;
        low = select(open & before, middle + 1, low);
        high = select(open & !before, middle, high);
    }
    return low;
}
__device__ __forceinline__ Mask is_emitter(const SurfaceView& surface, Int emitter, Int prim_id) { return gather_int(surface.emitters, emitter) == prim_id; }

// A place on a triangle, evenly: weights of its second and third corner.
struct TrianglePlace {
    Real u, v;
};
__device__ __forceinline__ TrianglePlace place_on_triangle(Real x, Real y) {
    const Real root = lanes_sqrt(x);
    return {root * (splat(1.0f) - y), root * y};
}
