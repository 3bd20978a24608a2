// One ray from every hit of a picture's primary rays into the half space around the surface, by the cosine: incoherent
// rays to measure traversals with. The same seed gives the same rays on every target: directions come from whole
// numbers, without a sine. Unit constant: none; RaySource is CameraRays.
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/octahedral.cuh"
#include "gpu/device/random.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/ray_sources.cuh"

// -1 to 1.
__device__ __forceinline__ float next_coordinate(unsigned& state) {
    state = scrambled(state);
    return (float)(state >> 8) * (2.0f / 16777216.0f) - 1.0f;
}

// A point on the unit sphere: the first of up to 16 points of a cube that lies in the ball, moved out; the normal
// itself if none does.
__device__ __forceinline__ Real3 point_on_sphere(unsigned state, Real3 otherwise) {
    for (int turn = 0; turn < 16; ++turn) {
        const float x = next_coordinate(state), y = next_coordinate(state), z = next_coordinate(state);
        const float squared = x * x + y * y + z * z;
        if (squared <= 1.0f && squared > LEAST_IN_BALL2) return normalize(splat3(x, y, z));
    }
    return otherwise;
}

// Where a ray has hit a sphere: `u` and `v` are the direction from its centre.
__device__ __forceinline__ SurfacePoint sphere_point(const float* centres, const float* radii, Real3 direction,
                                                     int sphere, float u, float v) {
    const OctahedralDirection found = octahedral_direction(u, v);
    const Real3 outwards = {found.x, found.y, found.z}, centre = splat3(centres + 3 * (int64)sphere);
    const bool is_back = dot(outwards, direction) > 0.0f;
    const float radius = radii[sphere];
    return {{0, 0, 0},
            u,
            v,
            centre + outwards * radius,
            is_back ? outwards * -1.0f : outwards,
            largest_coordinate(centre) + radius,
            is_back};
}

// `rows`: eight rows of `stride` floats as BufferRays takes them, a ray per hit, in the order of the primary rays;
// without a hit an inactive one. Primitives from `first_sphere` on are spheres.
extern "C" __global__ void scatter_rays(RaySource source, int ray_count, const int* prim_id, const float* u,
                                        const float* v, const float* positions, const int* triangles,
                                        const float* centres, const float* radii, int first_sphere, int seed,
                                        float* rows) {
    for (int ray : grid_stride(ray_count)) {
        float* at = rows + ray;
        const int64 row = ray_count;
        const int id = prim_id[ray];
        if (id < 0) {
            for (int i = 0; i < 8; ++i) at[i * row] = 0.0f;
            continue;
        }
        const Real3 direction = direction_of(rays_of(source, ray));
        const SurfacePoint hit = id < first_sphere
                                     ? surface_point(positions, triangles, direction, id, u[ray], v[ray])
                                     : sphere_point(centres, radii, direction, id - first_sphere, u[ray], v[ray]);
        // A point of the sphere that stands on the surface: its density is the cosine.
        const Real3 away = normalize(hit.normal + point_on_sphere(scrambled(ray ^ scrambled(seed)), hit.normal));
        const Real3 from = offset_ray_origin(hit, away);
        at[0] = from.x;
        at[row] = from.y;
        at[2 * row] = from.z;
        at[3 * row] = away.x;
        at[4 * row] = away.y;
        at[5 * row] = away.z;
        at[6 * row] = 0.0f;
        at[7 * row] = FLOAT_MAX;
    }
}
