// The traversals of recursive ray tracing: to the nearest surface that is there, and towards a light. The unit is
// compiled against a structure (traversals.cuh) and names IS_OPAQUE: whether all surfaces stop light, so that shadow
// rays may end at any hit.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/shade/light_traversal.cuh"
#include "gpu/shade/whitted_step.cuh"

// The nearest surface that is there: holes that a mask cuts are passed. `given`: what the rays hit first, where that is
// known.
__device__ __forceinline__ Hits nearest_surface(const TraceInput& input, const SurfaceView& surface, Rays rays,
                                                const Hits* given = nullptr) {
    const bool has_holes = !IS_OPAQUE && surface.features & MaterialFeatures::ALPHA;
    const Real3 direction = direction_of(rays);
    Hits hits = no_hits();
    Real passed = splat(0.0f);
#pragma unroll 1
    for (int pass = 0;; ++pass) {
        const Hits found = given && pass == 0 ? *given : closest_hits(input, rays);
        const Mask hit = rays.active & !(found.prim_id < splat_int(0));
        hits = {select(rays.active, found.t + passed, hits.t), select(rays.active, found.u, hits.u),
                select(rays.active, found.v, hits.v), select(rays.active, found.prim_id, hits.prim_id)};
        if (!has_holes || pass == MOST_PASSES || !any(hit)) return hits;
        const SurfacePoint at = point_of_hit(surface, direction, hit, found.prim_id, found.u, found.v);
        const MaterialSample material = material_at(surface, at, hit, select(hit, found.prim_id, splat_int(0)));
        const Mask passes = hit & !(material.alpha > splat(0.0f));
        if (!any(passes)) return hits;
        passed = select(passes, hits.t, passed);
        rays = rays_from(at, direction, splat(FLOAT_MAX), passes);
    }
}

// What glass and holes let through.
struct ThroughGlassAndHoles {
    __device__ __forceinline__ Real3 operator()(const SurfaceView& surface, const SurfacePoint& at,
                                                const MaterialSample& m, const Hits& hits, Mask hit,
                                                Real3 direction) const {
        const Real3 all_of_it = splat3(1.0f, 1.0f, 1.0f);
        const Real cosine = min(lanes_abs(dot(at.normal, direction)), splat(1.0f));
        const Real through = m.transmission * (splat(1.0f) - m.metallic) *
                             (splat(1.0f) - dielectric_fresnel(m.ior, cosine));
        Real3 share = m.base_color * (through * m.alpha) + all_of_it * (splat(1.0f) - m.alpha);
        const Mask within = hit & at.is_back & (through > splat(0.0f));
        if (surface.features & MaterialFeatures::GLASS && any(within)) {
            const Int material_id = gather_int(surface.material_ids, select(hit, hits.prim_id, splat_int(0)));
            share = share * transmittance(surface, select(within, material_id + splat_int(1), splat_int(0)), hits.t);
        }
        return share;
    }
    __device__ __forceinline__ Mask is_seen(Real3 left) const { return largest_of(left) > splat(LEAST_SEEN); }
};

// What is left of light that comes along `rays` from their far end: nothing behind a surface, or what glass and holes
// let through. It is not bent.
__device__ __forceinline__ Real3 light_left(const TraceInput& input, const SurfaceView& surface, Rays rays) {
    const Real3 all_of_it = splat3(1.0f, 1.0f, 1.0f), nothing = splat3(0.0f, 0.0f, 0.0f);
    if (IS_OPAQUE) return select(is_any_hit(input, rays), nothing, all_of_it);
    return light_left_by(input, surface, rays, ThroughGlassAndHoles{}, all_of_it, nothing).left;
}
