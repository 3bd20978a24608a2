// Diffuse rays as a wavefront: what a queue's rays bring back is added up by pixel, of which a queue has each at
// most once. And the colour of the pixels, however the rays were traced.
#include "gpu/shade/diffuse.cuh"
#include "gpu/trace/queue.cuh"

extern "C" __global__ void collect_diffuse(SurfaceView surface, Queue queue, int pack_count, const int* prim_id,
                                           const float* u, const float* v, float* sums, int place_count) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const unsigned used = mask_bits(queue.in_use(first));
        if (used == 0u) continue;
        const Int pixels = queue.pixels(first);
        const Real3 light = light_of_ray(surface, queue.direction(first), load(prim_id + first), load(u + first),
                                         load(v + first));
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (used >> i & 1u) add_sums(sums, place_count, lane(pixels, i), light, i);
        }
    }
}

extern "C" __global__ void shade_diffuse(SurfaceView surface, const ViewFrame* frame, const float* options,
                                         int pack_count, const int* prim_id, const float* u, const float* v,
                                         const float* sums, float* film, uint64* ray_counts) {
    int hits = 0;
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(rays_of(camera, first)), prim_id, first);
        Real3 color = background(options, from.direction);
        if (any(from.hit)) {
            const SurfacePoint at = point_of_hit(surface, from.direction, from.hit, from.prim_id, load(u + first),
                                                 load(v + first));
            const Real3 own = diffuse_color(
                material_at(surface, at, from.hit, select(from.hit, from.prim_id, splat_int(0))));
            const Real3 light = {load(sums + first), load(sums + plane + first), load(sums + 2 * plane + first)};
            color = select(from.hit, own * light * splat(1.0f / options[GatherRow::rays]), color);
        }
        add_to_film(film, plane, first, frame->sample_index, color);
        hits += hit_count(from);
    }
    count_rays(ray_counts, options, hits);
}
