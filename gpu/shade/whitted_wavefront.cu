// The traversals of recursive ray tracing as a wavefront: over a queue's rays, to surfaces or to a light. Compiled
// against a structure, as whitted.cu is. What the camera's rays hit first may be given (whitted_primary.cu).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/whitted_queues.cuh"
#include "gpu/shade/whitted_traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    find_surfaces(TraceInput input, SurfaceView surface, int pack_count, Queue queue, float* t, int* prim_id, float* u,
                  float* v) {
    for (int pack : grid_stride(packs_in_use(queue, pack_count))) {
        const int first = pack * PACK;
        const Rays rays = rays_of(input.source, first);
        Hits hits = no_hits();
        if (any(rays.active)) hits = nearest_surface(input, surface, rays);
        store(t + first, hits.t);
        store(prim_id + first, hits.prim_id);
        store(u + first, hits.u);
        store(v + first, hits.v);
    }
}

// Light that was expected by the rays at the same places, as much of it as arrives. `kind` is its place among the
// counters.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    find_light(TraceInput input, SurfaceView surface, int pack_count, Queue expected, int kind, uint64* ray_counts,
               float* seen) {
    int traced = 0;
    for (int pack : grid_stride(packs_in_use(expected, pack_count))) {
        const int first = pack * PACK;
        const Rays rays = rays_of(input.source, first);
        if (!any(rays.active)) continue;
        traced += __popc(mask_bits(rays.active));
        const Real3 arrives = expected.vector(WEIGHT_ROW, first) * light_left(input, surface, rays);
        store_seen(seen, expected.stride, first,
                   load_seen(seen, expected.stride, first) + select(rays.active, arrives, splat3(0.0f, 0.0f, 0.0f)));
    }
    traced = block_sum(traced);
    if (thread_index() == 0 && traced > 0) atomic_add(&ray_counts[kind], (uint64)traced);
}
