// The same as node_counts.cu of the rays from primary hits to every light, made on the way as shadow.cu makes them. The
// unit names Tree, Records and RaySource.
#include "gpu/analysis/count_nodes.cuh"
#include "gpu/trace/lights.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    count_shadow_nodes(TraceInput input, int ray_count, const int* prim_id, const float* u, const float* v,
                       const float* positions, const int* triangles, const float* lights, int light_count,
                       uint64* counts, int64 slot_count, int node_space, int primitive_count, int copies,
                       uint64* totals) {
    Counter on_node = counts_of_block(counts, slot_count, node_space, primitive_count, copies);
    for (int ray : grid_stride(ray_count)) {
        const Int primitive = load(prim_id + ray);
        if (any(primitive < splat_int(0))) continue;
        const Real3 direction = direction_of(rays_of(input.source, ray));
        const SurfacePoint at = surface_point(positions, triangles, direction, primitive, load(u + ray), load(v + ray));
        for (int l = 0; l < light_count; ++l) {
            const LightSample light = sample_light(lights + LightRow::FLOATS * l, at.point);
            const Mask facing = dot(at.normal, light.towards) > splat(0.0f);
            if (!any(facing)) continue;
            Rays rays = rays_to_light(at, light, facing);
            AnyHit on_primitive = {no_hits()};
            admit_rays(rays);
            const Mask active = rays.active;
            if (!any(active)) continue;
            traverse(input.tree, input.records, rays, on_primitive, on_node);
            on_node.end(active);
        }
    }
    on_node.finish(totals);
}
