// A lane pack of rays. Lanes that are not active take no part; `t_max` shrinks as hits are found.
#pragma once
#include "gpu/device/lanes.cuh"

struct Rays {
    Real ox, oy, oz;     // origin
    Real dx, dy, dz;     // direction, unit length where a distance is meant
    Real ix, iy, iz;     // 1 / direction, clamped: 0 times infinity never happens in a slab test
    Real t_min, t_max;
    Mask active;
};

// A zero component becomes tiny, with its sign: coordinates up to 1e18 stay finite when they are multiplied by the inverse.
__device__ __forceinline__ Real clamped_inverse(Real direction) {
    const Real tiny = splat(1e-20f);
    const Real away = select(direction < splat(0.0f), -tiny, tiny);
    return splat(1.0f) / select(lanes_abs(direction) < tiny, away, direction);
}

__device__ __forceinline__ Rays make_rays(Real ox, Real oy, Real oz, Real dx, Real dy, Real dz, Real t_min, Real t_max, Mask active) {
    return {ox, oy, oz, dx, dy, dz, clamped_inverse(dx), clamped_inverse(dy), clamped_inverse(dz), t_min, t_max, active};
}
