// Recursive ray tracing in one kernel: every pack follows its tree of rays depth first, those that wait on a stack of as many as the tree is deep.
//
// No recursion: at each depth at most one ray waits beside the one that is followed. Lanes without a ray of a kind are idle while others follow theirs.
// The unit is compiled against a structure (walks.cuh) and names IS_OPAQUE: whether all surfaces stop light, so that shadow rays may end at any hit.
#include "gpu/device/block_counts.cuh"
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/whitted_walks.cuh"

constexpr int MOST_DEPTH = 12;
constexpr int COUNTS = KINDS_OF_RAYS * (MOST_DEPTH + 1);

// Rays that wait: at each depth at most one beside the one that is followed.
struct Waiting {
    WaitingRay rays[MOST_DEPTH + 1];
    FoundHit found[2];   // the hit that is shaded, by its depth: in memory, so that walks to lights have the registers
    int count;

    __device__ __forceinline__ void put(const WaitingRay& ray, const BlockCounts& counts, RayKind kind) {
        const unsigned lanes = mask_bits(ray.active);
        if (lanes == 0u) return;
        rays[count++] = ray;
        counts.add(KINDS_OF_RAYS * ray.depth + kind, __popc(lanes));
    }
};

// Adds what is seen along `rays` to `color`, but for the rays that go on from there, which wait.
__device__ __forceinline__ void add_seen(const TraceInput& input, const SurfaceView& surface, const EnvironmentView& environment, const float* options,
                                         const Rays& rays, Real3 weight, Int media, Int pixel, int depth, const BlockCounts& counts, Waiting& waiting,
                                         Real3& color) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    FoundHit found = {nearest_surface(input, surface, rays), direction_of(rays), weight, media, splat_mask(false), depth};
    found.is_hit = rays.active & !(found.hits.prim_id < splat_int(0));
    const Mask misses = rays.active & !found.is_hit;
    if (any(misses)) color = color + select(misses, weight * far_away(environment, options + BACKGROUND, found.direction), nothing);
    if (!any(found.is_hit)) return;
    waiting.found[depth & 1] = found;
    const bool casts_shadows = options[CASTS_SHADOWS] != 0.0f;
#pragma unroll 1
    for (int l = 0, i = 0; l == 0 || l < surface.light_count;) {
        const bool is_area = l < surface.light_count && is_area_light(surface.lights + LIGHT_FLOATS * l);
        const int count = is_area ? max((int)options[LIGHT_SAMPLES], 1) : 1;
        WhittedStep step;
        const ExpectedLight light = shade_item(input.source.frame, surface, options, waiting.found[depth & 1], pixel, l, i, count, step);
        if (l == 0 && i == 0) {
            color = color + step.color;
            waiting.put(step.reflected, counts, REFLECTED_RAYS);
            waiting.put(step.transmitted, counts, TRANSMITTED_RAYS);
        }
        if (any(light.active)) {
            Real3 arrives = light.color;
            if (casts_shadows) {
                arrives = arrives * light_left(input, surface, rays_from(light.at, light.towards, light.reach, light.active));
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

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_whitted(TraceInput input, SurfaceView surface, EnvironmentView environment, const float* options, int pack_count, uint64* ray_counts,
                  float* sums) {
    SHARED int in_block[COUNTS];
    const BlockCounts counts = {in_block, ray_counts};
    counts.begin(COUNTS);
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    for (int turn : grid_stride(pack_count)) {
        const int first = (PACK == 1 ? in_turn(input.source, turn, pack_count) : turn) * PACK;
        const PackPixels at = pixels_of(first, frame->width, frame->height);
        const Int pixel = pixel_number(at.x, at.y);
        Rays rays = through_lens(frame, options, pixel, input.source.rays(first));
        Real3 color = splat3(0.0f, 0.0f, 0.0f), weight = splat3(1.0f, 1.0f, 1.0f);
        Int media = splat_int(0);
        Waiting waiting;
        waiting.count = 0;
        int depth = 0;
        while (true) {
            if (any(rays.active)) add_seen(input, surface, environment, options, rays, weight, media, pixel, depth, counts, waiting, color);
            if (waiting.count == 0) break;
            const WaitingRay& next = waiting.rays[--waiting.count];
            const Real3 from = next.from, towards = next.direction;
            rays = make_rays(from.x, from.y, from.z, towards.x, towards.y, towards.z, splat(0.0f), splat(FLOAT_MAX), next.active);
            weight = next.weight;
            media = next.media;
            depth = next.depth;
        }
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
    counts.end(COUNTS);
}
