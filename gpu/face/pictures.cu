// What the rays of cameras hit -> pictures: a colour by the light of a lamp at the camera, and the places of instances.
#include "gpu/device/loops.cuh"
#include "gpu/device/transform.cuh"
#include "gpu/device/types.cuh"

__device__ __forceinline__ float encoded(float linear) {
    const float x = min(max(linear, 0.0f), 1.0f);
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1.0f / 2.4f) - 0.055f;
}

// `poses` as sensors have them, `beams` to the plane at distance 1 of all cameras. `colors` are linear, three an
// instance. `background` has the three bytes of a ray that hits nothing.
extern "C" __global__ void shade_pictures(const int* instance, const float* normal, const float* poses,
                                          const float* beams, int beam_count, const float* colors, int background_red,
                                          int background_green, int background_blue, int n, uint8* color) {
    for (int i : grid_stride(n)) {
        uint8* const at = color + 3 * (int64)i;
        if (instance[i] < 0) {
            at[0] = (uint8)background_red, at[1] = (uint8)background_green, at[2] = (uint8)background_blue;
            continue;
        }
        const int camera = i / beam_count;
        const float3 along = transform_vector(load_affine(poses, camera), load3(beams, i - camera * beam_count));
        const float facing = -dot(load3(normal, i), along) / sqrtf(dot(along, along));
        const float light = 0.1f + 0.9f * max(facing, 0.0f);
        const float3 own = load3(colors, instance[i]);
        at[0] = (uint8)(255.0f * encoded(own.x * light) + 0.5f);
        at[1] = (uint8)(255.0f * encoded(own.y * light) + 0.5f);
        at[2] = (uint8)(255.0f * encoded(own.z * light) + 0.5f);
    }
}
