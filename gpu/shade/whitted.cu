// Recursive ray tracing in one kernel: every pack follows the trees of its pixels' rays (whitted_tree.cuh).
//
// Constant of the unit: HAS_PRIMARY_HITS (what the camera's rays hit first is given: t, prim_id, u, v in their order;
// else null, and traced here).
#include "gpu/shade/whitted_tree.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_whitted(TraceInput input, SurfaceView surface, EnvironmentView environment, const float* options,
                  int pack_count, uint64* ray_counts, float* sums, const float* t, const int* prim_id, const float* u,
                  const float* v) {
    SHARED int in_block[COUNTS];
    const BlockCounts counts = {in_block, ray_counts};
    counts.begin(COUNTS);
    const ViewFrame* frame = input.source.frame;
    const int64 plane = (int64)pack_count * PACK;
    for (int turn : grid_stride(pack_count)) {
        const int first = (IS_SINGLE_RAY ? in_turn(input.source, turn, pack_count, true) : turn) * PACK;
        const PackPixels at = pixels_of(first, *frame);
        const Int pixel = pixel_number(at.x, at.y);
        Rays rays = through_lens(frame, options, pixel, rays_of(input.source, first));
        Real3 color = splat3(0.0f, 0.0f, 0.0f), weight = splat3(1.0f, 1.0f, 1.0f);
        Int media = splat_int(0);
        Waiting waiting;
        waiting.count = 0;
        int depth = 0;
        Hits primary = no_hits();
        if (HAS_PRIMARY_HITS) primary = {load(t + first), load(u + first), load(v + first), load(prim_id + first)};
        while (true) {
            if (any(rays.active))
                add_seen(input, frame, surface, environment, options, rays, weight, media, pixel, depth, counts,
                         waiting, color, HAS_PRIMARY_HITS && depth == 0 ? &primary : nullptr);
            if (waiting.count == 0) break;
            const WaitingRay& next = waiting.rays[--waiting.count];
            const Real3 from = next.from, towards = next.direction;
            rays = make_rays(from.x, from.y, from.z, towards.x, towards.y, towards.z, splat(0.0f), splat(FLOAT_MAX),
                             next.active);
            weight = next.weight;
            media = next.media;
            depth = next.depth;
        }
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
    counts.end(COUNTS);
}
