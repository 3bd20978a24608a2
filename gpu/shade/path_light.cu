// The rays to lights of a wavefront in a scene with holes: traversed and collected at once. The unit is compiled
// against a structure (traversals.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/shade/path_queues.cuh"
#include "gpu/shade/path_traversals.cuh"

// `place` is the rays' among the counters, `plane` how many pixels there are.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    collect_light_through_holes(TraceInput input, SurfaceView surface, const float* options, int pack_count,
                                Queue to_lights, int bounce, int place, uint64* ray_counts, int plane, float* sums,
                                float* sharp) {
    const int count = *to_lights.count;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        if (first == 0 && count > 0) atomic_add(&ray_counts[place], (uint64)count);
        const Rays rays = rays_of(input.source, first);
        if (!any(rays.active)) continue;
        const Real3 if_reached = to_lights.vector(LIGHT_ROW, first);
        const Real3 light = arriving_light(input, surface, options, bounce, rays, if_reached,
                                           load(to_lights.row(LIGHT_ROW + 4) + first));
        const Int ray = to_lights.pixels(first);
        add_lanes(sums, plane, ray, mask_bits(rays.active), light);
        if (sharp == nullptr) continue;
        add_lanes(sharp, plane, ray,
                  mask_bits(rays.active & (load(to_lights.row(LIGHT_ROW + 3) + first) > splat(0.5f))), light);
    }
}
