// Flat shading: one colour, each triangle by its own normal, lit from the eye.
// from gpu.shade.flat import FlatRow
#include "gpu/shade/shading.cuh"

extern "C" __global__ void shade_flat(SurfaceView surface, const ViewFrame* frame, const float* options, int pack_count,
                                      const int* prim_id, float* sums) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 direction = direction_of(rays_of(camera, first));
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Real3 color = background(options, direction);
        if (any(hit)) {
            const Corners corners = gather_corners(surface.triangles, select(hit, primitives, splat_int(0)));
            const Real facing = lanes_abs(dot(triangle_normal(surface.positions, corners), direction));
            const Real light = splat(options[FlatRow::ambient]) + splat(1.0f - options[FlatRow::ambient]) * facing;
            color = select(hit, splat3(options + FlatRow::color) * light, color);
        }
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
}
