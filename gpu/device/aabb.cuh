// Axis-aligned bounding boxes. An inverted box is empty: it means an inactive primitive, and merging it changes
// nothing.
#pragma once
#include "gpu/device/vec.cuh"

struct Aabb {
    float3 lower, upper;
};

__device__ __forceinline__ Aabb empty_aabb() {
    return {make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX), make_float3(-FLOAT_MAX, -FLOAT_MAX, -FLOAT_MAX)};
}
__device__ __forceinline__ Aabb merge(const Aabb& a, const Aabb& b) {
    return {min(a.lower, b.lower), max(a.upper, b.upper)};
}
__device__ __forceinline__ Aabb grow(const Aabb& box, float3 point) {
    return {min(box.lower, point), max(box.upper, point)};
}
__device__ __forceinline__ float3 centre(const Aabb& box) { return box.lower * 0.5f + box.upper * 0.5f; }
__device__ __forceinline__ bool is_empty(const Aabb& box) {
    return !(box.lower.x <= box.upper.x && box.lower.y <= box.upper.y && box.lower.z <= box.upper.z);
}
// Whether two boxes have a point in common, which may be on both their faces.
__device__ __forceinline__ bool overlap(const Aabb& a, const Aabb& b) {
    return a.lower.x <= b.upper.x && a.lower.y <= b.upper.y && a.lower.z <= b.upper.z && b.lower.x <= a.upper.x &&
           b.lower.y <= a.upper.y && b.lower.z <= a.upper.z;
}
// The square of how far a point is from a box; 0 inside. Infinite of an empty box.
__device__ __forceinline__ float distance2(const Aabb& box, float3 point) {
    const float3 away = max(max(box.lower - point, point - box.upper), make_float3(0.0f, 0.0f, 0.0f));
    return dot(away, away);
}

// Half the surface area; 0 for an empty box.
__device__ __forceinline__ float half_area(const Aabb& box) {
    if (is_empty(box)) return 0.0f;
    const float3 size = box.upper - box.lower;
    return size.x * size.y + size.y * size.z + size.z * size.x;
}
// The same in double precision, for figures: in float the areas of boxes of 1e20 and more are infinite, those of 1e-23
// and less 0.
__device__ __forceinline__ double wide_half_area(const Aabb& box) {
    if (is_empty(box)) return 0.0;
    const double x = (double)box.upper.x - box.lower.x, y = (double)box.upper.y - box.lower.y,
                 z = (double)box.upper.z - box.lower.z;
    return x * y + y * z + z * x;
}
