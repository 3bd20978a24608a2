// What a traversal does with what it meets. `on_primitive(rays, intersection)` is called with the lanes that hit inside
// (t_min, t_max]; `on_node(node_id, depth, is_leaf, lanes, box_count)` with every node visited, the lanes that visit
// it, and how many boxes each of them is tested against there: a node's children, those of empty places too; none (the
// default) at leaves and in structures without boxes. IS_ANY_ENOUGH: a lane ends with its first hit, whichever that is,
// so that it does not matter in which order primitives are met. IS_ORDER_INDEPENDENT (false where it is not said):
// several that begin with reset() come to the same as one, when that is told what each of them kept in `hits`. An
// on_node with HEARS_EVENTS is told each step of the way too (traversal_events.cuh). With IS_ASKED, on_node is shown
// the same nodes on every target; without it, what the target does when nobody looks.
#pragma once
#include "gpu/device/traversal_events.cuh"

// A pack's hits: prim_id -1 where nothing was hit.
struct Hits {
    Real t, u, v;
    Int prim_id;

    __device__ __forceinline__ void keep(Mask mask, Real new_t, Real new_u, Real new_v, int new_prim_id) {
        t = select(mask, new_t, t);
        u = select(mask, new_u, u);
        v = select(mask, new_v, v);
        prim_id = select(mask, splat_int(new_prim_id), prim_id);
    }
};
__device__ __forceinline__ Hits no_hits() { return {splat(FLOAT_MAX), splat(0.0f), splat(0.0f), splat_int(-1)}; }

// The nearest hit: each hit shortens its ray. Of hits at one distance the smallest prim_id stays, in whatever order the
// traversal finds them.
struct ClosestHit {
    static constexpr bool IS_ANY_ENOUGH = false, IS_ORDER_INDEPENDENT = true;

    Hits hits;

    __device__ __forceinline__ void reset() { hits = no_hits(); }
    __device__ __forceinline__ void operator()(Rays& rays, const Intersection& found) {
        const Mask before = (splat_int(found.prim_id) < hits.prim_id) | (hits.prim_id < splat_int(0));
        const Mask closer = found.hit & ((found.t < rays.t_max) | before);
        hits.keep(closer, found.t, found.u, found.v, found.prim_id);
        rays.t_max = select(closer, found.t, rays.t_max);
    }
};

// The same of rays that go on from hits.
struct ScatteredClosestHit : ClosestHit, ForScatteredRays {};

// The nearest hit, and how many primitives each lane is tested against on the way.
struct CountedClosestHit {
    static constexpr bool IS_ANY_ENOUGH = false;

    Hits hits;
    Int test_count;

    __device__ __forceinline__ void operator()(Rays& rays, const Intersection& found) {
        test_count = test_count + select(rays.active, splat_int(1), splat_int(0));
        ClosestHit nearest = {hits};
        nearest(rays, found);
        hits = nearest.hits;
    }
};

// The counts of a functor that counts; of any other, nothing.
template <class OnPrimitive>
__device__ __forceinline__ void store_tests(const OnPrimitive&, int*, int64) {}
__device__ __forceinline__ void store_tests(const CountedClosestHit& counted, int* steps, int64 first) {
    store(steps + first, counted.test_count);
}

// Whether anything is hit: the first hit ends its lane.
struct AnyHit {
    static constexpr bool IS_ANY_ENOUGH = true, IS_ORDER_INDEPENDENT = true;

    Hits hits;

    __device__ __forceinline__ void reset() { hits = no_hits(); }
    __device__ __forceinline__ void operator()(Rays& rays, const Intersection& found) {
        hits.keep(found.hit, found.t, found.u, found.v, found.prim_id);
        rays.active = rays.active & !found.hit;
    }
};

// Not asked for: compiles to nothing.
struct NoNodes {
    static constexpr bool IS_ASKED = false, HEARS_EVENTS = false;

    __device__ __forceinline__ void operator()(int, int, bool, Mask, int = 0) {}
    __device__ __forceinline__ void add_boxes(int, Mask) {}
    __device__ __forceinline__ void store_counts(int*, int64, int64) const {}
};

// Traversal steps per lane: nodes visited, leaves among them, and boxes tested.
struct CountSteps {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = false;

    Int count, box_count;

    __device__ __forceinline__ void operator()(int, int, bool, Mask lanes, int boxes = 0) {
        count = count + select(lanes, splat_int(1), splat_int(0));
        box_count = box_count + select(lanes, splat_int(boxes), splat_int(0));
    }
    __device__ __forceinline__ void add_boxes(int boxes, Mask lanes) {
        box_count = box_count + select(lanes, splat_int(boxes), splat_int(0));
    }
    __device__ __forceinline__ void store_counts(int* steps, int64 first, int64 plane) const {
        store(steps + first, count);
        store(steps + 2 * plane + first, box_count);
    }
};
