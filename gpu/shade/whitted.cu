// Recursive ray tracing in one kernel: every pack follows its tree of rays depth first, those that wait on a stack of as many as the tree is deep.
//
// No recursion: at each depth at most one ray waits beside the one that is followed. Lanes without a ray of a kind are idle while others follow theirs.
// The unit is compiled against a structure (walks.cuh) and names IS_OPAQUE: whether all surfaces stop light, so that shadow rays may end at any hit.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/whitted_step.cuh"
#include "gpu/trace/walks.cuh"

constexpr int MOST_DEPTH = 12, KINDS_OF_RAYS = 3;
enum RayKind { SHADOW_RAYS, REFLECTED_RAYS, TRANSMITTED_RAYS };
constexpr int COUNTS = KINDS_OF_RAYS * (MOST_DEPTH + 1);
constexpr int MOST_PASSES = 16;   // surfaces in a row that a ray goes through as if they were not there

// The nearest surface that is there: holes that a mask cuts are passed.
__device__ __forceinline__ Hits nearest_surface(const TraceInput& input, const SurfaceView& surface, Rays rays) {
    const bool has_holes = !IS_OPAQUE && surface.features & HAS_ALPHA;
    const Real3 direction = direction_of(rays);
    Hits hits = no_hits();
    Real passed = splat(0.0f);
#pragma unroll 1
    for (int pass = 0;; ++pass) {
        const Hits found = closest_hits(input, rays);
        const Mask hit = rays.active & !(found.prim_id < splat_int(0));
        hits = {select(rays.active, found.t + passed, hits.t), select(rays.active, found.u, hits.u), select(rays.active, found.v, hits.v),
                select(rays.active, found.prim_id, hits.prim_id)};
        if (!has_holes || pass == MOST_PASSES || !any(hit)) return hits;
        const SurfacePoint at = point_of_hit(surface, direction, hit, found.prim_id, found.u, found.v);
        const MaterialSample material = material_at(surface, at, hit, select(hit, found.prim_id, splat_int(0)));
        const Mask passes = hit & !(material.alpha > splat(0.0f));
        if (!any(passes)) return hits;
        passed = select(passes, hits.t, passed);
        rays = rays_from(at, direction, splat(FLOAT_MAX), passes);
    }
}

// What is left of light that comes along `rays` from their far end: nothing behind a surface, or what glass and holes let through. It is not bent.
__device__ __forceinline__ Real3 light_left(const TraceInput& input, const SurfaceView& surface, Rays rays) {
    const Real3 all_of_it = splat3(1.0f, 1.0f, 1.0f), nothing = splat3(0.0f, 0.0f, 0.0f);
    if (IS_OPAQUE) return select(is_any_hit(input, rays), nothing, all_of_it);
    Real3 left = all_of_it;
    const Real3 direction = direction_of(rays);
#pragma unroll 1
    for (int pass = 0; pass < MOST_PASSES && any(rays.active); ++pass) {
        const Hits hits = closest_hits(input, rays);
        const Mask hit = rays.active & !(hits.prim_id < splat_int(0));
        if (!any(hit)) return left;
        const Int prim_id = select(hit, hits.prim_id, splat_int(0)), material_id = gather_int(surface.material_ids, prim_id);
        const SurfacePoint at = point_of_hit(surface, direction, hit, prim_id, hits.u, hits.v);
        const MaterialSample m = material_at(surface, at, hit, prim_id);
        const Real cosine = min(lanes_abs(dot(at.normal, direction)), splat(1.0f));
        const Real through = m.transmission * (splat(1.0f) - m.metallic) * (splat(1.0f) - dielectric_fresnel(m.ior, cosine));
        Real3 share = m.base_color * (through * m.alpha) + all_of_it * (splat(1.0f) - m.alpha);
        const Mask within = hit & at.is_back & (through > splat(0.0f));
        if (surface.features & HAS_GLASS && any(within)) share = share * left_after(surface, select(within, material_id + splat_int(1), splat_int(0)), hits.t);
        left = select(hit, left * share, left);
        const Real rest = select(rays.t_max < splat(FLOAT_MAX), rays.t_max - hits.t, splat(FLOAT_MAX));
        const Mask goes_on = hit & (largest_of(left) > splat(1e-3f)) & (rest > splat(0.0f));
        left = select(hit & !goes_on & !(rest > splat(0.0f)), left, select(hit & !goes_on, nothing, left));
        rays = rays_from(at, direction, rest, goes_on);
    }
    return select(rays.active, nothing, left);
}

// A light at the eye that casts no shadow.
__device__ __forceinline__ Real3 light_of_eye(const ViewFrame* frame, const float* options, const Interaction& hit, const WhittedSurface& s) {
    const float* c = frame->camera;
    const Real3 towards = normalize(c[3] != 0.0f ? splat3(-c[4], -c[5], -c[6]) : splat3(c[0], c[1], c[2]) - hit.at.point);
    const Real strength = splat(PI * options[HEADLIGHT]);
    return reflected_light(s, hit, towards, Real3{strength, strength, strength});
}

// What a ray has hit, and how much of it is seen: as little as it takes to shade it once for each light, so that a walk has the registers.
struct FoundHit {
    Hits hits;
    Real3 direction, weight;
    Int media;
    Mask is_hit;
    int depth;
};
// Light that is seen if nothing is in its way.
struct ExpectedLight {
    Real3 color, towards;
    Real reach;
    SurfacePoint at;
    Mask active;
};

// One light's sample on a hit; with the first of them what needs no shadow ray, and the rays that go on.
__device__ __forceinline__ ExpectedLight shade_item(const ViewFrame* frame, const SurfaceView& surface, const float* options, const FoundHit& found, Int pixel,
                                                    int l, int i, int count, WhittedStep& step) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    const Int prim_id = select(found.is_hit, found.hits.prim_id, splat_int(0));
    const Interaction hit = interaction_at(surface, found.direction, found.is_hit, prim_id, found.hits.u, found.hits.v);
    Real3 weight = found.weight;
    if (surface.features & HAS_GLASS)
        weight = weight * left_after(surface, medium_of(found.media), select(found.is_hit, found.hits.t, splat(0.0f)));
    if (surface.features & HAS_ALPHA) weight = weight * hit.material.alpha;
    const WhittedSurface s = whitted_surface(surface, options, hit, gather_int(surface.material_ids, prim_id), found.media);
    if (l == 0 && i == 0) {
        Real3 seen = hit.material.emission + ambient_reflectance(s) * splat3(options[AMBIENT], options[AMBIENT + 1], options[AMBIENT + 2]);
        if (options[HEADLIGHT] != 0.0f) seen = seen + light_of_eye(frame, options, hit, s);
        step.color = select(found.is_hit, weight * seen, nothing);
        Sample2d gloss = {splat(0.5f), splat(0.5f)};
        if (options[IS_GLOSSY] != 0.0f) gloss = sample_2d(pixel, frame->sample_index, GLOSS_DIMENSION + found.depth, frame->seed);
        follow(surface, options, hit, s, weight, found.media, found.depth, gloss, step);
    }
    ExpectedLight light = {nothing, nothing, splat(0.0f), hit.at, splat_mask(false)};
    if (l >= surface.light_count) return light;
    const float* of_light = surface.lights + LIGHT_FLOATS * l;
    Sample2d place = {splat((int)of_light[3] == SPHERE_LIGHT ? 0.0f : 0.5f), splat(0.5f)};
    if (is_area_light(of_light)) place = sample_2d(pixel, frame->sample_index * count + i, LIGHT_DIMENSION + found.depth * LIGHTS_A_DEPTH + l, frame->seed);
    const LightSample sample = sample_light(of_light, hit.at.point, place.x, place.y);
    light.color = weight * reflected_light(s, hit, sample.towards, sample.irradiance) * splat(1.0f / (float)count);
    light.active = found.is_hit & (largest_of(light.color) > splat(0.0f));
    light.towards = sample.towards;
    light.reach = select(sample.distance < splat(FLOAT_MAX), sample.distance * splat(0.9999f), splat(FLOAT_MAX));
    return light;
}

// Rays that wait: at each depth at most one beside the one that is followed.
struct Waiting {
    WaitingRay rays[MOST_DEPTH + 1];
    FoundHit found[2];   // the hit that is shaded, by its depth: in memory, so that walks to lights have the registers
    int count;

    __device__ __forceinline__ void put(const WaitingRay& ray, int* counts, RayKind kind) {
        const unsigned lanes = mask_bits(ray.active);
        if (lanes == 0u) return;
        rays[count++] = ray;
        block_atomic_add(&counts[KINDS_OF_RAYS * ray.depth + kind], __popc(lanes));
    }
};

// What is seen along `rays`, but for the rays that go on from there, which wait.
__device__ __forceinline__ Real3 seen_along(const TraceInput& input, const SurfaceView& surface, const float* options, const Rays& rays, Real3 weight, Int media,
                                            Int pixel, int depth, int* counts, Waiting& waiting) {
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    FoundHit found = {nearest_surface(input, surface, rays), direction_of(rays), weight, media, splat_mask(false), depth};
    found.is_hit = rays.active & !(found.hits.prim_id < splat_int(0));
    Real3 color = select(rays.active & !found.is_hit, weight * background(options + BACKGROUND, found.direction), nothing);
    if (!any(found.is_hit)) return color;
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
                block_atomic_add(&counts[KINDS_OF_RAYS * depth + SHADOW_RAYS], __popc(mask_bits(light.active)));
            }
            color = color + select(light.active, arrives, nothing);
        }
        if (++i == count) {
            i = 0;
            ++l;
        }
    }
    return color;
}

// Primary rays through a thin lens (Cook, Porter and Carpenter 1984): all that start on it and meet in one point of the plane in focus.
__device__ __forceinline__ Rays through_lens(const ViewFrame* frame, const float* options, Int pixel, Rays rays) {
    const float* c = frame->camera;
    if (options[LENS] <= 0.0f || c[3] != 0.0f) return rays;
    const Sample2d sample = sample_2d(pixel, frame->sample_index, LENS_DIMENSION, frame->seed);
    const SineCosine turn = sine_and_cosine(sample.y);
    const Real radius = lanes_sqrt(sample.x) * splat(options[LENS]);
    const Real3 forward = normalize(splat3(c[4], c[5], c[6])), right = normalize(splat3(c[8], c[9], c[10])), down = normalize(splat3(c[12], c[13], c[14]));
    const Real3 direction = direction_of(rays), eye = {rays.ox, rays.oy, rays.oz};
    const Real3 shift = right * (radius * turn.cosine) + down * (radius * turn.sine);
    const Real3 bent = normalize(direction * (splat(options[FOCUS]) / max(dot(direction, forward), splat(1e-3f))) - shift);
    const Real3 from = eye + shift;
    const Rays whole = make_rays(from.x, from.y, from.z, bent.x, bent.y, bent.z, rays.t_min, rays.t_max, rays.active);
    return frame->is_clipped ? clipped(*frame, whole) : whole;
}

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_whitted(TraceInput input, SurfaceView surface, const float* options, int pack_count, uint64* ray_counts, float* sums) {
    SHARED int counts[COUNTS];
    for (int i : block_stride(COUNTS)) counts[i] = 0;
    block_sync();
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
            if (any(rays.active)) color = color + seen_along(input, surface, options, rays, weight, media, pixel, depth, counts, waiting);
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
    block_sync();
    for (int i : block_stride(COUNTS))
        if (counts[i] > 0) atomic_add(&ray_counts[i], (uint64)counts[i]);
}
