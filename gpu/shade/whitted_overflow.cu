// Rays that a queue has no room for: each is followed to its end at once, with all that goes on from it, as whitted.cu
// follows a pixel's. Compiled against a structure, as that is.
#include "gpu/shade/whitted_queues.cuh"
#include "gpu/shade/whitted_tree.cuh"

// Adds to `color` all that is seen along `rays` of `depth`, and by the rays that go on from there. The loop is
// whitted.cu's, which has it in its kernel: as a function it becomes other code there.
__device__ __forceinline__ void follow_tree(const TraceInput& input, const ViewFrame* frame, const SurfaceView& surface,
                                            const EnvironmentView& environment, const float* options, Rays rays,
                                            Real3 weight, Int media, Int pixel, int depth, const BlockCounts& counts,
                                            Real3& color) {
    Waiting waiting;
    waiting.count = 0;
    while (true) {
        if (any(rays.active))
            add_seen(input, frame, surface, environment, options, rays, weight, media, pixel, depth, counts, waiting,
                     color);
        if (waiting.count == 0) break;
        const WaitingRay& next = waiting.rays[--waiting.count];
        const Real3 from = next.from, towards = next.direction;
        rays = make_rays(from.x, from.y, from.z, towards.x, towards.y, towards.z, splat(0.0f), splat(FLOAT_MAX),
                         next.active);
        weight = next.weight;
        media = next.media;
        depth = next.depth;
    }
}

// The rays of `transmitted` and `reflected` at `depth` that lie beyond the room of the queue that both go into:
// `places` is where the first of a place goes. What they see is added to what their parents see.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    follow_overflow(TraceInput input, const ViewFrame* frame, SurfaceView surface, EnvironmentView environment,
                    const float* options, int pack_count, int depth, Queue transmitted, Queue reflected,
                    const int* places, uint64* ray_counts, float* seen) {
    SHARED int in_block[COUNTS];
    const BlockCounts counts = {in_block, ray_counts};
    counts.begin(COUNTS);
    const Int room = splat_int(transmitted.stride);
    for (int pack : grid_stride(packs_in_use(transmitted, pack_count))) {
        const int first = pack * PACK;
        Int place = load(places + first);
        if (!any(room < place + splat_int(2))) continue;
        Real3 color = load_seen(seen, transmitted.stride, first);
#pragma unroll 1
        for (int kind = 0; kind < 2; ++kind) {
            const Queue& queue = kind == 0 ? transmitted : reflected;
            Rays rays = rays_of(BufferRays{queue.rows, *queue.count, queue.stride}, first);
            const Mask is_ray = rays.active;
            rays.active = is_ray & !(place < room);
            place = place + select(is_ray, splat_int(1), splat_int(0));
            if (!any(rays.active)) continue;
            const Int media = select(rays.active, load((const int*)queue.row(MEDIA_ROW) + first), splat_int(0));
            follow_tree(input, frame, surface, environment, options, rays, queue.vector(WEIGHT_ROW, first), media,
                        load((const int*)queue.row(NUMBER_ROW) + first), depth, counts, color);
        }
        store_seen(seen, transmitted.stride, first, color);
    }
    counts.end(COUNTS);
}
