// The slab test of a lane pack against a box that is given as its centre and half of its extent (bvh2.cuh). The ray
// enters the slab of an axis half before it passes the centre and leaves it half behind, whichever way it goes: no
// plane is chosen by a sign, and no two products are compared.
//
// Why no box that a ray touches is missed: docs/decisions/centre-and-half-extent.md. What is not a number here
// (infinity less infinity) leaves its axis out, or all of them, as the last minimum and maximum below have a number as
// their second argument.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/ray.cuh"

// an origin further away, in lengths of the ray, leaves its axis out instead of overflowing
constexpr float CENTRED_FAR = 1e38f;

struct CentredSlabs {
    Real x, y, z;  // origin * inverse
    Real size_x, size_y, size_z;  // of the inverse
    Real slack_x, slack_y, slack_z;  // of x, y, z
};

__device__ __forceinline__ Real slack_of(Real product) {
    const Real size = lanes_abs(product);
    return select(size <= splat(CENTRED_FAR), size * CENTRED_SLACK + SLAB_LEAST_SLACK,
                  splat(__int_as_float(0x7f800000)));
}

__device__ __forceinline__ CentredSlabs make_centred_slabs(const Rays& rays) {
    CentredSlabs slabs;
    slabs.x = rays.ox * rays.ix;
    slabs.y = rays.oy * rays.iy;
    slabs.z = rays.oz * rays.iz;
    slabs.size_x = lanes_abs(rays.ix);
    slabs.size_y = lanes_abs(rays.iy);
    slabs.size_z = lanes_abs(rays.iz);
    slabs.slack_x = slack_of(slabs.x);
    slabs.slack_y = slack_of(slabs.y);
    slabs.slack_z = slack_of(slabs.z);
    return slabs;
}

// The last of three entries and the first of three exits. One ray compares their bits as integers, of which a
// multiprocessor takes three at once: numbers that are not negative have the integers' order. Of negative ones alone
// `last_of` is the first, and of any negative one `first_of` is the last: a box is entered earlier and left later then,
// which is behind where the ray begins.
__device__ __forceinline__ Real last_of(Real x, Real y, Real z) {
    if constexpr (!IS_SINGLE_RAY) return max(max(x, y), z);
    const int bits = max(max(__float_as_int(lane(x, 0)), __float_as_int(lane(y, 0))), __float_as_int(lane(z, 0)));
    return splat(__int_as_float(bits));
}
__device__ __forceinline__ Real first_of(Real x, Real y, Real z) {
    if constexpr (!IS_SINGLE_RAY) return min(min(x, y), z);
    const int bits = min(min(__float_as_int(lane(x, 0)), __float_as_int(lane(y, 0))), __float_as_int(lane(z, 0)));
    return splat(__int_as_float(bits));
}

// The active lanes whose ray passes the box between t_min and t_max, and where each enters it.
__device__ __forceinline__ Mask enter_centred_box(const CentredSlabs& slabs, const Rays& rays, float3 centre,
                                                  float3 half, Real& entry) {
    const Real x = splat(centre.x) * rays.ix - slabs.x, half_x = splat(half.x) * slabs.size_x + slabs.slack_x;
    const Real y = splat(centre.y) * rays.iy - slabs.y, half_y = splat(half.y) * slabs.size_y + slabs.slack_y;
    const Real z = splat(centre.z) * rays.iz - slabs.z, half_z = splat(half.z) * slabs.size_z + slabs.slack_z;
    entry = max(last_of(x - half_x, y - half_y, z - half_z), rays.t_min);
    const Mask enters = entry <= min(first_of(x + half_x, y + half_y, z + half_z), rays.t_max);
    return IS_SINGLE_RAY ? enters : rays.active & enters;
}
