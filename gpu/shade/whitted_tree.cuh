// A tree of rays followed depth first: every pack follows its own, those that wait on a stack as long as the tree is
// deep.
//
// No recursion: at each depth at most one ray waits beside the one that is followed. Lanes without a ray of a kind are
// idle while others follow theirs. The unit is compiled against a structure (traversals.cuh) and names IS_OPAQUE:
// whether all surfaces stop light, so that shadow rays may end at any hit.
// from gpu.shade.whitted import MOST_DEPTH
#pragma once
#include "gpu/device/block_counts.cuh"
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/whitted_traversals.cuh"

constexpr int COUNTS = KINDS_OF_RAYS * (MOST_DEPTH + 1);

// Rays that wait: at each depth at most one beside the one that is followed.
struct Waiting {
    WaitingRay rays[MOST_DEPTH + 1];
    // The hit that is shaded, by its depth: in memory, so that traversals to lights have the registers.
    FoundHit found[2];
    int count;

    __device__ __forceinline__ void put(const WaitingRay& ray, const BlockCounts& counts, RayKind kind) {
        const unsigned lanes = mask_bits(ray.active);
        if (lanes == 0u) return;
        check_stack(count, MOST_DEPTH + 1);
        rays[count++] = ray;
        counts.add(KINDS_OF_RAYS * ray.depth + kind, __popc(lanes));
    }
};

// Adds what is seen along `rays` to `color`, but for the rays that go on from there, which wait. `given`: their first
// hits, where those are known.
__device__ __forceinline__ void add_seen(const TraceInput& input, const ViewFrame* frame, const SurfaceView& surface,
                                         const EnvironmentView& environment, const float* options, const Rays& rays,
                                         Real3 weight, Int media, Int pixel, int depth, const BlockCounts& counts,
                                         Waiting& waiting, Real3& color, const Hits* given = nullptr) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    FoundHit found = {
        nearest_surface(input, surface, rays, given), direction_of(rays), weight, media, splat_mask(false), depth};
    found.is_hit = rays.active & !(found.hits.prim_id < splat_int(0));
    const Mask misses = rays.active & !found.is_hit;
    if (any(misses)) color = color + select(misses, weight * far_away(environment, options, found.direction), nothing);
    if (!any(found.is_hit)) return;
    waiting.found[depth & 1] = found;
    const bool casts_shadows = options[WhittedRow::casts_shadows] != 0.0f;
#pragma unroll 1
    for (int l = 0, i = 0; l == 0 || l < surface.light_count;) {
        const bool is_area = l < surface.light_count && is_area_light(surface.lights + LightRow::FLOATS * l);
        const int count = is_area ? max((int)options[WhittedRow::light_samples], 1) : 1;
        WhittedStep step;
        const ExpectedLight light = shade_item(frame, surface, options, waiting.found[depth & 1], pixel, l, i, count,
                                               step);
        if (l == 0 && i == 0) {
            color = color + step.color;
            waiting.put(step.reflected, counts, REFLECTED_RAYS);
            waiting.put(step.transmitted, counts, TRANSMITTED_RAYS);
        }
        if (any(light.active)) {
            Real3 arrives = light.color;
            if (casts_shadows) {
                arrives = arrives * light_left(input, surface, rays_of(light));
                counts.add(KINDS_OF_RAYS * depth + SHADOW_RAYS, __popc(mask_bits(light.active)));
            }
            color = color + select(light.active, arrives, nothing);
        }
        if (++i == count) {
            i = 0;
            ++l;
        }
    }
}
