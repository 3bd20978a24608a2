// Triangles, spheres and regions of space.
#pragma once
#include "gpu/device/mixed.cuh"
#include "gpu/device/sphere_queries.cuh"
#include "gpu/device/triangle_queries.cuh"

__device__ __forceinline__ float3 offset_to(const Mixed::Shape& shape, float3 point) {
    return shape.is_sphere ? offset_to(shape.sphere(), point) : offset_to(shape.triangle(), point);
}

__device__ __forceinline__ bool reaches_into(const Mixed::Shape& shape, const Aabb& box) {
    return shape.is_sphere ? reaches_into(shape.sphere(), box) : reaches_into(shape.triangle(), box);
}

// With both tests worked out beforehand a thread would hold too much.
__device__ __forceinline__ ShapeAmongBoxes<Mixed::Shape> among_boxes(const Mixed::Shape& shape, float3 half) {
    return {shape, half};
}
