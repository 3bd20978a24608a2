// Hit keys of a picture's rows, and hits in the order of the rays.
#include "gpu/device/loops.cuh"
#include "gpu/device/sphere.cuh"
#include "gpu/glyphs/hit_key.cuh"
#include "gpu/trace/ray_sources.cuh"

extern "C" __global__ void clear_keys(uint64* keys, int count) {
    for (int i : grid_stride(count)) keys[i] = NO_HIT;
}

// Where on its sphere a ray hits is found by the test of the sphere's records once more.
extern "C" __global__ void write_hits(const ViewFrame* frame, const uint64* keys, int rows, int ray_count,
                                      const float* centres, const float* radii, float* t, int* prim_id, float* u,
                                      float* v) {
    const CameraRays camera = {frame};
    for (int ray : grid_stride(ray_count)) {
        const PackPixels at = pixels_of(ray, *frame);
        const bool is_drawn = at.inside && at.y < frame->first_row + rows;
        const uint64 key = is_drawn ? keys[(int64)(at.y - frame->first_row) * frame->width + at.x] : NO_HIT;
        const bool is_hit = key != NO_HIT;
        t[ray] = is_hit ? distance_of(key) : FLOAT_MAX;
        prim_id[ray] = is_hit ? prim_id_of(key) : -1;
        u[ray] = v[ray] = 0.0f;
        if (!is_hit) continue;
        const float3 centre = load3(centres, prim_id_of(key));
        const float4 sphere = make_float4(centre.x, centre.y, centre.z, radii[prim_id_of(key)]);
        const Intersection found = SphereRecords{nullptr}.intersect_fetched(sphere, sphere, sphere, 0,
                                                                            rays_of(camera, ray));
        u[ray] = found.u;
        v[ray] = found.v;
    }
}
