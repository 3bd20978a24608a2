// Traverses through the structure that a unit is compiled against, for kernels that trace on the way: as often as they
// need, without a buffer of rays.
//
// The unit names Tree, Records and RaySource (Tracer.unit in trace.py), and the kernel takes a TraceInput and has
// __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS). Lanes that are not active cost nothing and hit nothing. A traversal is
// some 200 instructions at each place that calls it: call it in a loop, not side by side.
// from gpu.trace.ray_views import TraceParts
#pragma once
#include "gpu/trace/on_primitive.cuh"
#include "gpu/trace/ray_sources.cuh"

struct TraceInput : TraceParts<Tree, Records, RaySource> {};
static_assert(sizeof(TraceInput) == TRACE_INPUT_BYTES, "trace.py lays this struct out");

// Of rays that go on from a hit, mostly.
__device__ __forceinline__ Hits closest_hits(const TraceInput& input, Rays rays) {
    ScatteredClosestHit on_primitive = {{no_hits()}, {}};
    NoNodes on_node;
    admit_rays(rays);
    if (any(rays.active)) traverse(input.tree, input.records, rays, on_primitive, on_node);
    return on_primitive.hits;
}

// The lanes that hit anything between t_min and t_max.
__device__ __forceinline__ Mask is_any_hit(const TraceInput& input, Rays rays) {
    AnyHit on_primitive = {no_hits()};
    NoNodes on_node;
    admit_rays(rays);
    if (any(rays.active)) traverse(input.tree, input.records, rays, on_primitive, on_node);
    return !(on_primitive.hits.prim_id < splat_int(0));
}
