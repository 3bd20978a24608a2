// A surface that a ray goes through, laid behind those before it: it covers a share of what lies behind.
//
// Constant of the unit: HAS_PRIMARY_HITS (how far rays go to what they hit first is given, in their order; else null).
// from gpu.shade.layers import LayersRow
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/interaction.cuh"

struct LaidOver {
    Real3 color;
    Real through;  // the share that is not covered yet
};
__device__ __forceinline__ LaidOver nothing_yet() { return {splat3(0.0f, 0.0f, 0.0f), splat(1.0f)}; }

__device__ __forceinline__ void lay_behind(LaidOver& seen, const SurfaceView& surface, const float* options,
                                           Real3 direction, Mask hit, Int prim_id, Real u, Real v) {
    const Interaction found = interaction_at(surface, direction, hit, prim_id, u, v);
    const float ambient = options[LayersRow::ambient];
    const Real light = splat(ambient) + splat(1.0f - ambient) * lanes_abs(dot(found.shading_normal, direction));
    const Real covers = select(hit, splat(options[LayersRow::opacity]) * found.material.alpha, splat(0.0f));
    const Real3 shown = found.material.base_color * (light * seen.through * covers);
    seen.color = seen.color + select(hit, shown, splat3(0.0f, 0.0f, 0.0f));
    seen.through = seen.through * (splat(1.0f) - covers);
}

// Rays that begin before what they are known to hit first, and those that hit nothing not at all. That hit is found
// once more: another kernel may have rounded its distance another way, and excluding that would show its surface twice.
__device__ __forceinline__ Rays before_first(Rays rays, Real first_t) {
    rays.active = rays.active & (first_t < splat(FLOAT_MAX));
    rays.t_min = max(rays.t_min, first_t - lanes_abs(first_t) * splat(BEFORE_FIRST_HIT));
    return rays;
}
