// Transparent layers: every surface that a ray goes through covers a share of what lies behind, front to back. The
// nearest hits are found one after another: each traversal begins behind the hit before, which it excludes exactly,
// since a surface's distance along a ray does not depend on where the ray begins. The unit is compiled against a
// structure (traversals.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/layers.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_layers(TraceInput input, SurfaceView surface, const float* options, int pack_count, const float* t,
                 float* sums, uint64* ray_counts) {
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    const int layers = (int)options[LayersRow::layers];
    int counted = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        const Real3 direction = direction_of(rays);
        if (HAS_PRIMARY_HITS) rays = before_first(rays, load(t + first));
        LaidOver seen = nothing_yet();
        for (int layer = 0; layer < layers && any(rays.active); ++layer) {
            if (layer > 0 || HAS_PRIMARY_HITS) counted += __popc(mask_bits(rays.active));
            const Hits hits = closest_hits(input, rays);
            const Mask hit = rays.active & !(hits.prim_id < splat_int(0));
            if (!any(hit)) break;
            lay_behind(seen, surface, options, direction, hit, hits.prim_id, hits.u, hits.v);
            rays.t_min = select(hit, hits.t, rays.t_min);
            rays.active = hit & (seen.through > splat(0.0f)) & (rays.t_min < rays.t_max);
        }
        const Real3 behind = background(options, direction) * seen.through;
        add_to_film(sums, plane, first, frame->sample_index, seen.color + behind);
    }
    counted = block_sum(counted);
    if (thread_index() == 0 && counted > 0) atomic_add(ray_counts, (uint64)counted);
}
