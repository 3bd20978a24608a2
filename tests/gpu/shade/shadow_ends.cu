// Shadow rays from a point of triangle 2 i to one of triangle 2 i + 1, which shines: whether it hides itself (bit 0 by
// the test of Moeller and Trumbore, bit 1 by the watertight one), and whether it does where it stands three gaps
// nearer (bit 2); -1 where the light has no room before its gap. The surface's emitters are the odd triangles.
#include "gpu/device/loops.cuh"
#include "gpu/device/triangle_tests.cuh"
#include "gpu/shade/path_lights.cuh"

__device__ __forceinline__ Triangles::Shape corners_of(const SurfaceView& surface, int triangle, Real3 moved) {
    const float3 by = make_float3(lane(moved.x, 0), lane(moved.y, 0), lane(moved.z, 0));
    const int* corners = surface.triangles + 3 * triangle;
    return {load3(surface.positions, corners[0]) + by, load3(surface.positions, corners[1]) + by,
            load3(surface.positions, corners[2]) + by};
}
template <class Test>
__device__ __forceinline__ bool is_hit(const Triangles::Shape& shape, const Rays& rays) {
    float4 record[TriangleRecords::RECORD_FLOAT4S];
    TriangleRecords::pack(shape, 0, record);
    return any(Test{nullptr}.intersect_fetched(record[0], record[1], record[2], 0, rays).hit);
}

extern "C" __global__ void end_shadow_rays(SurfaceView surface, const float* numbers, int count, int* hidden) {
    for (int i : grid_stride(count)) {
        const float* r = numbers + 4 * i;
        const SurfacePoint from = surface_point(surface.positions, surface.triangles, splat3(0.3f, 0.5f, 0.8f),
                                                splat_int(2 * i), splat(r[0]), splat(r[1]));
        const LightChoice light = choose_triangle(surface, from, splat((i + 0.5f) / count), splat(r[2]), splat(r[3]),
                                                  splat_mask(true));
        const Rays rays = rays_to_light(from, light.towards, light.distance, light.gap, splat_mask(true));
        const Real3 nearer = light.towards * (light.gap * splat(-3.0f)), none = splat3(0.0f, 0.0f, 0.0f);
        const Triangles::Shape shape = corners_of(surface, 2 * i + 1, none);
        const int itself = (is_hit<TriangleRecords>(shape, rays) ? 1 : 0) |
                           (is_hit<WatertightTriangles>(shape, rays) ? 2 : 0);
        const bool is_before = is_hit<WatertightTriangles>(corners_of(surface, 2 * i + 1, nearer), rays);
        const bool has_room = lane(light.distance, 0) > 6.0f * lane(light.gap, 0);
        hidden[i] = itself | (has_room ? (is_before ? 4 : 0) : 8);
    }
}
