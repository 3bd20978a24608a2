// One ray from every hit of a picture's primary rays into the half space around the surface, by the cosine: incoherent rays to measure walks with.
// The same seed gives the same rays on every target: directions come from whole numbers, without a sine. Unit constant: none; RaySource is CameraRays.
#include "gpu/device/loops.cuh"
#include "gpu/device/random.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/ray_sources.cuh"

// -1 to 1.
__device__ __forceinline__ float next_coordinate(unsigned& state) {
    state = scrambled(state);
    return (float)(state >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

// A point on the unit sphere: the first of up to 16 points of a cube that lies in the ball, moved out; the normal itself if none does.
__device__ __forceinline__ Real3 point_on_sphere(unsigned state, Real3 otherwise) {
    for (int turn = 0; turn < 16; ++turn) {
        const float x = next_coordinate(state), y = next_coordinate(state), z = next_coordinate(state);
        const float squared = x * x + y * y + z * z;
        if (squared <= 1.0f && squared > 1e-4f) return normalize(splat3(x, y, z));
    }
    return otherwise;
}

// `rows`: eight rows of `stride` floats as BufferRays takes them, a ray a hit, in the order of the primary rays; without a hit an inactive one.
extern "C" __global__ void scatter_rays(RaySource source, int ray_count, const int* prim_id, const float* u, const float* v, const float* positions, const int* triangles, int seed,
                                        float* rows) {
    for (int ray : grid_stride(ray_count)) {
        float* at = rows + ray;
        const int64 row = ray_count;
        const bool is_hit = prim_id[ray] >= 0;
        const Real3 direction = direction_of(source.rays(ray));
        const SurfacePoint hit = surface_point(positions, triangles, direction, is_hit ? prim_id[ray] : 0, u[ray], v[ray]);
        // A point of the sphere that stands on the surface: its density is the cosine.
        const Real3 away = normalize(hit.normal + point_on_sphere(scrambled(ray ^ scrambled(seed)), hit.normal));
        const Real3 from = lifted(hit, away);
        at[0] = from.x;
        at[row] = from.y;
        at[2 * row] = from.z;
        at[3 * row] = away.x;
        at[4 * row] = away.y;
        at[5 * row] = away.z;
        at[6 * row] = 0.0f;
        at[7 * row] = is_hit ? FLOAT_MAX : 0.0f;
    }
}
