// The nearest hits of each ray by one traversal: a k-buffer (Bavoil et al., Multi-Fragment Effects on the GPU Using the
// k-Buffer, 2007), filled by a tree and not by a rasteriser, so that none is lost: the ray is shortened to the farthest
// that is kept, and who wants more goes on behind it. For units that are compiled against a structure (traversals.cuh).
//
// Constants of the unit: HITS_AT_ONCE (kept by one traversal), SURFACE_KIND (of 0, triangles, a ray meets each once).
#pragma once
#include "gpu/trace/traversals.cuh"

// Ascending by distance, those of one distance by prim_id; behind the last FLOAT_MAX and -1. All places are named by
// constants, so that they are registers.
struct NearestHits {
    Hits at[HITS_AT_ONCE];

    __device__ __forceinline__ void clear() {
#pragma unroll
        for (int i = 0; i < HITS_AT_ONCE; ++i) at[i] = no_hits();
    }

    // The lanes of `mask`, but where the very same hit is here: a structure may meet a primitive twice.
    __device__ __forceinline__ void insert(Mask mask, const Intersection& found) {
        Hits carried = {found.t, found.u, found.v, splat_int(found.prim_id)};
#pragma unroll
        for (int i = 0; i < HITS_AT_ONCE; ++i) {
            const Hits here = at[i];
            const Mask is_level = mask & !(carried.t < here.t) & !(here.t < carried.t);
            const Mask is_before = mask & ((carried.t < here.t) | (is_level & (carried.prim_id < here.prim_id)));
            mask = mask & (is_before | !is_level | (here.prim_id < carried.prim_id));
            at[i] = either(is_before, carried, here);
            carried = either(is_before, here, carried);
        }
    }

    // The nearest, which is here no longer.
    __device__ __forceinline__ Hits pop() {
        const Hits nearest = at[0];
#pragma unroll
        for (int i = 0; i + 1 < HITS_AT_ONCE; ++i) at[i] = at[i + 1];
        at[HITS_AT_ONCE - 1] = no_hits();
        return nearest;
    }

    __device__ __forceinline__ Mask is_full() const { return !(at[HITS_AT_ONCE - 1].prim_id < splat_int(0)); }

    __device__ __forceinline__ static Hits either(Mask mask, const Hits& a, const Hits& b) {
        return {select(mask, a.t, b.t), select(mask, a.u, b.u), select(mask, a.v, b.v),
                select(mask, a.prim_id, b.prim_id)};
    }
};

struct KeepsNearest {
    static constexpr bool IS_ANY_ENOUGH = false;

    NearestHits* nearest;

    __device__ __forceinline__ void operator()(Rays& rays, const Intersection& found) {
        if (!any(found.hit)) return;
        nearest->insert(found.hit, found);
        rays.t_max = min(rays.t_max, nearest->at[HITS_AT_ONCE - 1].t);
    }
};

// Records that tell a ray's first hit, as all do, and put those behind it on the same primitive into the buffer
// themselves. One place calls the test, so that a compiler rounds the first and the next alike.
template <class Base>
struct EveryHit : Base {
    NearestHits* nearest;

    __device__ __forceinline__ EveryHit(const Base& base, NearestHits* nearest) : Base(base), nearest(nearest) {}

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        return first_of_all(rays, [&](const Rays& from) { return Base::intersect(reference, from); });
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        return first_of_all(rays, [&](const Rays& from) { return Base::intersect_fetched(a, b, c, reference, from); });
    }

    template <class Test>
    __device__ __forceinline__ Intersection first_of_all(const Rays& rays, const Test& test) const {
        Rays from = rays;
        Intersection first;
#pragma unroll 1
        for (bool is_first = true;; is_first = false) {
            const Intersection found = test(from);
            if (is_first) first = found;
            else nearest->insert(found.hit, found);
            if (!any(found.hit)) return first;
            from.active = found.hit;
            from.t_min = select(found.hit, found.t, from.t_min);
        }
    }
};

__device__ __forceinline__ void find_nearest_hits(const TraceInput& input, Rays rays, NearestHits& nearest) {
    KeepsNearest on_primitive = {&nearest};
    NoNodes on_node;
    admit_rays(rays);
    nearest.clear();
    if (!any(rays.active)) return;
    if constexpr (SURFACE_KIND == 0) traverse(input.tree, input.records, rays, on_primitive, on_node);
    else traverse(input.tree, EveryHit<Records>(input.records, &nearest), rays, on_primitive, on_node);
}
