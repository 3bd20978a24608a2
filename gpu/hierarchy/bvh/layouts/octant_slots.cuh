// Children of an 8-wide node in slots by direction: slot s is meant for a child towards (+-1, +-1, +-1), bit 0, 1, 2 of s set where x, y, z are
// high. A walk then meets slots in the order of slot ^ octant, octant's bits set where the ray runs down an axis: nearly front to back, without
// sorting, and what waits of a node is one byte (Ylitie, Karras and Laine 2017, section 3.2).
#pragma once
#include "gpu/hierarchy/bvh/collapse.cuh"

constexpr int SLOTS = 8, NO_CHILD = -1;

// Place in `kids` of the child in each slot, NO_CHILD in unused ones. Children choose in turn, the one that lies furthest out first; each takes the
// free slot that agrees most with where it lies. `boxes` in the order of `kids`; empty boxes lie in the middle.
struct OctantSlots {
    int place[SLOTS];
};
__device__ __forceinline__ OctantSlots assign_slots(const Aabb* boxes, int count, float3 middle) {
    float3 away[SLOTS];
    float reach[SLOTS];
#pragma unroll 1
    for (int i = 0; i < count; ++i) {
        const bool is_nowhere = is_empty(boxes[i]);
        const float3 at = centre(boxes[i]) - middle;
        away[i] = is_nowhere || !is_finite(at) ? make_float3(0.0f, 0.0f, 0.0f) : at;
        reach[i] = max(fabsf(away[i].x), max(fabsf(away[i].y), fabsf(away[i].z)));
    }
    OctantSlots slots;
    for (int s = 0; s < SLOTS; ++s) slots.place[s] = NO_CHILD;
#pragma unroll 1
    for (int turn = 0; turn < count; ++turn) {
        int chosen = 0;
#pragma unroll 1
        for (int i = 1; i < count; ++i) chosen = reach[i] > reach[chosen] ? i : chosen;
        const float3 at = away[chosen];
        int best_slot = NO_CHILD;
        float best = 0.0f;
#pragma unroll 1
        for (int s = 0; s < SLOTS; ++s) {
            if (slots.place[s] != NO_CHILD) continue;
            const float agreement = (s & 1 ? at.x : -at.x) + (s & 2 ? at.y : -at.y) + (s & 4 ? at.z : -at.z);
            if (best_slot == NO_CHILD || agreement > best) {
                best_slot = s;
                best = agreement;
            }
        }
        slots.place[best_slot] = chosen;
        reach[chosen] = -1.0f;
    }
    return slots;
}
