// The part of a triangle or a sphere inside a box, and boxes of neighbours.
#pragma once
#include "gpu/device/mixed.cuh"
#include "gpu/device/sphere_clip.cuh"
#include "gpu/device/triangle_clip.cuh"

__device__ __forceinline__ bool bound_inside(const Mixed::Shape& shape, Aabb& box) {
    return shape.is_sphere ? bound_inside(shape.sphere(), box) : bound_inside(shape.triangle(), box);
}

__device__ __forceinline__ bool may_meet(const Mixed::Shape& shape, const Aabb& box) {
    return shape.is_sphere ? may_meet(shape.sphere(), box) : may_meet(shape.triangle(), box);
}

// The triangles among them are read together.
template <int THREADS, bool WITH_VERTICES>
__device__ __forceinline__ Aabb staged_box(const Mixed& primitives, int first) {
    const int prim_id = first + thread_index();
    const Aabb box = staged_box<THREADS, WITH_VERTICES>(primitives.triangles, first);
    if (!primitives.is_sphere(prim_id)) return box;
    return prim_id < primitives.count ? primitives.aabb(prim_id) : empty_aabb();
}
