// Paths traced on the way: a lane follows its pixel's path to the end. The unit is compiled against a structure
// (traversals.cuh) and names HAS_HOLES (path_traversals.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/path_traversals.cuh"

// `ray_counts`: paths of each depth, then rays to lights of each. `sharp`: where the part of the sample that is without
// noise goes, beside `sums`, which then holds this sample alone; null: samples add up there.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_paths(TraceInput input, SurfaceView surface, EnvironmentView environment, const float* options,
                int pack_count, const float* t, const int* prim_id, const float* u, const float* v, uint64* ray_counts,
                float* sums, float* sharp) {
    SHARED int counted[2 * MOST_BOUNCES];
    for (int i : block_stride(2 * MOST_BOUNCES)) counted[i] = 0;
    block_sync();
    const ViewFrame* frame = input.source.frame;
    const PathLights lights = path_lights(surface, environment, frame, options);
    const int64 plane = (int64)pack_count * PACK;
    const int bounces = (int)options[PathRow::bounces];
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        Hits hits = {load(t + first), load(u + first), load(v + first), load(prim_id + first)};
        const Int pixel = path_pixel(frame, first);
        PathState state = path_begins();
        Real3 color = splat3(0.0f, 0.0f, 0.0f);
        for (int bounce = 0; bounce <= bounces; ++bounce) {
            const PathStep step = step_path(surface, lights, options, path_numbers(frame, options, pixel, bounce),
                                            bounce, rays, hits, state);
            const Real3 nothing = splat3(0.0f, 0.0f, 0.0f);
            color = color + step.found;
            add_sharp(sharp, plane, first, bounce, select(step.is_sharp, step.found, nothing));
            if (any(step.to_light.active)) {
                const Real3 arrived = arriving_light(input, surface, options, bounce, step.to_light, step.if_reached,
                                                     step.if_crossed);
                color = color + arrived;
                add_sharp(sharp, plane, first, 1, select(step.is_lit_sharply, arrived, nothing));
                block_atomic_add(&counted[MOST_BOUNCES + bounce], __popc(mask_bits(step.to_light.active)));
            }
            rays = step.next;
            state = step.state;
            if (!any(rays.active)) break;
            block_atomic_add(&counted[bounce], __popc(mask_bits(rays.active)));
            hits = closest_hits(input, rays);
        }
        add_to_film(sums, plane, first, sharp == nullptr ? frame->sample_index : 0, color);
    }
    block_sync();
    for (int i : block_stride(2 * MOST_BOUNCES)) {
        if (counted[i] > 0) atomic_add(&ray_counts[i], (uint64)counted[i]);
    }
}
