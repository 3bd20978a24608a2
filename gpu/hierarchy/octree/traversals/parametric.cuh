// Traverses an octree by where a ray passes the middle planes of a cell: from child to child, from the side where the
// ray comes from, and an end at the leaf in which the hit lies (Revelles, Urena and Lastra 2000).
//
// The distances at which a ray passes the three planes of a cell say which of its eight children it meets, and between
// which of those six distances. A child is one that lies behind along some axes and before along the others; counted
// so, children in the order of their numbers never go back along a ray. Where the paper steps from a child to its
// neighbour, here all that meet the ray are taken in that order, so that a ray in a plane, or one that rounding moves
// to either side of it, visits both sides. A pack with mixed signs is traversed octant by octant, idle lanes are legal.
//
// What waits are the children of the nodes above that have not been looked at: a bit each.
//
// Unit constants: MAILBOXES (cells.cuh), RUN_BITS, RUN_LEVELS, RUN_LIST (runs.cuh).
// from gpu.hierarchy.octree.octree import OctreeArrays
#pragma once
#include "gpu/hierarchy/cells.cuh"
#include "gpu/hierarchy/octree/nodes.cuh"
#include "gpu/hierarchy/runs.cuh"
#include "gpu/hierarchy/shared_lists.cuh"

struct Parametric {
    OctreeArrays arrays;
};

// A node some of whose children wait. `masks`: those that there are, those that wait in the order of a ray << 8, and
// the node's level << 16. One ray's takes 16 bytes.
struct alignas(16) OpenOctreeNode {
    int first_child;
    unsigned masks;
    Real entry, exit;

    __device__ __forceinline__ unsigned waiting() const { return masks >> 8 & 255u; }
    __device__ __forceinline__ int take_next() {
        const int child = __ffs((int)waiting()) - 1;
        masks ^= 256u << child;
        return child;
    }
    __device__ __forceinline__ int level() const { return (int)(masks >> 16); }
};
static_assert(!IS_SINGLE_RAY || sizeof(OpenOctreeNode) == 16, "a node is stored at once");

// Bits of octants, where those along flipped axes change sides.
__device__ __forceinline__ unsigned mirrored_octants(unsigned mask, int flipped) {
    if (flipped & 1) mask = (mask & 0x55u) << 1 | (mask >> 1 & 0x55u);
    if (flipped & 2) mask = (mask & 0x33u) << 2 | (mask >> 2 & 0x33u);
    if (flipped & 4) mask = (mask & 0x0fu) << 4 | (mask >> 4 & 0x0fu);
    return mask;
}

// Where rays pass the middle planes of a cell: when the side before one ends at the latest, and the one behind begins
// at the earliest.
struct MiddlePlanes {
    Real early[3], late[3];

    __device__ __forceinline__ void pass(const OctreeSpace& space, const OctreeCell& cell, const Crossings& crossings) {
        const int half = cell.size() >> 1;
        crossings.at(0, space.plane(0, cell.x + half), early[0], late[0]);
        crossings.at(1, space.plane(1, cell.y + half), early[1], late[1]);
        crossings.at(2, space.plane(2, cell.z + half), early[2], late[2]);
    }
    // The children that any of these rays may meet, in the order of a ray.
    __device__ __forceinline__ unsigned met(Mask lanes, Real entry, Real exit) const {
        unsigned mask = 255u;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            if (!any(lanes & (entry <= late[axis]))) mask &= octants_on_side(axis, true);
            if (!any(lanes & (early[axis] <= exit))) mask &= octants_on_side(axis, false);
        }
        return mask;
    }
    // The part of the rays in a child.
    __device__ __forceinline__ void part(int child, Real& entry, Real& exit) const {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            if (child & 4 >> axis) entry = max(entry, early[axis]);
            else exit = min(exit, late[axis]);
        }
    }
};

// What a traversal goes by.
struct OctreeWay {
    OctreeSpace space;
    Crossings crossings;
    int flipped;  // bits of an octant: the axes that the rays run down
    OctreeCell cell;
    MiddlePlanes planes;

    // Begin with the children of an inner node, in whose cell rays are from entry to exit.
    template <class OnNode>
    __device__ __forceinline__ OpenOctreeNode enter(int2 node, int node_id, Mask lanes, Real entry, Real exit,
                                                    const Rays& rays, OnNode& on_node) {
        tell_node(on_node, node_id, cell.level, lanes, entry);
        planes.pass(space, cell, crossings);
        const unsigned met = planes.met(lanes, entry, exit), there = child_mask(node);
        if constexpr (OnNode::HEARS_EVENTS) {
            for (unsigned rest = there & ~mirrored_octants(met, flipped); rest != 0u; rest &= rest - 1u)
                tell_culled(on_node, child_in(node.x, there, __ffs((int)rest) - 1), entry, lanes, rays);
        }
        const unsigned waiting = met & mirrored_octants(there, flipped);
        return {node.x, there | waiting << 8 | (unsigned)cell.level << 16, entry,
                IS_SINGLE_RAY ? exit : select(lanes, exit, splat(-FLOAT_MAX))};
    }
    // Go on with the children of a node above.
    __device__ __forceinline__ void return_to(const OpenOctreeNode& node) {
        const int inside = (OCTREE_GRID >> node.level()) - 1;
        cell = {cell.x & ~inside, cell.y & ~inside, cell.z & ~inside, node.level()};
        planes.pass(space, cell, crossings);
    }
};

// Where a traversal is. What waits above is in an array beside it.
struct OctreePlace {
    OctreeWay way;
    OpenOctreeNode here;
    OpenList leaf;
    Mailboxes mailboxes;
    int open_count;
};

// Each step takes a child or a reference, whichever comes next: a warp's lanes at nodes do not wait for others' leaves
// (if-if, Aila and Laine 2009; if_if_traversal.cuh has the same for BVHs). False when the traversal is done, and where
// it SHARES lists when it has come to a shared one.
template <bool SHARES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool step(const OctreeArrays& tree, OctreePlace& at, OpenOctreeNode* open,
                                     const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                     OnNode& on_node) {
    const Runs runs = {tree.runs};
    OctreeWay& way = at.way;
    OpenOctreeNode& here = at.here;
    if (at.leaf.is_open())
        return visit_next(at.leaf, tree.references, runs, at.mailboxes, primitives, rays, on_primitive, on_node);
    if (here.waiting() == 0u) {
        if (at.open_count == 0) return false;
        here = open[--at.open_count];
        way.return_to(here);
    }
    const int child = here.take_next(), octant = child ^ way.flipped;
    const int node_id = child_in(here.first_child, here.masks & 255u, octant);
    Real entry = here.entry, exit = min(here.exit, rays.t_max);
    way.planes.part(child, entry, exit);
    const Mask inside = rays.active & (entry <= exit);
    tell_culled(on_node, node_id, entry, rays.active & (here.entry <= here.exit) & !inside, rays);
    if (!any(inside)) return true;
    const int2 node = tree.nodes[node_id];
    if (is_octree_leaf(node)) {
        tell_leaf(on_node, node_id, node_id, way.cell.level + 1, inside, entry);
        at.leaf.open(node.x, leaf_count_of(node), runs);
        return !(SHARES && at.leaf.is_shared);
    }
    if (here.waiting() != 0u) {
        check_stack(at.open_count, OCTREE_LEVELS);
        open[at.open_count++] = here;
    }
    way.cell = way.cell.child(octant);
    here = way.enter(node, node_id, inside, entry, exit, rays, on_node);
    return true;
}

// From where a ray of `lanes` has come to a shared list (shared_lists.cuh).
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __noinline__ void go_on_sharing(unsigned lanes, bool goes_on, OctreeArrays tree, Primitives primitives,
                                           const OctreePlace& from, OpenOctreeNode* open, Rays& rays,
                                           OnPrimitive& on_primitive, OnNode on_node) {
    OctreePlace at = from;
    Rays own_rays = rays;
    OnPrimitive own = on_primitive;
    do {
        share_lists(lanes, at.leaf, tree.references, Runs{tree.runs}, primitives, own_rays, own);
        if (goes_on && any(own_rays.active)) {
            while (step<true>(tree, at, open, primitives, own_rays, own, on_node)) {}
        }
        goes_on = at.leaf.is_shared;
    } while (warp_ballot_among(lanes, goes_on) != 0u);
    rays = own_rays;
    on_primitive = own;
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_parametric(const OctreeArrays& tree, int signs, const Primitives& primitives,
                                                    Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    const Runs runs = {tree.runs};
    OpenOctreeNode open[OCTREE_LEVELS];
    OctreePlace at = {};
    at.mailboxes.clear();
    OctreeWay& way = at.way;
    way.crossings.signs = signs;
    Real entry, exit;
    const Mask lanes = enter_root(tree.box, rays, way.crossings, entry, exit);
    if (!any(lanes)) return;
    const int2 root = tree.nodes[0];
    if (is_octree_leaf(root)) {
        tell_leaf(on_node, 0, 0, 0, lanes, entry);
        at.leaf.open(root.x, leaf_count_of(root), runs);
    } else {
        way.space = load_space(tree.box);
        way.flipped = (way.crossings.is_down(0) ? 4 : 0) | (way.crossings.is_down(1) ? 2 : 0) |
                      (way.crossings.is_down(2) ? 1 : 0);
        way.cell = {0, 0, 0, 0};
        at.here = way.enter(root, 0, lanes, entry, exit, rays, on_node);
    }
    if constexpr (SHARES_LISTS<OnPrimitive, OnNode>) {
        const unsigned together = warp_here();
        if (!at.leaf.is_shared) {
            while (step<true>(tree, at, open, primitives, rays, on_primitive, on_node)) {}
        }
        const bool goes_on = at.leaf.is_shared;
        if (warp_ballot_among(together, goes_on) == 0u) return;
        const OctreePlace from = at;
        Rays behind = rays;
        OnPrimitive own = on_primitive;
        go_on_sharing(together, goes_on, tree, primitives, from, open, behind, own, on_node);
        rays = behind;
        on_primitive = own;
    } else {
        while (step<false>(tree, at, open, primitives, rays, on_primitive, on_node)) {}
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Parametric& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays,
               [&](int signs) { traverse_parametric(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
