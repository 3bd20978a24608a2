// Transparent layers: every surface that a ray goes through covers a share of what lies behind, front to back. The
// nearest hits are found one after another: each traversal begins behind the hit before, which it excludes exactly,
// since a surface's distance along a ray does not depend on where the ray begins. The unit is compiled against a
// structure (traversals.cuh).
// from gpu.shade.layers import LayersRow
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/interaction.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_layers(TraceInput input, SurfaceView surface, const float* options, int pack_count, const float* t,
                 const int* prim_id, const float* u, const float* v, float* sums, uint64* ray_counts) {
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    const int layers = (int)options[LayersRow::layers];
    int counted = 0;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Rays rays = rays_of(input.source, first);
        const Real3 direction = direction_of(rays);
        Hits hits = {load(t + first), load(u + first), load(v + first), load(prim_id + first)};
        Real3 color = splat3(0.0f, 0.0f, 0.0f);
        Real through = splat(1.0f);
        for (int layer = 0;; ++layer) {
            const Mask hit = rays.active & !(hits.prim_id < splat_int(0));
            if (!any(hit)) break;
            const Interaction found = interaction_at(surface, direction, hit, hits.prim_id, hits.u, hits.v);
            const Real light = splat(options[LayersRow::ambient]) + splat(1.0f - options[LayersRow::ambient]) *
                                                                        lanes_abs(dot(found.shading_normal, direction));
            const Real covers = select(hit, splat(options[LayersRow::opacity]) * found.material.alpha, splat(0.0f));
            const Real3 seen = found.material.base_color * (light * through * covers);
            color = color + select(hit, seen, splat3(0.0f, 0.0f, 0.0f));
            through = through * (splat(1.0f) - covers);
            if (layer + 1 == layers) break;
            rays.t_min = select(hit, hits.t, rays.t_min);
            rays.active = hit & (through > splat(0.0f)) & (rays.t_min < rays.t_max);
            if (!any(rays.active)) break;
            counted += __popc(mask_bits(rays.active));
            hits = closest_hits(input, rays);
        }
        add_to_film(sums, plane, first, frame->sample_index, color + background(options, direction) * through);
    }
    counted = block_sum(counted);
    if (thread_index() == 0 && counted > 0) atomic_add(ray_counts, (uint64)counted);
}
