// What goes along with a ray of recursive ray tracing through queues, and how what is seen comes to its pixel.
#pragma once
#include "gpu/shade/whitted_step.cuh"
#include "gpu/trace/queue.cuh"

// Behind the pixel's place: three rows of weight, or of expected light; the media; the pixel's number, which its samples go by.
constexpr int WEIGHT_ROW = PIXEL_ROW + 1, MEDIA_ROW = PIXEL_ROW + 4, NUMBER_ROW = PIXEL_ROW + 5;

__device__ __forceinline__ void put_ray(const Queue& queue, int first, const Rays& rays, Int place, Real3 weight, Int media, Int number) {
    queue.put(first, rays, place);
    store(queue.row(WEIGHT_ROW) + first, weight.x);
    store(queue.row(WEIGHT_ROW + 1) + first, weight.y);
    store(queue.row(WEIGHT_ROW + 2) + first, weight.z);
    store((int*)queue.row(MEDIA_ROW) + first, media);
    store((int*)queue.row(NUMBER_ROW) + first, number);
}
__device__ __forceinline__ Rays rays_of(const WaitingRay& ray) {
    const Real3 &from = ray.from, &to = ray.direction;
    return make_rays(from.x, from.y, from.z, to.x, to.y, to.z, splat(0.0f), splat(FLOAT_MAX), ray.active);
}

// A pixel has one ray in a queue at most: nobody else adds to its place.
__device__ __forceinline__ void add_color(float* colors, int plane, Int pixel, Mask active, Real3 color) {
    const unsigned lanes = mask_bits(active);
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (!(lanes >> i & 1u)) continue;
        float* at = colors + lane(pixel, i);
        at[0] += lane(color.x, i);
        at[(int64)plane] += lane(color.y, i);
        at[2 * (int64)plane] += lane(color.z, i);
    }
}
