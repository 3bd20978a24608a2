// The slab test of a lane pack against one box.
//
// Distances are plane * inverse - origin * inverse: one fused operation a plane. Its rounding moves a plane by up to
// 2^-22 of the origin's coordinate, so near products are rounded towards the ray's start and far ones away from it, and
// the comparison leaves 2^-21 of the distance: a box that a ray touches is never missed (after Ize 2013). Planes are
// chosen by the ray's sign, hence an inverted box is never hit.
//
// A ray that does not move along an axis is traversed as one that moves by 1e-20 of its length (ray.cuh). In the plane
// of a face at 0, where products have no size to be rounded by, that would leave the face behind at once: planes are
// moved by another 1e-13, so that such a ray has 1e7 of its length to do so.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/ray.cuh"

struct Slabs {
    Real near_x, near_y, near_z, far_x, far_y, far_z;  // origin * inverse, rounded outwards
    Mask negative_x, negative_y, negative_z;
    int sign_x, sign_y, sign_z;  // 1 where the pack's rays all go down the axis; only for packs whose active rays agree
};

template <bool MOVES>
__device__ __forceinline__ void round_outwards(Real origin, Real inverse, Real& near, Real& far) {
    const Real product = origin * inverse;
    Real slack = lanes_abs(product) * SLAB_SLACK;
    if constexpr (MOVES) slack = slack + lanes_abs(inverse) * SLAB_MOVE;
    near = product + slack;
    far = product - slack;
}

// `agrees`: all active rays have the same signs, so that a traversal may choose planes once for all. `MOVES`: planes
// are moved by 1e-13, where a layout's own boxes do not end outside of what they hold.
template <bool MOVES = true>
__device__ __forceinline__ Slabs make_slabs(const Rays& rays, bool& agrees) {
    Slabs slabs;
    round_outwards<MOVES>(rays.ox, rays.ix, slabs.near_x, slabs.far_x);
    round_outwards<MOVES>(rays.oy, rays.iy, slabs.near_y, slabs.far_y);
    round_outwards<MOVES>(rays.oz, rays.iz, slabs.near_z, slabs.far_z);
    slabs.negative_x = rays.ix < splat(0.0f);
    slabs.negative_y = rays.iy < splat(0.0f);
    slabs.negative_z = rays.iz < splat(0.0f);
    const unsigned all = mask_bits(rays.active);
    const unsigned x = mask_bits(slabs.negative_x) & all, y = mask_bits(slabs.negative_y) & all,
                   z = mask_bits(slabs.negative_z) & all;
    slabs.sign_x = x != 0u;
    slabs.sign_y = y != 0u;
    slabs.sign_z = z != 0u;
    agrees = (x == 0u || x == all) && (y == 0u || y == all) && (z == 0u || z == all);
    return slabs;
}

// The lanes whose ray passes the box between t_min and t_max, and where each enters it.
__device__ __forceinline__ Mask enter_planes(const Slabs& slabs, const Rays& rays, Real near_x, Real near_y,
                                             Real near_z, Real far_x, Real far_y, Real far_z, Real& entry) {
    entry = max(max(near_x * rays.ix - slabs.near_x, near_y * rays.iy - slabs.near_y),
                max(near_z * rays.iz - slabs.near_z, rays.t_min));
    const Real exit = min(min(far_x * rays.ix - slabs.far_x, far_y * rays.iy - slabs.far_y),
                          min(far_z * rays.iz - slabs.far_z, rays.t_max));
    return rays.active & (entry <= exit * SLAB_GROWTH);
}

// The same with planes chosen lane by lane.
__device__ __forceinline__ Mask enter_box(const Slabs& slabs, const Rays& rays, float3 lower, float3 upper,
                                          Real& entry) {
    const Real near_x = select(slabs.negative_x, splat(upper.x), splat(lower.x)),
               far_x = select(slabs.negative_x, splat(lower.x), splat(upper.x));
    const Real near_y = select(slabs.negative_y, splat(upper.y), splat(lower.y)),
               far_y = select(slabs.negative_y, splat(lower.y), splat(upper.y));
    const Real near_z = select(slabs.negative_z, splat(upper.z), splat(lower.z)),
               far_z = select(slabs.negative_z, splat(lower.z), splat(upper.z));
    return enter_planes(slabs, rays, near_x, near_y, near_z, far_x, far_y, far_z, entry);
}
