// Spheres and regions of space. Here a sphere is a ball: what lies inside of it has no distance to it.
#pragma once
#include "gpu/device/sphere.cuh"

// From `point` to the nearest point of the ball.
__device__ __forceinline__ float3 offset_to(const Spheres::Shape& shape, float3 point) {
    const float3 to_centre = shape.centre - point;
    const float distance = length(to_centre);
    return distance <= shape.radius ? make_float3(0.0f, 0.0f, 0.0f)
                                    : to_centre * ((distance - shape.radius) / distance);
}

// Whether the ball and the box have a point in common.
__device__ __forceinline__ bool reaches_into(const Spheres::Shape& shape, const Aabb& box) {
    return distance2(box, shape.centre) <= shape.radius * shape.radius;
}

// The same asked of many boxes of one size, about their centres: of shapes for which nothing is worked out beforehand.
template <class Shape>
struct ShapeAmongBoxes {
    const Shape& shape;
    float3 half;

    __device__ __forceinline__ bool meet(float3 centre) const {
        return reaches_into(shape, Aabb{centre - half, centre + half});
    }
};
__device__ __forceinline__ ShapeAmongBoxes<Spheres::Shape> among_boxes(const Spheres::Shape& shape, float3 half) {
    return {shape, half};
}
