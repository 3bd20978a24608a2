// Long lists of primitives, tested by all lanes of a warp together. In a crowded place one ray of a warp may have a
// thousand primitives to test and its neighbours none: by itself it would keep the warp, and often the whole picture,
// for as long as a thousand tests take one after the other. Here the lanes ask for runs of the list (runs.cuh), one
// each, and then test the references of those that the ray meets, one each; the ray's own lane is told what they found.
//
// Lanes that were together when a traversal began stay until the last of them is done. What follows a ray's first
// shared list is a function of its own, `go_on_sharing`, so that rays without one need no more registers; it and its
// callers work on copies, as what a function is given by reference lies in memory. On the host, where a warp has one
// lane, and where steps are asked for, each ray tests its lists by itself.
#pragma once
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/cells.cuh"
#include "gpu/hierarchy/runs.cuh"

template <class OnPrimitive, class = void>
constexpr bool IS_INDEPENDENT_OF_ORDER = false;
template <class OnPrimitive>
constexpr bool IS_INDEPENDENT_OF_ORDER<OnPrimitive, decltype((void)OnPrimitive::IS_ORDER_INDEPENDENT)> = true;

// Whether a traversal leaves shared lists (OpenList) to all lanes of its warp.
template <class OnPrimitive, class OnNode>
constexpr bool SHARES_LISTS = (WARP_LANES > 1) && (RUN_LEVELS > 0) && IS_SINGLE_RAY &&
                              IS_INDEPENDENT_OF_ORDER<OnPrimitive> && !OnNode::IS_ASKED && !OnNode::HEARS_EVENTS;

__device__ __forceinline__ unsigned lanes_before(int lane) { return (1u << lane) - 1u; }

__device__ __forceinline__ Real read_among(unsigned lanes, Real value, int from) {
    return splat(warp_read_among(lanes, lane(value, 0), from));
}

__device__ __forceinline__ Rays read_rays_among(unsigned lanes, const Rays& rays, int from) {
    const auto read = [&](Real value) { return read_among(lanes, value, from); };
    return {read(rays.ox), read(rays.oy), read(rays.oz), read(rays.dx),    read(rays.dy),    read(rays.dz),
            read(rays.ix), read(rays.iy), read(rays.iz), read(rays.t_min), read(rays.t_max), mask_from_bits(1u)};
}

constexpr int NOWHERE = 0x7fffffff;

// The references from `first` on, before `last`, by the runs that the ray meets. Where this lane's last hit stands in
// the list; where any is enough, its first.
template <class Primitives, class OnPrimitive>
__device__ __forceinline__ int test_by_runs(unsigned lanes, int first, int last, Pointer<const int> references,
                                            const Runs& runs, const Primitives& primitives, Rays& ray,
                                            OnPrimitive& on_primitive) {
    constexpr int LENGTH = 1 << RUN_BITS;
    const int place = __popc(lanes & lanes_before(warp_lane())), count = __popc(lanes), runs_at_once = count / LENGTH;
    int hit_at = NOWHERE;
    const auto test = [&](int i) {
        if (i < first || i >= last || !any(ray.active)) return;
        const Intersection found = primitives.intersect(references[i], ray);
        if (!any(found.hit)) return;
        hit_at = i;
        on_primitive(ray, found);
    };
#pragma unroll 1
    for (int begin = first & ~(LENGTH - 1); begin < last; begin += count * LENGTH) {
        const int run = begin + place * LENGTH, from = max(run, first), to = min(run + LENGTH, last);
        const bool is_met = from < to && (to - from < LENGTH || runs.is_met(run >> RUN_BITS, 1, ray));
        unsigned met = warp_ballot_among(lanes, is_met);
        if (runs_at_once == 0) {
#pragma unroll 1
            for (int i = is_met ? from : to; i < to; ++i) test(i);
            met = 0u;
        }
#pragma unroll 1
        while (met != 0u) {
            unsigned mine = 0u;
            for (int i = 0; i < runs_at_once; ++i, met &= met - 1u) mine = place / LENGTH == i ? met : mine;
            if (mine == 0u) continue;
            const int its_place = __popc(lanes & lanes_before(__ffs((int)mine) - 1));
            test(begin + its_place * LENGTH + place % LENGTH);
        }
        if (OnPrimitive::IS_ANY_ENOUGH && warp_ballot_among(lanes, !any(ray.active)) != 0u) break;
    }
    return hit_at;
}

// What all of `lanes` kept of a ray, as one of them; where any is enough the first of the list, however many lanes
// tested it.
template <class OnPrimitive>
__device__ __forceinline__ OnPrimitive gathered(unsigned lanes, const OnPrimitive& kept, int hit_at, Rays& ray) {
    OnPrimitive all = kept;
    all.reset();
    int first = NOWHERE;
    for (unsigned rest = warp_ballot_among(lanes, hit_at != NOWHERE); rest != 0u; rest &= rest - 1u) {
        const int from = __ffs((int)rest) - 1, at = warp_read_among(lanes, hit_at, from);
        Intersection found;
        found.t = read_among(lanes, kept.hits.t, from);
        found.u = read_among(lanes, kept.hits.u, from);
        found.v = read_among(lanes, kept.hits.v, from);
        found.prim_id = warp_read_among(lanes, lane(kept.hits.prim_id, 0), from);
        found.hit = found.t <= ray.t_max;
        if (!any(found.hit) || (OnPrimitive::IS_ANY_ENOUGH && at > first)) continue;
        first = at;
        all(ray, found);
    }
    return all;
}

// The hits of each ray of `sharing` with its list.
template <class OnPrimitive, class Primitives>
__device__ __forceinline__ OnPrimitive test_together(unsigned lanes, unsigned sharing, OpenList list,
                                                     Pointer<const int> references, Runs runs, Primitives primitives,
                                                     Rays rays, OnPrimitive on_primitive) {
    OnPrimitive own = on_primitive;
    own.reset();
#pragma unroll 1
    for (unsigned rest = sharing; rest != 0u; rest &= rest - 1u) {
        const int owner = __ffs((int)rest) - 1;
        const Rays of_owner = read_rays_among(lanes, rays, owner);
        const int first = warp_read_among(lanes, list.at, owner), last = warp_read_among(lanes, list.last, owner);
        OnPrimitive found = own;
        found.reset();
        Rays ray = of_owner;
        const int hit_at = test_by_runs(lanes, first, last, references, runs, primitives, ray, found);
        ray = of_owner;
        found = gathered(lanes, found, hit_at, ray);
        if (warp_lane() == owner) own = found;
    }
    return own;
}

// Every one of `lanes` calls it: those without a shared list have none open. What is shared is done with afterwards.
template <class OnPrimitive, class Primitives>
__device__ __forceinline__ void share_lists(unsigned lanes, OpenList& list, Pointer<const int> references,
                                            const Runs& runs, const Primitives& primitives, Rays& rays,
                                            OnPrimitive& on_primitive) {
    const unsigned sharing = warp_ballot_among(lanes, list.is_shared);
    if (sharing == 0u) return;
    const OnPrimitive kept = test_together(lanes, sharing, list, references, runs, primitives, rays, on_primitive);
    list = {};
    const int prim_id = lane(kept.hits.prim_id, 0);
    if (prim_id < 0) return;
    on_primitive(rays, {kept.hits.t <= rays.t_max, kept.hits.t, kept.hits.u, kept.hits.v, prim_id});
}
