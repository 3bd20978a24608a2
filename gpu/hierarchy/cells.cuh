// What traversals of cells share (kd-trees, grids, octrees: nodes that divide space, and list a primitive in every cell
// it reaches into): a pack's rays in one octant, the part of a ray in a cell, and leaves whose primitives others list
// too.
//
// A ray passes a plane at plane * inverse - origin * inverse. Rounding moves that by a few 2^-24 of the coordinates'
// size times the inverse, so the side that comes first ends a little later and the other one begins a little earlier:
// whatever touches a plane is found on whichever side it is listed, and a ray that runs in a plane visits both sides.
//
// Unit constant: MAILBOXES, how many primitives a traversal remembers as tested (Amanatides and Woo 1987); a power of
// two, or 0.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/ray.cuh"
#include "gpu/device/traversal_events.cuh"
#include "gpu/hierarchy/growing.cuh"

struct Crossings {
    Real ix, iy, iz, ox, oy, oz;  // inverse directions, and origins times those
    Real slack;  // an upper bound of what rounding moves a plane by, in scene units
    int signs;  // bit a: the rays run down axis a

    // When the first side of a plane ends at the latest, and the second one begins at the earliest.
    __device__ __forceinline__ void at(int axis, float plane, Real& early, Real& late) const {
        const Real inverse = axis == 0 ? ix : axis == 1 ? iy : iz, offset = axis == 0 ? ox : axis == 1 ? oy : oz;
        const Real time = splat(plane) * inverse - offset, spare = slack * lanes_abs(inverse);
        early = time - spare;
        late = time + spare;
    }
    __device__ __forceinline__ bool is_down(int axis) const {
        return IS_SINGLE_RAY ? lane(axis == 0 ? ix : axis == 1 ? iy : iz, 0) < 0.0f : (signs >> axis & 1) != 0;
    }
};

// `entry`, `exit`: the part of each ray that lies in the root's cell; the lanes that have one are returned.
__device__ __forceinline__ Mask enter_root(const float4* box, const Rays& rays, Crossings& crossings, Real& entry,
                                           Real& exit) {
    const Aabb root = load_root_box(box);
    const float3 size = max(max(root.lower, -root.lower), max(root.upper, -root.upper));
    const Real farthest = max(max(lanes_abs(rays.ox), lanes_abs(rays.oy)), lanes_abs(rays.oz));
    crossings.slack = (farthest + splat(max(size.x, max(size.y, size.z)))) * splat(CROSSING_SLACK);
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

// A cell that waited: `lanes` go on in it, for the other rays it is too far.
template <class OnNode>
__device__ __forceinline__ void tell_popped_cell(OnNode& on_node, int node_id, Real entry, Mask lanes,
                                                 const Rays& rays) {
    tell(on_node, Event::CHILD_POPPED, node_id, entry, lanes);
    if (!any(lanes)) tell(on_node, Event::CHILD_DROPPED, node_id, entry, rays.active);
}

// Primitives that this traversal has tested; where the rays of a pack are tested all together one list is enough.
struct Mailboxes {
    int prim_ids[MAILBOXES > 0 ? MAILBOXES : 1];

    __device__ __forceinline__ void clear() {
        for (int i = 0; i < MAILBOXES; ++i) prim_ids[i] = -1;
    }
    __device__ __forceinline__ bool is_first_visit(int prim_id, Mask) {
        if (MAILBOXES == 0) return true;
        int& slot = prim_ids[prim_id & (MAILBOXES - 1)];
        if (slot == prim_id) return false;
        slot = prim_id;
        return true;
    }
};

// The same where the rays of a pack are in cells of their own: which of them have been tested is kept, too.
struct LaneMailboxes {
    Mailboxes boxes;
    unsigned tested[MAILBOXES > 0 && !IS_SINGLE_RAY ? MAILBOXES : 1];

    __device__ __forceinline__ void clear() { boxes.clear(); }
    __device__ __forceinline__ bool is_first_visit(int prim_id, Mask lanes) {
        const bool is_new = boxes.is_first_visit(prim_id, lanes);
        if (MAILBOXES == 0 || IS_SINGLE_RAY) return is_new;
        unsigned& before = tested[prim_id & (MAILBOXES - 1)];
        const unsigned asking = mask_bits(lanes);
        if (is_new) before = 0;
        if ((asking & ~before) == 0) return false;
        before |= asking;
        return true;
    }
};

// The same where each ray of a pack goes as it would alone (HearsLanesAlone): a list each.
struct OwnMailboxes {
    Int prim_ids[MAILBOXES > 0 ? MAILBOXES : 1];

    __device__ __forceinline__ void clear() {
        for (int i = 0; i < MAILBOXES; ++i) prim_ids[i] = splat_int(-1);
    }
    // Those of `lanes` that have not tested it.
    __device__ __forceinline__ Mask first_visits(int prim_id, Mask lanes) {
        if (MAILBOXES == 0) return lanes;
        Int& slot = prim_ids[prim_id & (MAILBOXES - 1)];
        const Mask found = lanes & !(slot == splat_int(prim_id));
        slot = select(found, splat_int(prim_id), slot);
        return found;
    }
};
template <bool GO_ALONE>
struct MailboxesOf {
    using Type = Mailboxes;
};
template <>
struct MailboxesOf<true> {
    using Type = OwnMailboxes;
};

// Of a tree whose leaves are short, where nothing is passed over; else runs.cuh.
struct NoRuns {
    __device__ __forceinline__ bool may_skip(int) const { return false; }
    __device__ __forceinline__ bool may_share(int) const { return false; }
    template <class OnNode>
    __device__ __forceinline__ int skip(int i, int, const Rays&, OnNode&) const {
        return i;
    }
};

// Hand a primitive to on_primitive, one that is missed only where steps are asked for (a branch is cheaper than keeping
// nothing); false when no ray goes on.
template <class Boxes, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_reference(int prim_id, Boxes& mailboxes, const Primitives& primitives, Rays& rays,
                                                OnPrimitive& on_primitive, OnNode& on_node) {
    if (!mailboxes.is_first_visit(prim_id, rays.active)) return true;
    const Intersection found = primitives.intersect(prim_id, rays);
    tell_primitive(on_node, rays, found);
    if (OnNode::IS_ASKED || any(found.hit)) on_primitive(rays, found);
    return any(rays.active);
}

// What is left of a leaf's references, for traversals that take one a step.
struct OpenList {
    int at, last;
    bool may_skip, is_shared;  // searched by runs; and where a warp shares lists, tested by all of its lanes

    template <class AnyRuns>
    __device__ __forceinline__ void open(int first, int count, const AnyRuns& runs) {
        at = first;
        last = first + count;
        may_skip = runs.may_skip(count);
        is_shared = runs.may_share(count);
    }
    __device__ __forceinline__ bool is_open() const { return at < last; }
};

// Hand the next of an open list's primitives to on_primitive, where its runs leave one; false when no ray goes on.
template <class AnyRuns, class Boxes, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_next(OpenList& list, Pointer<const int> references, const AnyRuns& runs,
                                           Boxes& mailboxes, const Primitives& primitives, Rays& rays,
                                           OnPrimitive& on_primitive, OnNode& on_node) {
    if (list.may_skip && (list.at = runs.skip(list.at, list.last, rays, on_node)) >= list.last) return true;
    return visit_reference(references[list.at++], mailboxes, primitives, rays, on_primitive, on_node);
}

// Hand the primitives of a leaf, `references` from `first` on, to on_primitive; false when no ray goes on.
template <class AnyRuns, class Boxes, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_references(Pointer<const int> references, const AnyRuns& runs, int first,
                                                 int count, Boxes& mailboxes, const Primitives& primitives, Rays& rays,
                                                 OnPrimitive& on_primitive, OnNode& on_node) {
    const int last = first + count;
    const bool may_skip = runs.may_skip(count);
    for (int i = first; i < last; ++i) {
        if (may_skip && (i = runs.skip(i, last, rays, on_node)) >= last) break;
        visit_reference(references[i], mailboxes, primitives, rays, on_primitive, on_node);
    }
    return any(rays.active);
}

// Hand the primitives of a leaf to those of `lanes` that have not tested them, as each ray would do alone.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void visit_references_alone(Pointer<const int> references, int first, int count, Mask lanes,
                                                       OwnMailboxes& mailboxes, const Primitives& primitives,
                                                       Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    for (int i = first; i < first + count; ++i) {
        const int prim_id = references[i];
        const Mask before = rays.active, testing = mailboxes.first_visits(prim_id, lanes & before);
        if (!any(testing)) continue;
        rays.active = testing;
        const Intersection found = primitives.intersect(prim_id, rays);
        tell_primitive(on_node, rays, found);
        on_primitive(rays, found);
        rays.active = rays.active | (before & !testing);
    }
}

// Traverses for the rays octant by octant: a plane's near side is the same for all rays of one.
// `traverse_octant(crossings)` sees those rays as the only active ones.
template <class Traverse>
__device__ __forceinline__ void by_octants(Rays& rays, const Traverse& traverse_octant) {
    if (IS_SINGLE_RAY) {
        traverse_octant(0);  // the inverse directions themselves say which side is near
        return;
    }
    const Real zero = splat(0.0f);
    const unsigned down_x = mask_bits(rays.ix < zero), down_y = mask_bits(rays.iy < zero),
                   down_z = mask_bits(rays.iz < zero);
    unsigned remaining = mask_bits(rays.active), still_active = 0;
    while (remaining) {
        const int i = __ffs((int)remaining) - 1;
        const unsigned x = down_x >> i & 1u, y = down_y >> i & 1u, z = down_z >> i & 1u;
        const unsigned alike = (x ? down_x : ~down_x) & (y ? down_y : ~down_y) & (z ? down_z : ~down_z) & remaining;
        remaining &= ~alike;
        rays.active = mask_from_bits(alike);
        traverse_octant((int)(x | y << 1 | z << 2));
        still_active |= mask_bits(rays.active);
    }
    rays.active = mask_from_bits(still_active);
}
