// Bodies between two steps of a simulation, as animate_spheres and apply_attributes read them.
// from gpu.animate.simulation import LIVE
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

__device__ __forceinline__ float3 place_between(float4 before, float4 after, float alpha) {
    return lerp(make_float3(before.x, before.y, before.z), make_float3(after.x, after.y, after.z), alpha);
}

extern "C" __global__ void show_bodies(const float4* before, const float4* bodies, int n, float alpha, float* centres) {
    for (int i : grid_stride(n)) store3(centres, i, place_between(before[i], bodies[i], alpha));
}

// Numbers of an attribute of this instant. Velocities are those of the half of the step, the places' difference.
extern "C" __global__ void show_column(const float4* before, const float4* bodies, const float4* velocities, int n,
                                       float alpha, int what, float* values) {
    for (int i : grid_stride(n)) {
        const float3 place = place_between(before[i], bodies[i], alpha);
        const float4 v = velocities[i];
        if (what == LIVE::position) store3(values, i, place);
        else if (what == LIVE::speed) values[i] = length(make_float3(v.x, v.y, v.z));
        else values[i] = along(place, what - LIVE::position_x);
    }
}
