// Long lists of primitives, tested by all lanes of a warp together. In a crowded place one ray of a warp may have a
// thousand primitives to test and its neighbours none: by itself it would keep the warp, and often the whole picture,
// for as long as a thousand tests take one after the other. Here the lanes ask for runs of the list (runs.cuh), one
// each, and then test the references of those that the ray meets, one each; the ray's own lane is told what they found.
//
// Lanes that were together when a traversal began stay until the last of them is done. On the host, where a warp has
// one lane, and where steps are asked for, each ray tests its lists by itself.
#pragma once
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/cells.cuh"
#include "gpu/hierarchy/runs.cuh"

// An on_primitive with IS_FROM_ANY_ORDER comes to the same whatever order it is told hits in, by several of its like,
// too: each begins with forget(), and one is told what the others kept in `hits`.
template <class OnPrimitive, class = void>
constexpr bool COMES_TO_THE_SAME = false;
template <class OnPrimitive>
constexpr bool COMES_TO_THE_SAME<OnPrimitive, decltype((void)OnPrimitive::IS_FROM_ANY_ORDER)> = true;

template <class OnPrimitive, class OnNode>
constexpr bool SHARES_LISTS = WARP_LANES > 1 && IS_SINGLE_RAY&& RUN_LEVELS > 0 && COMES_TO_THE_SAME<OnPrimitive> &&
                              !OnNode::IS_ASKED && !OnNode::HEARS_EVENTS;

// What a traversal searches its own lists by: where long ones are shared, they are short.
template <bool SHARES>
__device__ __forceinline__ auto own_runs_of(const Runs& runs) {
    if constexpr (SHARES) return NoRuns{};
    else return runs;
}

__device__ __forceinline__ unsigned lanes_before(int lane) { return (1u << lane) - 1u; }

__device__ __forceinline__ Real read_among(unsigned lanes, Real value, int from) {
    return splat(warp_read_among(lanes, lane(value, 0), from));
}

__device__ __forceinline__ Rays read_rays_among(unsigned lanes, const Rays& rays, int from) {
    const auto read = [&](Real value) { return read_among(lanes, value, from); };
    return {read(rays.ox), read(rays.oy), read(rays.oz), read(rays.dx),    read(rays.dy),    read(rays.dz),
            read(rays.ix), read(rays.iy), read(rays.iz), read(rays.t_min), read(rays.t_max), mask_from_bits(1u)};
}

// The references from `first` on, before `last`, by the runs that the ray meets.
template <class Primitives, class OnPrimitive>
__device__ __forceinline__ void test_by_runs(unsigned lanes, int first, int last, Pointer<const int> references,
                                             const Runs& runs, const Primitives& primitives, Rays& ray,
                                             OnPrimitive& on_primitive) {
    constexpr int LENGTH = 1 << RUN_BITS;
    const int place = __popc(lanes & lanes_before(warp_lane())), count = __popc(lanes), runs_at_once = count / LENGTH;
    const auto test = [&](int i) {
        if (i < first || i >= last || !any(ray.active)) return;
        const Intersection found = primitives.intersect(references[i], ray);
        if (any(found.hit)) on_primitive(ray, found);
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
        if (OnPrimitive::IS_ANY_ENOUGH && warp_ballot_among(lanes, !any(ray.active)) != 0u) return;
    }
}

// What all of `lanes` kept of a ray, as one of them.
template <class OnPrimitive>
__device__ __forceinline__ OnPrimitive gathered(unsigned lanes, const OnPrimitive& kept, Rays& ray) {
    OnPrimitive all = kept;
    all.forget();
    const int prim_id = lane(kept.hits.prim_id, 0);
    for (unsigned rest = warp_ballot_among(lanes, prim_id >= 0); rest != 0u; rest &= rest - 1u) {
        const int from = __ffs((int)rest) - 1;
        Intersection found;
        found.t = read_among(lanes, kept.hits.t, from);
        found.u = read_among(lanes, kept.hits.u, from);
        found.v = read_among(lanes, kept.hits.v, from);
        found.prim_id = warp_read_among(lanes, prim_id, from);
        found.hit = found.t <= ray.t_max;
        if (any(found.hit)) all(ray, found);
    }
    return all;
}

// The hits of each ray of `sharing` with its list.
template <class OnPrimitive, class Primitives>
__device__ __forceinline__ OnPrimitive test_together(unsigned lanes, unsigned sharing, OpenList list,
                                                     Pointer<const int> references, Runs runs, Primitives primitives,
                                                     Rays rays, OnPrimitive on_primitive) {
    OnPrimitive own = on_primitive;
    own.forget();
#pragma unroll 1
    for (unsigned rest = sharing; rest != 0u; rest &= rest - 1u) {
        const int owner = __ffs((int)rest) - 1;
        const Rays of_owner = read_rays_among(lanes, rays, owner);
        const int first = warp_read_among(lanes, list.at, owner), last = warp_read_among(lanes, list.last, owner);
        OnPrimitive found = own;
        found.forget();
        Rays ray = of_owner;
        test_by_runs(lanes, first, last, references, runs, primitives, ray, found);
        ray = of_owner;
        found = gathered(lanes, found, ray);
        if (warp_lane() == owner) own = found;
    }
    return own;
}

// Every one of `lanes` calls it, those that have a long list with it; the lists are done with afterwards.
template <class OnPrimitive, class Primitives>
__device__ __forceinline__ void share_lists(unsigned lanes, OpenList& list, Pointer<const int> references,
                                            const Runs& runs, const Primitives& primitives, Rays& rays,
                                            OnPrimitive& on_primitive) {
    const unsigned sharing = warp_ballot_among(lanes, list.may_skip);
    if (sharing == 0u) return;
    const OnPrimitive kept = test_together(lanes, sharing, list, references, runs, primitives, rays, on_primitive);
    list = {};
    const int prim_id = lane(kept.hits.prim_id, 0);
    if (prim_id < 0) return;
    on_primitive(rays, {kept.hits.t <= rays.t_max, kept.hits.t, kept.hits.u, kept.hits.v, prim_id});
}
