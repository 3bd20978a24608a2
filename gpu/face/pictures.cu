// What the rays of cameras hit -> pictures: a colour by the light of a lamp at the camera, and the places of instances.
#include "gpu/device/loops.cuh"
#include "gpu/device/transform.cuh"
#include "gpu/device/types.cuh"

__device__ __forceinline__ float encoded(float linear) {
    const float x = min(max(linear, 0.0f), 1.0f);
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

// The way of a beam from a camera: parallel ones look along the axis.
__device__ __forceinline__ float3 direction_of(const float* poses, const uint8* is_parallel, const float* beams,
                                               int camera, int beam) {
    const float3 own = is_parallel[camera] ? make_float3(0.0f, 0.0f, -1.0f) : load3(beams, beam);
    return transform_vector(load_affine(poses, camera), own);
}

// Poses and beams of cameras -> rays, camera after camera, for those of which some see by parallel beams: these begin
// on the plane through the eye.
extern "C" __global__ void make_camera_rays(const float* poses, const uint8* is_parallel, const float* beams,
                                            int beam_count, int n, float* origins, float* directions) {
    for (int i : grid_stride(n)) {
        const int camera = i / beam_count, beam = i - camera * beam_count;
        const float3 across = load3(beams, beam);
        const float3 own = is_parallel[camera] ? make_float3(across.x, across.y, 0.0f) : make_float3(0.0f, 0.0f, 0.0f);
        store3(origins, i, transform_point(load_affine(poses, camera), own));
        store3(directions, i, direction_of(poses, is_parallel, beams, camera, beam));
    }
}

// `poses` as sensors have them, `beams` to the plane at distance 1 of all cameras. `colors` are linear, three an
// instance. `background` has the three bytes of a ray that hits nothing.
extern "C" __global__ void shade_pictures(const int* instance, const float* normal, const float* poses,
                                          const uint8* is_parallel, const float* beams, int beam_count,
                                          const float* colors, int background_red, int background_green,
                                          int background_blue, int n, uint8* color) {
    for (int i : grid_stride(n)) {
        uint8* const at = color + 3 * (int64)i;
        if (instance[i] < 0) {
            at[0] = (uint8)background_red, at[1] = (uint8)background_green, at[2] = (uint8)background_blue;
            continue;
        }
        const int camera = i / beam_count;
        const float3 along = direction_of(poses, is_parallel, beams, camera, i - camera * beam_count);
        const float facing = -dot(load3(normal, i), along) / sqrtf(dot(along, along));
        const float light = 0.1f + 0.9f * max(facing, 0.0f);
        const float3 own = load3(colors, instance[i]);
        at[0] = (uint8)(255.0f * encoded(own.x * light) + 0.5f);
        at[1] = (uint8)(255.0f * encoded(own.y * light) + 0.5f);
        at[2] = (uint8)(255.0f * encoded(own.z * light) + 0.5f);
    }
}
