// Shadow rays from primary hits to every light, made on the way: no buffer of rays. Bit l of `shadowed` is set where
// light l does not reach the hit. Lanes whose surface faces away from the light are set without a ray. The unit names
// Tree, Records and RaySource as trace.cu does.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/trace/lights.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_shadow_rays(TraceInput input, int pack_count, const int* prim_id, const float* u, const float* v,
                      const float* positions, const int* triangles, const float* lights, int light_count, int* shadowed,
                      uint64* ray_count) {
    int traced = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Int bits = splat_int(0);
        if (any(hit)) {
            const Real3 direction = direction_of(rays_of(input.source, first));
            const Int safe = select(hit, primitives, splat_int(0));
            const SurfacePoint at = surface_point(positions, triangles, direction, safe, load(u + first),
                                                  load(v + first));
            for (int l = 0; l < light_count; ++l) {
                const LightSample light = sample_light(lights + LightRow::FLOATS * l, at.point);
                const Mask facing = hit & (dot(at.normal, light.towards) > splat(0.0f));
                Mask dark = !facing;
                if (any(facing)) {
                    dark = dark | is_any_hit(input, rays_to_light(at, light, facing));
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
