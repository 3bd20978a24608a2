// What the walks of a kd-tree share: a pack's rays in one octant, the part of a ray in a cell, and leaves.
//
// A ray passes a plane at plane * inverse - origin * inverse. Rounding moves that by a few 2^-24 of the coordinates' size times the inverse, so the
// side that comes first ends a little later and the other one begins a little earlier: whatever touches a plane is found on whichever side it is
// listed, and a ray that runs in a plane walks both sides.
//
// Unit constant: MAILBOXES, how many primitives a walk remembers as tested (Amanatides and Woo 1987); a power of two, or 0.
#pragma once
#include "gpu/device/ray.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

struct KdArrays {
    const int2* nodes;
    const int* references;
    const float4* box;
};

struct Crossings {
    Real ix, iy, iz, early_x, early_y, early_z, late_x, late_y, late_z;
    int signs;  // bit a: the rays run down axis a

    // When the first side of a plane ends at the latest, and the second one begins at the earliest.
    __device__ __forceinline__ void at(int axis, float plane, Real& early, Real& late) const {
        const Real inverse = axis == 0 ? ix : axis == 1 ? iy : iz;
        const Real product = splat(plane) * inverse;
        early = product - (axis == 0 ? early_x : axis == 1 ? early_y : early_z);
        late = product - (axis == 0 ? late_x : axis == 1 ? late_y : late_z);
    }
    __device__ __forceinline__ bool is_down(int axis) const { return (signs >> axis & 1) != 0; }
};

__device__ __forceinline__ void offset_of(Real origin, Real inverse, float size, Real& early, Real& late) {
    const Real product = origin * inverse, slack = (lanes_abs(origin) + splat(size)) * lanes_abs(inverse) * splat(7.2e-7f);
    early = product + slack;
    late = product - slack;
}

// `entry`, `exit`: the part of each ray that lies in the root's cell; the lanes that have one are returned.
__device__ __forceinline__ Mask enter_root(const float4* box, const Rays& rays, Crossings& crossings, Real& entry, Real& exit) {
    const Aabb root = load_kd_box(box);
    const float3 size = max(max(root.lower, -root.lower), max(root.upper, -root.upper));
    crossings.ix = rays.ix;
    crossings.iy = rays.iy;
    crossings.iz = rays.iz;
    offset_of(rays.ox, rays.ix, size.x, crossings.early_x, crossings.late_x);
    offset_of(rays.oy, rays.iy, size.y, crossings.early_y, crossings.late_y);
    offset_of(rays.oz, rays.iz, size.z, crossings.early_z, crossings.late_z);
    entry = rays.t_min;
    exit = rays.t_max;
    for (int axis = 0; axis < 3; ++axis) {
        const float lower = along(root.lower, axis), upper = along(root.upper, axis);
        Real early, late, unused;
        crossings.at(axis, crossings.is_down(axis) ? upper : lower, early, unused);
        crossings.at(axis, crossings.is_down(axis) ? lower : upper, unused, late);
        entry = max(entry, early);
        exit = min(exit, late);
    }
    return rays.active & (entry <= exit);
}

// Primitives that this walk has tested; the rays of a pack are tested all together, so that one list is enough.
struct Mailboxes {
    int prim_ids[MAILBOXES > 0 ? MAILBOXES : 1];

    __device__ __forceinline__ void clear() {
        for (int i = 0; i < MAILBOXES; ++i) prim_ids[i] = -1;
    }
    __device__ __forceinline__ bool is_first_visit(int prim_id) {
        if (MAILBOXES == 0) return true;
        int& slot = prim_ids[prim_id & (MAILBOXES - 1)];
        if (slot == prim_id) return false;
        slot = prim_id;
        return true;
    }
};

// Hand a leaf's primitives to on_primitive; false when no ray goes on.
template <class Primitives, class OnPrimitive>
__device__ __forceinline__ bool visit_kd_leaf(const KdArrays& tree, int2 leaf, Mailboxes& mailboxes, const Primitives& primitives, Rays& rays,
                                              OnPrimitive& on_primitive) {
    const int first = leaf.x, last = first + kd_count(leaf);
    for (int i = first; i < last; ++i) {
        const int prim_id = tree.references[i];
        if (!mailboxes.is_first_visit(prim_id)) continue;
        const Intersection found = primitives.intersect(prim_id, rays);
        if (PACK == 1 || any(found.hit)) on_primitive(rays, found);
    }
    return any(rays.active);
}

// Walks the rays octant by octant: a plane's near side is the same for all rays of one. `walk(crossings)` sees those rays as the only active ones.
template <class Walk> __device__ __forceinline__ void by_octants(Rays& rays, const Walk& walk) {
    const Real zero = splat(0.0f);
    const unsigned down_x = mask_bits(rays.ix < zero), down_y = mask_bits(rays.iy < zero), down_z = mask_bits(rays.iz < zero);
    unsigned remaining = mask_bits(rays.active), still_active = 0;
    while (remaining) {
        const int i = __ffs((int)remaining) - 1;
        const unsigned x = down_x >> i & 1u, y = down_y >> i & 1u, z = down_z >> i & 1u;
        const unsigned alike = (x ? down_x : ~down_x) & (y ? down_y : ~down_y) & (z ? down_z : ~down_z) & remaining;
        remaining &= ~alike;
        rays.active = mask_from_bits(alike);
        walk((int)(x | y << 1 | z << 2));
        still_active |= mask_bits(rays.active);
    }
    rays.active = mask_from_bits(still_active);
}
