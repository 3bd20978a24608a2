// Hit keys of a picture's rows, and hits in the order of the rays. Constants of the unit: those of tiles.cuh.
#include "gpu/device/loops.cuh"
#include "gpu/glyphs/tiles.cuh"

extern "C" __global__ void clear_keys(uint64* keys, int count) {
    for (int i : grid_stride(count)) keys[i] = NO_HIT;
}

// Where on its primitive a ray hits is found by the test of its records once more.
extern "C" __global__ void write_hits(const ViewFrame* frame, TileInput input, int ray_count, float* t, int* prim_id,
                                      float* u, float* v) {
    const CameraRays camera = {frame};
    for (int ray : grid_stride(ray_count)) {
        const PackPixels at = pixels_of(ray, *frame);
        const bool is_drawn = at.inside && at.y < frame->first_row + input.rows;
        const uint64 key = is_drawn ? input.keys[(int64)(at.y - frame->first_row) * frame->width + at.x] : NO_HIT;
        const bool is_hit = key != NO_HIT;
        t[ray] = is_hit ? distance_of(key) : FLOAT_MAX;
        prim_id[ray] = is_hit ? prim_id_of(key) : -1;
        u[ray] = v[ray] = 0.0f;
        if (!is_hit) continue;
        const Intersection found = intersect_at(input, prim_id_of(key), rays_of(camera, ray));
        u[ray] = found.u;
        v[ray] = found.v;
    }
}
