// A queue of rays that kernels fill, for integrators that trace as a wavefront: eight rows as BufferRays has them, then
// `payload_rows` rows of whatever goes along with a ray (as floats; whole numbers by their bits), each `stride` long.
// The first payload row is the pixel, as a place in ray order.
// from gpu.trace.queue import RAY_ROWS, QueueArrays
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/trace/hit_point.cuh"

constexpr int PIXEL_ROW = RAY_ROWS;

// By value.
struct Queue : QueueArrays {
    __device__ __forceinline__ float* row(int number) const { return rows + (int64)number * stride; }

    // A pack's rays at places first, first + 1 ...; a lane that is not active becomes a place without a ray, which
    // compaction takes out.
    __device__ __forceinline__ void put(int first, const Rays& rays, Int pixel) const {
        store(row(0) + first, rays.ox);
        store(row(1) + first, rays.oy);
        store(row(2) + first, rays.oz);
        store(row(3) + first, rays.dx);
        store(row(4) + first, rays.dy);
        store(row(5) + first, rays.dz);
        store(row(6) + first, rays.t_min);
        store(row(7) + first, select(rays.active, rays.t_max, rays.t_min));
        store((int*)row(PIXEL_ROW) + first, pixel);
    }
    __device__ __forceinline__ Int pixels(int first) const { return load((const int*)row(PIXEL_ROW) + first); }
    __device__ __forceinline__ Real3 vector(int number, int first) const {
        return {load(row(number) + first), load(row(number + 1) + first), load(row(number + 2) + first)};
    }
    __device__ __forceinline__ Real3 direction(int first) const { return vector(3, first); }
    __device__ __forceinline__ Mask in_use(int first) const {
        return splat_int(first) + lane_index() < splat_int(*count);
    }
};
