// What points send, of what they have gathered.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

// `radiance` = emission + reflectance * (gathered + direct), and `sent` that times the area. `direct` is irradiance
// over pi from what is no point, null for none.
extern "C" __global__ void send_light(const float4* places, const float4* reflectance, const float4* emission,
                                      const float4* gathered, const float4* direct, int count, float4* radiance,
                                      float4* sent) {
    for (int i : grid_stride(count)) {
        float3 arrived = make_float3(0.0f, 0.0f, 0.0f);
        arrived += make_float3(gathered[i].x, gathered[i].y, gathered[i].z);
        if (direct != nullptr) arrived += make_float3(direct[i].x, direct[i].y, direct[i].z);
        const float4 share = reflectance[i], own = emission[i];
        const float area = places[i].w;
        const float3 light = make_float3(own.x, own.y, own.z) + make_float3(share.x, share.y, share.z) * arrived;
        radiance[i] = make_float4(light.x, light.y, light.z, 0.0f);
        sent[i] = make_float4(light.x * area, light.y * area, light.z * area, area);
    }
}
