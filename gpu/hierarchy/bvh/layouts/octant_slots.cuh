// Children of an 8-wide node in slots by direction: slot s is meant for a child towards (+-1, +-1, +-1), bit 0, 1, 2 of
// s set where x, y, z are high. A traversal then meets slots in the order of slot ^ octant, octant's bits set where the
// ray runs down an axis: nearly front to back, without sorting, and what waits of a node is one byte (Ylitie, Karras
// and Laine 2017, section 3.2).
#pragma once
#include "gpu/hierarchy/bvh/collapse.cuh"

constexpr int SLOTS = 8, NO_CHILD = 15;

// Where a child lies, seen from the node's middle, and how far out. An empty box lies in the middle.
__device__ __forceinline__ float4 place_from(const Aabb& box, float3 middle) {
    const float3 at = centre(box) - middle;
    if (is_empty(box) || !is_finite(at)) return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    return make_float4(at.x, at.y, at.z, max(fabsf(at.x), max(fabsf(at.y), fabsf(at.z))));
}

// For each slot, four bits: which of the `count` children lies there, NO_CHILD in unused ones. Children choose in turn,
// the one that lies furthest out first; each takes the free slot that agrees most with where it lies. Loops are
// unrolled, so that a GPU keeps everything in registers.
__device__ __forceinline__ unsigned assign_slots(const float4* places, int count) {
    float reach[SLOTS];
#pragma unroll
    for (int i = 0; i < SLOTS; ++i) reach[i] = i < count ? places[i].w : -1.0f;
    unsigned slots = 0xffffffffu, taken = 0;
#pragma unroll 1
    for (int turn = 0; turn < count; ++turn) {
        int chosen = 0;
        float furthest = reach[0];
#pragma unroll
        for (int i = 1; i < SLOTS; ++i) {
            if (reach[i] > furthest) chosen = i;
            furthest = max(furthest, reach[i]);
        }
        const float4 at = places[chosen];
        int best_slot = NO_CHILD;
        float best = 0.0f;
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            if (s == chosen) reach[s] = -1.0f;
            const float agreement = (s & 1 ? at.x : -at.x) + (s & 2 ? at.y : -at.y) + (s & 4 ? at.z : -at.z);
            if (!(taken >> s & 1) && (best_slot == NO_CHILD || agreement > best)) {
                best_slot = s;
                best = agreement;
            }
        }
        taken |= 1u << best_slot;
        slots ^= (unsigned)(NO_CHILD ^ chosen) << 4 * best_slot;
    }
    return slots;
}
__device__ __forceinline__ int child_in(unsigned slots, int s) { return (int)(slots >> 4 * s & 15u); }
