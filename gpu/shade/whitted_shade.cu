// Recursive ray tracing in waves, between the walks: rays of the camera into a queue, what hits show and where rays go on, and the sum into the film.
// The steps are whitted_step.cuh's, in the order in which whitted.cu makes them for each pixel: the pictures are equal to the last bit.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/far_away.cuh"
#include "gpu/shade/whitted_queues.cuh"

extern "C" __global__ void begin_waves(const ViewFrame* frame, const float* options, int pack_count, Queue queue, float* colors) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    const Real none = splat(0.0f);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PackPixels at = pixels_of(first, frame->width, frame->height);
        const Int number = pixel_number(at.x, at.y);
        const Rays rays = through_lens(frame, options, number, camera.rays(first));
        put_ray(queue, first, rays, splat_int(first) + lane_index(), splat3(1.0f, 1.0f, 1.0f), splat_int(0), number);
        for (int k = 0; k < 3; ++k) store(colors + k * plane + first, none);
    }
    if (block_index() == 0 && thread_index() == 0) *queue.count = (int)plane;
}

// Sample `i` of light `l` on the hits of a wave at `depth`; with the first of them what needs no light, and the rays that go on: `reflected` and
// `transmitted` have a place for each ray of the wave. `expected` gets the rays to the light with what it would add.
extern "C" __global__ void shade_wave(const ViewFrame* frame, SurfaceView surface, EnvironmentView environment, const float* options, int pack_count,
                                      int depth, int l, int i, Queue wave, const float* t, const int* prim_id, const float* u, const float* v, Queue reflected, Queue transmitted,
                                      Queue expected, uint64* ray_counts, int plane, float* colors) {
    const bool is_area = l < surface.light_count && is_area_light(surface.lights + LIGHT_FLOATS * l);
    const int count = is_area ? max((int)options[LIGHT_SAMPLES], 1) : 1;
    const bool is_first = l == 0 && i == 0, casts_shadows = options[CASTS_SHADOWS] != 0.0f;
    const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
    int reflected_count = 0, transmitted_count = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        if (!any(wave.in_use(first))) continue;
        const Rays rays = BufferRays{wave.rows, *wave.count, wave.stride}.rays(first);
        const Int place = select(rays.active, wave.pixels(first), splat_int(0)), number = load((const int*)wave.row(NUMBER_ROW) + first);
        WhittedStep step;
        step.color = nothing;
        step.reflected = step.transmitted = {nothing, nothing, nothing, splat_int(0), splat_mask(false), depth + 1};
        ExpectedLight light;
        light.color = light.towards = nothing;
        light.active = splat_mask(false);
        Rays to_light = make_rays(rays.ox, rays.oy, rays.oz, rays.dx, rays.dy, rays.dz, splat(0.0f), splat(0.0f), splat_mask(false));
        if (any(rays.active) && i < count) {
            // What lies behind the last ray is anything.
            const Int media = select(rays.active, load((const int*)wave.row(MEDIA_ROW) + first), splat_int(0));
            FoundHit found = {{load(t + first), load(u + first), load(v + first), load(prim_id + first)}, direction_of(rays),
                              wave.vector(WEIGHT_ROW, first), media, splat_mask(false), depth};
            found.is_hit = rays.active & !(found.hits.prim_id < splat_int(0));
            const Mask misses = rays.active & !found.is_hit;
            if (is_first && any(misses))
                add_color(colors, plane, place, misses, found.weight * far_away(environment, options + BACKGROUND, found.direction));
            if (any(found.is_hit)) {
                light = shade_item(frame, surface, options, found, number, l, i, count, step);
                if (is_first) add_color(colors, plane, place, found.is_hit, step.color);
                if (any(light.active) && !casts_shadows) add_color(colors, plane, place, light.active, light.color);
                if (casts_shadows) to_light = rays_from(light.at, light.towards, light.reach, light.active);
            }
        }
        put_ray(expected, first, to_light, place, light.color, splat_int(0), number);
        if (!is_first) continue;
        put_ray(reflected, first, rays_of(step.reflected), place, step.reflected.weight, step.reflected.media, number);
        put_ray(transmitted, first, rays_of(step.transmitted), place, step.transmitted.weight, step.transmitted.media, number);
        reflected_count += __popc(mask_bits(step.reflected.active));
        transmitted_count += __popc(mask_bits(step.transmitted.active));
    }
    if (block_index() == 0 && thread_index() == 0) *reflected.count = *transmitted.count = *expected.count = *wave.count;
    reflected_count = block_sum(reflected_count);
    transmitted_count = block_sum(transmitted_count);
    if (thread_index() != 0) return;
    if (reflected_count > 0) atomic_add(&ray_counts[KINDS_OF_RAYS * (depth + 1) + REFLECTED_RAYS], (uint64)reflected_count);
    if (transmitted_count > 0) atomic_add(&ray_counts[KINDS_OF_RAYS * (depth + 1) + TRANSMITTED_RAYS], (uint64)transmitted_count);
}

extern "C" __global__ void finish_waves(const ViewFrame* frame, int pack_count, const float* colors, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 color = {load(colors + first), load(colors + plane + first), load(colors + 2 * plane + first)};
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
}
