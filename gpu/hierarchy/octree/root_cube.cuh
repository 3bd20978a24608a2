// Which of the finest cells of a root cube holds a place.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/morton.cuh"

// Coordinates are halved, so that no finite one overflows, and a cube of denormal size is magnified (morton_order.cu).
struct RootCube {
    float3 half_lower;
    float half_side;

    // Cells are half open: a place on a border belongs to the upper one, the last cell of an axis holds its end. It
    // divides, since a product with the reciprocal would put places on borders into the lower cell. Places outside
    // belong to the outermost cells.
    __device__ __forceinline__ uint64 code(float3 place, int bits) const {
        const float magnified = half_side < TINY_SCENE ? TINY_SCENE_MAGNIFIED : 1.0f, side = half_side * magnified;
        const float3 unit = side > 0.0f ? (place * 0.5f - half_lower) * magnified / side
                                        : make_float3(0.0f, 0.0f, 0.0f);
        return spread_bits_21(grid_cell(unit.x, bits)) << 2 | spread_bits_21(grid_cell(unit.y, bits)) << 1 |
               spread_bits_21(grid_cell(unit.z, bits));
    }

    __device__ __forceinline__ bool holds(float3 place) const {
        const float3 offset = place * 0.5f - half_lower;
        return offset.x >= 0.0f && offset.y >= 0.0f && offset.z >= 0.0f && offset.x <= half_side &&
               offset.y <= half_side && offset.z <= half_side;
    }
};

__device__ __forceinline__ RootCube root_cube(float4 root) {
    return {make_float3(root.x, root.y, root.z) * 0.5f, root.w * 0.5f};
}
__device__ __forceinline__ RootCube root_cube(float3 lower, float3 upper) {
    const float3 half_lower = lower * 0.5f, size = upper * 0.5f - half_lower;
    const float half_side = max(size.x, max(size.y, size.z));
    return half_side >= 0.0f ? RootCube{half_lower, half_side} : RootCube{make_float3(0.0f, 0.0f, 0.0f), 0.0f};
}
__device__ __forceinline__ float4 corner_and_side(RootCube cube) {
    const float3 lower = 2.0f * cube.half_lower;
    return make_float4(lower.x, lower.y, lower.z, min(2.0f * cube.half_side, FLOAT_MAX));
}
