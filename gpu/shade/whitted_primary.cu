// The first round of recursive ray tracing as a wavefront where the camera's rays come with their hits: those stay, but
// where they are holes, which are passed. Compiled against a structure, as whitted.cu is.
#include "gpu/shade/whitted_queues.cuh"
#include "gpu/shade/whitted_traversals.cuh"

// The hits lie in the order of the camera's rays, which is the queue's, and are overwritten.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    take_primary_hits(TraceInput input, SurfaceView surface, int pack_count, Queue queue, const float* given_t,
                      const int* given_prim_id, const float* given_u, const float* given_v, float* t, int* prim_id,
                      float* u, float* v) {
    for (int pack : grid_stride(packs_in_use(queue, pack_count))) {
        const int first = pack * PACK;
        const Rays rays = rays_of(input.source, first);
        const Hits given = {load(given_t + first), load(given_u + first), load(given_v + first),
                            load(given_prim_id + first)};
        Hits hits = no_hits();
        if (any(rays.active)) hits = nearest_surface(input, surface, rays, &given);
        store(t + first, hits.t);
        store(prim_id + first, hits.prim_id);
        store(u + first, hits.u);
        store(v + first, hits.v);
    }
}
