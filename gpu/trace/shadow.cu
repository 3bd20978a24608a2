// Shadow rays from primary hits to every light, made on the way: no buffer of rays. Bit l of `shadowed` is set where light l does not reach the
// hit. Lanes whose surface faces away from the light are set without a ray. The unit names Tree, Records and RaySource as trace.cu does.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/on_primitive.cuh"
#include "gpu/trace/ray_sources.cuh"

struct TraceInput {
    Tree tree;
    Records records;
    RaySource source;
};
static_assert(sizeof(TraceInput) == TRACE_INPUT_BYTES, "trace.py lays this struct out");

// Start off the surface by a few rounding errors of the hit point, on the side the primary ray came from.
__device__ __forceinline__ Real3 lifted(Real3 point, Real3 normal, Real t) {
    const Real size = max(max(lanes_abs(point.x), lanes_abs(point.y)), max(lanes_abs(point.z), t));
    return point + normal * (size * splat(2e-5f));
}

__device__ __forceinline__ Rays rays_to_light(Real3 from, const LightSample& light, Mask active) {
    const Real3& d = light.towards;
    const Real t_max = select(light.distance < splat(FLOAT_MAX), light.distance * splat(0.9999f), splat(FLOAT_MAX));
    return make_rays(from.x, from.y, from.z, d.x, d.y, d.z, splat(0.0f), t_max, active);
}

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_shadow_rays(TraceInput input, int pack_count, const float* t, const int* prim_id, const float* positions, const int* triangles,
                      const float* lights, int light_count, int* shadowed, uint64* ray_count) {
    int traced = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Int bits = splat_int(0);
        if (any(hit)) {
            const Rays primary = input.source.rays(first);
            const Real distance = select(hit, load(t + first), splat(0.0f));
            const Real3 point = point_at(primary, distance);
            Real3 normal = triangle_normal(positions, gather_corners(triangles, select(hit, primitives, splat_int(0))));
            normal = select(dot(normal, direction_of(primary)) > splat(0.0f), normal * splat(-1.0f), normal);
            const Real3 from = lifted(point, normal, distance);
            for (int l = 0; l < light_count; ++l) {
                const LightSample light = sample_light(lights + 8 * l, point);
                const Mask facing = hit & (dot(normal, light.towards) > splat(0.0f));
                Mask dark = !facing;
                if (any(facing)) {
                    Rays rays = rays_to_light(from, light, facing);
                    AnyHit any_hit = {no_hits()};
                    NoNodes no_nodes;
                    traverse(input.tree, input.records, rays, any_hit, no_nodes);
                    dark = dark | !(any_hit.hits.prim_id < splat_int(0));
                    traced += __popc(mask_bits(facing));
                }
                bits = bits | select(dark, splat_int((int)(1u << l)), splat_int(0));
            }
        }
        store(shadowed + first, bits);
    }
    traced = block_sum(traced);
    if (thread_index() == 0 && traced > 0) atomic_add(ray_count, (uint64)traced);
}
