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
    Real ix, iy, iz, ox, oy, oz;  // inverse directions, and origins times those
    Real slack;                   // an upper bound of what rounding moves a plane by, in scene units
    int signs;                    // bit a: the rays run down axis a

    // When the first side of a plane ends at the latest, and the second one begins at the earliest.
    __device__ __forceinline__ void at(int axis, float plane, Real& early, Real& late) const {
        const Real inverse = axis == 0 ? ix : axis == 1 ? iy : iz, offset = axis == 0 ? ox : axis == 1 ? oy : oz;
        const Real time = splat(plane) * inverse - offset, spare = slack * lanes_abs(inverse);
        early = time - spare;
        late = time + spare;
    }
    __device__ __forceinline__ bool is_down(int axis) const {
        return PACK == 1 ? lane(axis == 0 ? ix : axis == 1 ? iy : iz, 0) < 0.0f : (signs >> axis & 1) != 0;
    }
};

// `entry`, `exit`: the part of each ray that lies in the root's cell; the lanes that have one are returned.
__device__ __forceinline__ Mask enter_root(const float4* box, const Rays& rays, Crossings& crossings, Real& entry, Real& exit) {
    const Aabb root = load_kd_box(box);
    const float3 size = max(max(root.lower, -root.lower), max(root.upper, -root.upper));
    const Real farthest = max(max(lanes_abs(rays.ox), lanes_abs(rays.oy)), lanes_abs(rays.oz));
    crossings.slack = (farthest + splat(max(size.x, max(size.y, size.z)))) * splat(7.2e-7f);
    crossings.ix = rays.ix;
    crossings.iy = rays.iy;
    crossings.iz = rays.iz;
    crossings.ox = rays.ox * rays.ix;
    crossings.oy = rays.oy * rays.iy;
    crossings.oz = rays.oz * rays.iz;
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

// A cell that waits on a stack; one ray's takes 16 bytes.
struct alignas(16) WaitingCell {
    int2 node;
    Real entry, exit;
};
static_assert(PACK > 1 || sizeof(WaitingCell) == 16, "a cell is stored at once");

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

// Hand a leaf's primitives to on_primitive, those that are missed only where steps are asked for (a branch is cheaper than keeping nothing); false when
// no ray goes on.
template <bool COUNTS, class Primitives, class OnPrimitive>
__device__ __forceinline__ bool visit_kd_leaf(const KdArrays& tree, int2 leaf, Mailboxes& mailboxes, const Primitives& primitives, Rays& rays,
                                              OnPrimitive& on_primitive) {
    const int first = leaf.x, last = first + kd_count(leaf);
    for (int i = first; i < last; ++i) {
        const int prim_id = tree.references[i];
        if (!mailboxes.is_first_visit(prim_id)) continue;
        const Intersection found = primitives.intersect(prim_id, rays);
        if (COUNTS || any(found.hit)) on_primitive(rays, found);
    }
    return any(rays.active);
}

// Walks the rays octant by octant: a plane's near side is the same for all rays of one. `walk(crossings)` sees those rays as the only active ones.
template <class Walk> __device__ __forceinline__ void by_octants(Rays& rays, const Walk& walk) {
    if (PACK == 1) {
        walk(0);  // the inverse directions themselves say which side is near
        return;
    }
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
