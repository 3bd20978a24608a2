// Flat shading where the scene has spheres: one colour, each triangle by its own normal, each sphere by its point's,
// lit from the eye. A kernel of its own, so that scenes of triangles alone keep the code and the reads of flat.cu.
// from gpu.shade.flat import FlatRow
#include "gpu/shade/interaction.cuh"

// `colours` are those that spheres have by an attribute, null for none.
extern "C" __global__ void shade_flat_with_spheres(SurfaceView surface, const ViewFrame* frame, const float* options,
                                                   int pack_count, const int* prim_id, const float* u, const float* v,
                                                   const float* colours, float* sums) {
    const CameraRays camera = {frame};
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 direction = direction_of(rays_of(camera, first));
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Real3 color = background(options, direction);
        if (any(hit)) {
            const SurfacePoint at = point_of_hit(surface, direction, hit, primitives, load(u + first), load(v + first));
            const Real light = splat(options[FlatRow::ambient]) +
                               splat(1.0f - options[FlatRow::ambient]) * lanes_abs(dot(at.normal, direction));
            Real3 own = splat3(options + FlatRow::color);
            const Mask here = hit & is_sphere(surface, primitives);
            if (colours != nullptr && any(here)) {
                const Real3 found = gather3(colours, sphere_or_first(surface, here, primitives));
                own = select(here & !(found.x < splat(0.0f)), found, own);
            }
            color = select(hit, own * light, color);
        }
        add_to_film(sums, plane, first, frame->sample_index, color);
    }
}
