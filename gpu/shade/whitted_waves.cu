// The walks of recursive ray tracing in waves: over a queue's rays, to surfaces or to a light. Compiled against a structure, as whitted.cu is.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/whitted_queues.cuh"
#include "gpu/shade/whitted_walks.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    find_surfaces(TraceInput input, SurfaceView surface, int pack_count, float* t, int* prim_id, float* u, float* v) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Rays rays = input.source.rays(first);
        Hits hits = no_hits();
        if (any(rays.active)) hits = nearest_surface(input, surface, rays);
        store(t + first, hits.t);
        store(prim_id + first, hits.prim_id);
        store(u + first, hits.u);
        store(v + first, hits.v);
    }
}

// Light that was expected, as much of it as arrives. `kind` is its place among the counters.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    find_light(TraceInput input, SurfaceView surface, int pack_count, Queue expected, int kind, uint64* ray_counts, int plane, float* colors) {
    int traced = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Rays rays = input.source.rays(first);
        if (!any(rays.active)) continue;
        traced += __popc(mask_bits(rays.active));
        add_color(colors, plane, expected.pixels(first), rays.active, expected.vector(WEIGHT_ROW, first) * light_left(input, surface, rays));
    }
    traced = block_sum(traced);
    if (thread_index() == 0 && traced > 0) atomic_add(&ray_counts[kind], (uint64)traced);
}
