// A traversal towards a light that some surfaces let through: what is left of the light behind all that stand in its
// way. It is not bent. For units that are compiled against a structure (traversals.cuh).
//
// What a surface lets through is `share(surface, at, material, hits, hit, direction)`, a Real or a Real3;
// `share.is_seen(left)` says where so much is worth going on.
#pragma once
#include "gpu/shade/interaction.cuh"
#include "gpu/trace/traversals.cuh"

constexpr int MOST_PASSES = 16;  // surfaces in a row that a ray goes through as if they were not there

template <class Left>
struct LightLeft {
    Left left;
    Mask crossed;  // there was a surface in the way
};

template <class Left, class Share>
__device__ __forceinline__ LightLeft<Left> light_left_by(const TraceInput& input, const SurfaceView& surface, Rays rays,
                                                         const Share& share, Left all_of_it, Left nothing) {
    Left left = all_of_it;
    Mask crossed = splat_mask(false);
    const Real3 direction = direction_of(rays);
#pragma unroll 1
    for (int pass = 0; pass < MOST_PASSES && any(rays.active); ++pass) {
        const Hits hits = closest_hits(input, rays);
        const Mask hit = rays.active & !(hits.prim_id < splat_int(0));
        if (!any(hit)) return {left, crossed};
        crossed = crossed | hit;
        const Int prim_id = select(hit, hits.prim_id, splat_int(0));
        const SurfacePoint at = point_of_hit(surface, direction, hit, prim_id, hits.u, hits.v);
        const MaterialSample material = material_at(surface, at, hit, prim_id);
        left = select(hit, left * share(surface, at, material, hits, hit, direction), left);
        const Real rest = select(rays.t_max < splat(FLOAT_MAX), rays.t_max - hits.t, splat(FLOAT_MAX));
        const Mask goes_on = hit & share.is_seen(left) & (rest > splat(0.0f));
        left = select(hit & !goes_on & !(rest > splat(0.0f)), left, select(hit & !goes_on, nothing, left));
        rays = rays_from(at, direction, rest, goes_on);
    }
    return {select(rays.active, nothing, left), crossed};
}

// Holes alone: what alpha does not cover.
struct ThroughHoles {
    __device__ __forceinline__ Real operator()(const SurfaceView&, const SurfacePoint&, const MaterialSample& material,
                                               const Hits&, Mask, Real3) const {
        return splat(1.0f) - material.alpha;
    }
    __device__ __forceinline__ Mask is_seen(Real left) const { return left > splat(0.0f); }
};
__device__ __forceinline__ LightLeft<Real> light_through_holes(const TraceInput& input, const SurfaceView& surface,
                                                               const Rays& rays) {
    return light_left_by(input, surface, rays, ThroughHoles{}, splat(1.0f), splat(0.0f));
}
