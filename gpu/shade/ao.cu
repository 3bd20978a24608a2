// Ambient occlusion traced on the way. The unit is compiled against a structure (traversals.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/shade/ao.cuh"
#include "gpu/trace/traversals.cuh"

// One item is one ray of one hit, so that a lane that is done early does not wait for the others' next rays, and keeps
// nothing while it traverses: the rays of a tile of pixels lie together, those of one number side by side. `sums`
// counts rays that hit nothing; whole numbers, so that their order does not matter, nor how many of a hit's rays a
// launch takes: `ray_count` of them from `first_ray` on.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_ao(TraceInput input, SurfaceView surface, const float* options, int item_count, int first_ray, int ray_count,
             const int* prim_id, const float* u, const float* v, int* sums) {
    const ViewFrame* frame = input.source.frame;
    const int tile_packs = TILE_RAYS / PACK, tile_items = tile_packs * ray_count;
    for (int item : grid_stride(item_count)) {
        const int local = item % tile_items;
        const int first = (item / tile_items * tile_packs + local % tile_packs) * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(rays_of(input.source, first)), prim_id, first);
        if (!any(from.hit)) continue;
        const SurfacePoint at = point_of_hit(surface, from.direction, from.hit, from.prim_id, load(u + first),
                                             load(v + first));
        const Rays rays = gathered_rays(frame, options, from, at, first_ray + local / tile_packs);
        const unsigned unoccluded = mask_bits(from.hit & !is_any_hit(input, rays));
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (unoccluded >> i & 1u) atomic_add(&sums[first + i], 1);
        }
    }
}
