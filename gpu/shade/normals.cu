// Readings of normals: x, y, z, and the cosine to the ray. `options` behind the view's: 1 for the triangle's own.
#include "gpu/shade/interaction.cuh"

constexpr int IS_GEOMETRIC = 8;

extern "C" __global__ void read_normals(SurfaceView surface, const ViewFrame* frame, const float* options, int pack_count, const int* prim_id, const float* u,
                                        const float* v, float* readings) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(prim_id + first);
        const Mask hit = !(found < splat_int(0));
        Real3 normal = splat3(0.0f, 0.0f, 0.0f);
        const Real3 direction = direction_of(camera.rays(first));
        if (any(hit)) {
            const Interaction at = interaction_at(surface, direction, hit, found, load(u + first), load(v + first));
            normal = options[IS_GEOMETRIC] != 0.0f ? at.at.normal : at.shading_normal;
        }
        store(readings + first, normal.x);
        store(readings + plane + first, normal.y);
        store(readings + 2 * plane + first, normal.z);
        store(readings + 3 * plane + first, max(-dot(normal, direction), splat(0.0f)));
    }
}
