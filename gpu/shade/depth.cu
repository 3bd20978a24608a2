// Readings of depth: the distance along the ray, and that along the direction of view.
#include "gpu/shade/shading.cuh"

extern "C" __global__ void read_depth(const ViewFrame* frame, int pack_count, const float* t, float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    const float* c = frame->camera;
    // Across the picture and down it: what stands on both is the direction of view, whichever ray the frame's middle is.
    const float3 across = make_float3(c[8], c[9], c[10]), down = make_float3(c[12], c[13], c[14]), middle = make_float3(c[4], c[5], c[6]);
    const float3 upright = normalize(cross(across, down));
    const float3 ahead = dot(upright, middle) < 0.0f ? -upright : upright;
    const Real3 forward = splat3(ahead.x, ahead.y, ahead.z);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real distance = load(t + first);
        store(readings + first, distance);
        store(readings + plane + first, distance * dot(direction_of(camera.rays(first)), forward));
    }
}
