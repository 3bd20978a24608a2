// Diffuse rays traced on the way: each lane sends its hit's rays out one after the other, because what they bring back is added up in their order. The
// unit is compiled against a structure (walks.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/diffuse.cuh"
#include "gpu/trace/walks.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_diffuse(TraceInput input, SurfaceView surface, const float* options, int pack_count, const int* prim_id, const float* u, const float* v,
                  uint64* ray_counts, float* sums) {
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    const int ray_count = (int)options[GATHERED_RAYS];
    int traced = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(input.source.rays(first)), prim_id, first);
        if (!any(from.hit)) continue;
        const SurfacePoint at = point_of_hit(surface, from.direction, from.hit, from.prim_id, load(u + first), load(v + first));
        Real3 light = splat3(0.0f, 0.0f, 0.0f);
        for (int i = 0; i < ray_count; ++i) {
            const Rays rays = gathered_rays(frame, options, from, at, i);
            const Hits found = closest_hits(input, rays);
            light = light + light_of_ray(surface, direction_of(rays), found.prim_id, found.u, found.v);
        }
        traced += __popc(mask_bits(from.hit)) * ray_count;
        store(sums + first, light.x);
        store(sums + plane + first, light.y);
        store(sums + 2 * plane + first, light.z);
    }
    traced = block_sum(traced);
    if (thread_index() == 0 && traced > 0) atomic_add(ray_counts, (uint64)traced);
}
