// Queues of recursive ray tracing as a wavefront: what goes along with a ray, and how what it sees comes to its pixel.
//
// A queue holds all rays of a depth, those of a pixel side by side, in the order in which their parents lay, what is
// refracted before what is mirrored. Each ray adds up what it sees at its own place of `seen` (three rows as long as
// the queue); then the first of a pixel adds its neighbours' to the pixel, so that nobody shares a sum with another.
#pragma once
#include "gpu/shade/whitted_step.cuh"
#include "gpu/trace/queue.cuh"

// Behind the pixel's place: three rows of weight, or of expected light; the media; the pixel's number, which its
// samples go by.
constexpr int WEIGHT_ROW = PIXEL_ROW + 1, MEDIA_ROW = PIXEL_ROW + 4, NUMBER_ROW = PIXEL_ROW + 5;

__device__ __forceinline__ void put_weighed(const Queue& queue, int first, const Rays& rays, Int place, Real3 weight) {
    queue.put(first, rays, place);
    store(queue.row(WEIGHT_ROW) + first, weight.x);
    store(queue.row(WEIGHT_ROW + 1) + first, weight.y);
    store(queue.row(WEIGHT_ROW + 2) + first, weight.z);
}
__device__ __forceinline__ void put_ray(const Queue& queue, int first, const Rays& rays, Int place, Real3 weight,
                                        Int media, Int number) {
    put_weighed(queue, first, rays, place, weight);
    store((int*)queue.row(MEDIA_ROW) + first, media);
    store((int*)queue.row(NUMBER_ROW) + first, number);
}
__device__ __forceinline__ Rays rays_of(const WaitingRay& ray) {
    const Real3 &from = ray.from, &to = ray.direction;
    return make_rays(from.x, from.y, from.z, to.x, to.y, to.z, splat(0.0f), splat(FLOAT_MAX), ray.active);
}

// How many packs hold rays.
__device__ __forceinline__ int packs_in_use(const Queue& queue, int pack_count) {
    return min(pack_count, (*queue.count + PACK - 1) / PACK);
}

__device__ __forceinline__ Real3 load_seen(const float* seen, int capacity, int first) {
    return {load(seen + first), load(seen + (int64)capacity + first), load(seen + 2 * (int64)capacity + first)};
}
__device__ __forceinline__ void store_seen(float* seen, int capacity, int first, Real3 color) {
    store(seen + first, color.x);
    store(seen + (int64)capacity + first, color.y);
    store(seen + 2 * (int64)capacity + first, color.z);
}

__device__ __forceinline__ bool is_first_of_pixel(const int* pixels, int place) {
    return place == 0 || pixels[place - 1] != pixels[place];
}
// What sums begin with: the first ray of a pixel has what its pixel has by now, so that sums of pixels with a ray a
// depth are made in the order of their terms, as whitted.cu makes them.
__device__ __forceinline__ Real3 seen_before(const Queue& queue, int first, const float* colors, int plane) {
    const int* pixels = (const int*)queue.row(PIXEL_ROW);
    Real3 color = splat3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        const int place = first + i;
        if (place >= *queue.count || !is_first_of_pixel(pixels, place)) continue;
        const float* at = colors + pixels[place];
        set_lane(color.x, i, at[0]);
        set_lane(color.y, i, at[(int64)plane]);
        set_lane(color.z, i, at[2 * (int64)plane]);
    }
    return color;
}
