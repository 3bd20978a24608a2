// One ray from every primary hit, the `ray_index`-th of each, at the hit's place in ray order; places without a hit
// have no ray.
#include "gpu/shade/gather.cuh"
#include "gpu/trace/queue.cuh"

extern "C" __global__ void emit_wavefront(SurfaceView surface, const ViewFrame* frame, const float* options,
                                          int pack_count, const int* prim_id, const float* u, const float* v,
                                          int ray_index, Queue queue) {
    const CameraRays camera = {frame};
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const PrimaryHits from = primary_hits(frame, direction_of(rays_of(camera, first)), prim_id, first);
        const SurfacePoint at = point_of_hit(surface, from.direction, from.hit, from.prim_id, load(u + first),
                                             load(v + first));
        queue.put(first, gathered_rays(frame, options, from, at, ray_index), splat_int(first) + lane_index());
        if (first == 0) *queue.count = pack_count * PACK;
    }
}
