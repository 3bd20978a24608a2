// Diffuse rays traced on the way, one of every hit: launched once for each of a hit's rays, because what they bring
// back is added up in their order, and so that nothing but the ray is kept while it traverses. The unit is compiled
// against a structure (traversals.cuh).
#include "gpu/shade/diffuse.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_diffuse(TraceInput input, SurfaceView surface, const float* options, int pack_count, int ray_index,
                  const int* prim_id, const float* u, const float* v, float* sums) {
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(rays_of(input.source, first)), prim_id, first);
        if (!any(from.hit)) continue;
        const SurfacePoint at = point_of_hit(surface, from.direction, from.hit, from.prim_id, load(u + first),
                                             load(v + first));
        const Rays rays = gathered_rays(frame, options, from, at, ray_index);
        const Hits found = closest_hits(input, rays);
        const Real3 light = light_of_ray(surface, direction_of(rays), found.prim_id, found.u, found.v);
        store(sums + first, load(sums + first) + light.x);
        store(sums + plane + first, load(sums + plane + first) + light.y);
        store(sums + 2 * plane + first, load(sums + 2 * plane + first) + light.z);
    }
}
