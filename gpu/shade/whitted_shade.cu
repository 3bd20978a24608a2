// Recursive ray tracing as a wavefront, between the traversals: rays of the camera into a queue, what hits show and
// where rays go on, and the sums into the film. The steps are whitted_step.cuh's, as whitted.cu makes them for each
// pixel: opaque scenes are equal to the last bit, with glass the terms of a pixel are the same in another order.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/whitted_queues.cuh"

extern "C" __global__ void begin_wavefront(const ViewFrame* frame, const float* options, int pack_count, Queue queue,
                                           float* colors) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    const Real none = splat(0.0f);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PackPixels at = pixels_of(first, *frame);
        const Int number = pixel_number(at.x, at.y);
        const Rays rays = through_lens(frame, options, number, rays_of(camera, first));
        put_ray(queue, first, rays, splat_int(first) + lane_index(), splat3(1.0f, 1.0f, 1.0f), splat_int(0), number);
        for (int k = 0; k < 3; ++k) store(colors + k * plane + first, none);
    }
    if (block_index() == 0 && thread_index() == 0) *queue.count = (int)plane;
}

// Counts a block's rays that go on, at their depth.
__device__ __forceinline__ void count_rays(uint64* of_depth, int reflected, int transmitted) {
    reflected = block_sum(reflected);
    transmitted = block_sum(transmitted);
    if (thread_index() != 0) return;
    if (reflected > 0) atomic_add(of_depth + REFLECTED_RAYS, (uint64)reflected);
    if (transmitted > 0) atomic_add(of_depth + TRANSMITTED_RAYS, (uint64)transmitted);
}

// Sample `i` of light `l` on the hits of a queue's rays at `depth`; with the first of them what needs no light, and the
// rays that go on: `reflected` and, where surfaces let light through, `transmitted` have a place for each ray.
// `expected` gets the rays to the light with what it would add. `plane` is the places of `colors`.
extern "C" __global__ void shade_wavefront(const ViewFrame* frame, SurfaceView surface, EnvironmentView environment,
                                           const float* options, int pack_count, int depth, int l, int i, Queue queue,
                                           const float* t, const int* prim_id, const float* u, const float* v,
                                           Queue reflected, Queue transmitted, Queue expected, uint64* ray_counts,
                                           int plane, const float* colors, float* seen) {
    const bool is_area = l < surface.light_count && is_area_light(surface.lights + LightRow::FLOATS * l);
    const int count = is_area ? max((int)options[WhittedRow::light_samples], 1) : 1;
    const bool is_first = l == 0 && i == 0, casts_shadows = options[WhittedRow::casts_shadows] != 0.0f;
    const bool is_opaque = !(surface.features & (MaterialFeatures::GLASS | MaterialFeatures::ALPHA));
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    int reflected_count = 0, transmitted_count = 0;
    for (int pack : grid_stride(packs_in_use(queue, pack_count))) {
        const int first = pack * PACK;
        const Rays rays = rays_of(BufferRays{queue.rows, *queue.count, queue.stride}, first);
        const Int place = queue.pixels(first), number = load((const int*)queue.row(NUMBER_ROW) + first);
        Real3 color = is_first ? seen_before(queue, first, colors, plane) : load_seen(seen, queue.stride, first);
        WhittedStep step;
        step.color = nothing;
        step.reflected = step.transmitted = {nothing, nothing, nothing, splat_int(0), splat_mask(false), depth + 1};
        ExpectedLight light;
        light.color = light.towards = nothing;
        light.active = splat_mask(false);
        Rays to_light = make_rays(rays.ox, rays.oy, rays.oz, rays.dx, rays.dy, rays.dz, splat(0.0f), splat(0.0f),
                                  splat_mask(false));
        if (any(rays.active) && i < count) {
            // What lies behind the last ray is anything.
            const Int media = select(rays.active, load((const int*)queue.row(MEDIA_ROW) + first), splat_int(0));
            FoundHit found = {{load(t + first), load(u + first), load(v + first), load(prim_id + first)},
                              direction_of(rays),
                              queue.vector(WEIGHT_ROW, first),
                              media,
                              splat_mask(false),
                              depth};
            found.is_hit = rays.active & !(found.hits.prim_id < splat_int(0));
            const Mask misses = rays.active & !found.is_hit;
            if (is_first && any(misses))
                color = color + select(misses, found.weight * far_away(environment, options, found.direction), nothing);
            if (any(found.is_hit)) {
                light = shade_item(frame, surface, options, found, number, l, i, count, step);
                if (is_first) color = color + select(found.is_hit, step.color, nothing);
                if (!casts_shadows) color = color + select(light.active, light.color, nothing);
                if (casts_shadows) to_light = rays_of(light);
            }
        }
        store_seen(seen, queue.stride, first, color);
        put_weighed(expected, first, to_light, place, light.color);
        if (!is_first) continue;
        put_ray(reflected, first, rays_of(step.reflected), place, step.reflected.weight, step.reflected.media, number);
        reflected_count += __popc(mask_bits(step.reflected.active));
        if (is_opaque) continue;
        put_ray(transmitted, first, rays_of(step.transmitted), place, step.transmitted.weight, step.transmitted.media,
                number);
        transmitted_count += __popc(mask_bits(step.transmitted.active));
    }
    if (block_index() == 0 && thread_index() == 0) {
        *reflected.count = *expected.count = *queue.count;
        if (!is_opaque) *transmitted.count = *queue.count;
    }
    count_rays(ray_counts + KINDS_OF_RAYS * (depth + 1), reflected_count, transmitted_count);
}

// What the rays of a pixel see goes to the pixel: by the first of them, which has what the pixel had before.
extern "C" __global__ void collect_colors(Queue queue, const float* seen, int plane, float* colors) {
    const int* pixels = (const int*)queue.row(PIXEL_ROW);
    const int count = *queue.count;
    for (int place : grid_stride(count)) {
        if (!is_first_of_pixel(pixels, place)) continue;
        for (int k = 0; k < 3; ++k) {
            const float* of_ray = seen + k * (int64)queue.stride + place;
            float sum = *of_ray;
            for (int next = place + 1; next < count && pixels[next] == pixels[place]; ++next) sum += *++of_ray;
            colors[k * (int64)plane + pixels[place]] = sum;
        }
    }
}

extern "C" __global__ void finish_wavefront(const ViewFrame* frame, int pack_count, const float* colors, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 color = {load(colors + first), load(colors + plane + first), load(colors + 2 * plane + first)};
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
}
