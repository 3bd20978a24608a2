// Queues of paths and of rays to lights, and adding what a wavefront finds to its pixels.
#pragma once
#include "gpu/shade/path_step.cuh"
#include "gpu/trace/queue.cuh"

// Rows behind the pixel: of paths what PathState is, of rays to lights what they bring.
constexpr int STATE_ROW = PIXEL_ROW + 1, LIGHT_ROW = PIXEL_ROW + 1;

__device__ __forceinline__ void add_lanes(float* sums, int64 plane, Int rays, unsigned lanes, Real3 light) {
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (!(lanes >> i & 1u)) continue;
        float* at = sums + lane(rays, i);
        at[0] += lane(light.x, i);
        at[plane] += lane(light.y, i);
        at[2 * plane] += lane(light.z, i);
    }
}
