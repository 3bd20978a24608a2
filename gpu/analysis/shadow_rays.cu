// The rays from primary hits to one light, as shadow.cu makes and traces them on the way, into a buffer of rays as
// BufferRays has them. What needs none has t_min for its end. The unit names Tree, Records and RaySource.
#include "gpu/device/loops.cuh"
#include "gpu/trace/lights.cuh"
#include "gpu/trace/traversals.cuh"

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    make_shadow_rays(TraceInput input, int pack_count, const int* prim_id, const float* u, const float* v,
                     const float* positions, const int* triangles, const float* lights, int light, float* rows,
                     int stride) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int primitives = load(prim_id + first);
        const Mask hit = !(primitives < splat_int(0));
        Mask facing = splat_mask(false);
        Rays rays = rays_of(input.source, first);
        if (any(hit)) {
            const Int safe = select(hit, primitives, splat_int(0));
            const SurfacePoint at = surface_point(positions, triangles, direction_of(rays), safe, load(u + first),
                                                  load(v + first));
            const LightSample sample = sample_light(lights + LightRow::FLOATS * light, at.point);
            facing = hit & (dot(at.normal, sample.towards) > splat(0.0f));
            rays = rays_to_light(at, sample, facing);
        }
        float* at = rows + first;
        const int64 row = stride;
        store(at, rays.ox);
        store(at + row, rays.oy);
        store(at + 2 * row, rays.oz);
        store(at + 3 * row, rays.dx);
        store(at + 4 * row, rays.dy);
        store(at + 5 * row, rays.dz);
        store(at + 6 * row, rays.t_min);
        store(at + 7 * row, select(facing, rays.t_max, rays.t_min));
    }
}
