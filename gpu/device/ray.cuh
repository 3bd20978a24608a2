// A lane pack of rays. Lanes that are not active take no part; `t_max` shrinks as hits are found.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/lanes.cuh"

struct Rays {
    Real ox, oy, oz;  // origin
    Real dx, dy, dz;  // direction, unit length where a distance is meant
    Real ix, iy, iz;  // 1 / direction, clamped: 0 times infinity never happens in a slab test
    Real t_min, t_max;
    Mask active;
};

// A zero component becomes tiny, with its sign: coordinates up to 1e18 stay finite when they are multiplied by the
// inverse.
__device__ __forceinline__ Real clamped_inverse(Real direction) {
    const Real tiny = splat(LEAST_DIRECTION);
    const Real away = select(direction < splat(0.0f), -tiny, tiny);
    return splat(1.0f) / select(lanes_abs(direction) < tiny, away, direction);
}

__device__ __forceinline__ Rays make_rays(Real ox, Real oy, Real oz, Real dx, Real dy, Real dz, Real t_min, Real t_max,
                                          Mask active) {
    return {ox,    oy,    oz,    dx, dy, dz, clamped_inverse(dx), clamped_inverse(dy), clamped_inverse(dz),
            t_min, t_max, active};
}

// Before a traversal. A ray whose origin or direction is not a number enters every box, empty ones too, where a
// traversal ends: in a pack it would end that of its neighbours, so it is left out. In a checked unit what cannot be
// traced stops the kernel.
__device__ __forceinline__ void admit_rays(Rays& rays) {
#ifdef IS_CHECKED
    const auto is_known = [](Real x, int i) { return lane(x, i) - lane(x, i) == 0.0f; };
    for (unsigned rest = mask_bits(rays.active); rest != 0u; rest &= rest - 1u) {
        const int i = __ffs((int)rest) - 1;
        if (!is_known(rays.ox, i) || !is_known(rays.oy, i) || !is_known(rays.oz, i)) fail_check(Check::ORIGIN, i, 0, 0);
        if (!is_known(rays.dx, i) || !is_known(rays.dy, i) || !is_known(rays.dz, i))
            fail_check(Check::DIRECTION, i, 0, 0);
        if (lane(rays.dx, i) == 0.0f && lane(rays.dy, i) == 0.0f && lane(rays.dz, i) == 0.0f)
            fail_check(Check::NO_DIRECTION, i, 0, 0);
        if (lane(rays.t_min, i) != lane(rays.t_min, i) || lane(rays.t_max, i) != lane(rays.t_max, i))
            fail_check(Check::INTERVAL, i, 0, 0);
    }
#endif
    if constexpr (!IS_SINGLE_RAY) {
        const Real known = rays.ox + rays.oy + rays.oz + rays.dx + rays.dy + rays.dz;
        rays.active = rays.active & (known == known);
    }
}

// An on_primitive (gpu/trace/on_primitive.cuh) derives from it whose rays do not begin where their neighbours do: a
// traversal need not look whether they can go together.
struct ForScatteredRays {};
__device__ constexpr bool is_for_scattered(const ForScatteredRays*) { return true; }
__device__ constexpr bool is_for_scattered(const void*) { return false; }
template <class OnPrimitive>
constexpr bool IS_FOR_SCATTERED = is_for_scattered((const OnPrimitive*)nullptr);
