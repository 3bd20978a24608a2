// Shadow rays of smooth shading in a scene with holes: as gpu/trace/shadow.cu, but a share of light instead of a bit.
// The unit is compiled against a structure (traversals.cuh). Lanes without a hit, and those that face away from the
// light, have a share of zero without a ray.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/light_traversal.cuh"

// `shares`: a plane of rays for each light.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_shadow_shares(TraceInput input, SurfaceView surface, int pack_count, const int* prim_id, const float* u,
                        const float* v, float* shares, uint64* ray_count) {
    int traced = 0;
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        if (!any(hit)) continue;
        const SurfacePoint at = point_of_hit(surface, direction_of(rays_of(input.source, first)), hit, primitives,
                                             load(u + first), load(v + first));
        for (int l = 0; l < surface.light_count; ++l) {
            const LightSample light = sample_light(surface.lights + LightRow::FLOATS * l, at.point);
            const Mask facing = hit & (dot(at.normal, light.towards) > splat(0.0f));
            Real share = splat(0.0f);
            if (any(facing)) {
                share = select(facing, light_through_holes(input, surface, rays_to_light(at, light, facing)).left,
                               share);
                traced += __popc(mask_bits(facing));
            }
            store(shares + l * plane + first, share);
        }
    }
    traced = block_sum(traced);
    if (thread_index() == 0 && traced > 0) atomic_add(ray_count, (uint64)traced);
}
