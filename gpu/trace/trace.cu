// Rays -> hits, whatever the structure. The unit names Tree and Records (the structure's view and its primitives'
// records), RaySource (CameraRays or BufferRays), OnPrimitive (ClosestHit, CountedClosestHit or AnyHit) and OnNode
// (NoNodes or CountSteps).
//
// Behind `steps`, nodes visited, lie as long an array of primitives tested and one of boxes tested. One loop item is a
// pack of RAYS_PER_THREAD consecutive rays; `in_strides`: threads have more than one. Hit arrays are as long as the
// rays, rounded up to whole tiles of 64.
#include "gpu/device/loops.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_rays(TraceInput input, int pack_count, int in_strides, float* t, int* prim_id, float* u, float* v,
               int* steps) {
    for (int pack : grid_stride(pack_count)) {
        const int first = (IS_SINGLE_RAY ? in_turn(input.source, pack, pack_count, in_strides != 0) : pack) * PACK;
        Rays rays = rays_of(input.source, first);
        OnPrimitive on_primitive = {no_hits()};
        OnNode on_node = {};
        admit_rays(rays);
        if (any(rays.active)) traverse(input.tree, input.records, rays, on_primitive, on_node);
        const Hits& hits = on_primitive.hits;
        store(t + first, hits.t);
        store(prim_id + first, hits.prim_id);
        store(u + first, hits.u);
        store(v + first, hits.v);
        const int64 plane = (int64)pack_count * PACK;
        on_node.store_counts(steps, first, plane);
        store_tests(on_primitive, steps, plane + first);
    }
}
