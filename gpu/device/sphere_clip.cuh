// The part of a sphere inside a box, and boxes of neighbours: what builders that cut primitives ask of a kind.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/sphere.cuh"

// Bounds of the part of a sphere inside a box, which is what the box becomes; false where no part is, and the box
// stays.
__device__ __forceinline__ bool bound_inside(const Spheres::Shape& sphere, Aabb& box) {
    const float3 away = max(max(box.lower - sphere.centre, sphere.centre - box.upper), make_float3(0.0f, 0.0f, 0.0f));
    if (dot(away, away) > sphere.radius * sphere.radius * SPHERE_GROWTH) return false;
    Aabb inside = box;
    for (int axis = 0; axis < 3; ++axis) {
        // of the radius' square, where the box is farther off along the other axes
        float left = sphere.radius * sphere.radius;
        for (int other = 0; other < 3; ++other) {
            if (other != axis) left -= along(away, other) * along(away, other);
        }
        const float centre = along(sphere.centre, axis), reach = sqrtf(max(left, 0.0f));
        const float slack = (max(centre, -centre) + sphere.radius) * CUT_SLACK;
        set_along(inside.lower, axis, max(along(box.lower, axis), centre - reach - slack));
        set_along(inside.upper, axis, min(along(box.upper, axis), centre + reach + slack));
    }
    if (is_finite(inside.lower) && is_finite(inside.upper) && !is_empty(inside)) box = inside;
    return true;
}

// False only where a sphere has no point in a box.
__device__ __forceinline__ bool may_meet(const Spheres::Shape& sphere, const Aabb& box) {
    return distance2(box, sphere.centre) <= sphere.radius * sphere.radius * SPHERE_GROWTH;
}

// A thread's box: spheres have no numbers of vertices to read together.
template <int THREADS, bool WITH_VERTICES>
__device__ __forceinline__ Aabb staged_box(const Spheres& spheres, int first) {
    return first + thread_index() < spheres.count ? spheres.aabb(first + thread_index()) : empty_aabb();
}
