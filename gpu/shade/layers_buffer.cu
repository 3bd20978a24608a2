// Transparent layers as layers.cu draws them, HITS_AT_ONCE of a ray by one traversal (nearest_hits.cuh); farther ones
// by another behind these.
//
// Constants of the unit: those of layers.cuh and nearest_hits.cuh.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/layers.cuh"
#include "gpu/trace/nearest_hits.cuh"

// What the buffer has of each ray's layers, laid over one another; `rays` go on behind the last. Of hits at one
// distance one is laid, as by layers.cu.
__device__ __forceinline__ void lay_all(NearestHits& nearest, const SurfaceView& surface, const float* options,
                                        Rays& rays, Int& laid, LaidOver& seen) {
    const Int layers = splat_int((int)options[LayersRow::layers]);
    const Real3 direction = direction_of(rays);
#pragma unroll 1
    for (int i = 0; i < HITS_AT_ONCE; ++i) {
        const Hits hits = nearest.pop();
        const Mask is_seen = rays.active & (laid < layers) & (seen.through > splat(0.0f)),
                   there = is_seen & !(hits.prim_id < splat_int(0)), hit = there & (rays.t_min < hits.t);
        if (!any(there)) return;
        if (!any(hit)) continue;
        lay_behind(seen, surface, options, direction, hit, hits.prim_id, hits.u, hits.v);
        rays.t_min = select(hit, hits.t, rays.t_min);
        laid = laid + select(hit, splat_int(1), splat_int(0));
    }
}

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_layers_at_once(TraceInput input, SurfaceView surface, const float* options, int pack_count, const float* t,
                         float* sums, uint64* ray_counts) {
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    const Int layers = splat_int((int)options[LayersRow::layers]);
    int counted = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        if (HAS_PRIMARY_HITS) rays = before_first(rays, load(t + first));
        Int laid = splat_int(0);
        LaidOver seen = nothing_yet();
        NearestHits nearest;
#pragma unroll 1
        for (int round = 0; any(rays.active); ++round) {
            if (round > 0 || HAS_PRIMARY_HITS) counted += __popc(mask_bits(rays.active));
            find_nearest_hits(input, rays, nearest);
            const Mask has_more = nearest.is_full();
            lay_all(nearest, surface, options, rays, laid, seen);
            rays.active = rays.active & has_more & (laid < layers) & (seen.through > splat(0.0f)) &
                          (rays.t_min < rays.t_max);
        }
        const Real3 behind = background(options, direction_of(rays)) * seen.through;
        add_to_film(sums, plane, first, frame->sample_index, seen.color + behind);
    }
    counted = block_sum(counted);
    if (thread_index() == 0 && counted > 0) atomic_add(ray_counts, (uint64)counted);
}
