// Ambient occlusion as a wavefront: what a queue's rays have hit is added up by pixel, of which a queue has each at
// most once; after the last, the colour.
#include "gpu/shade/ao.cuh"
#include "gpu/trace/queue.cuh"

extern "C" __global__ void collect_ao(Queue queue, int pack_count, const int* prim_id, int* unoccluded) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        if (!any(queue.in_use(first))) continue;
        const Int pixels = queue.pixels(first), found = load(prim_id + first);
        const unsigned missed = mask_bits(queue.in_use(first) & (found < splat_int(0)));
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (missed >> i & 1u) unoccluded[lane(pixels, i)] += 1;
        }
    }
}

extern "C" __global__ void shade_ao(const ViewFrame* frame, const float* options, int pack_count, const int* prim_id,
                                    const int* unoccluded, float* sums, uint64* ray_counts) {
    int hits = 0;
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(rays_of(camera, first)), prim_id, first);
        add_unoccluded(frame, options, from, to_real(load(unoccluded + first)), plane, first, sums);
        hits += hit_count(from);
    }
    count_rays(ray_counts, options, hits);
}
