// Regions of space that a tree is asked about, and what a structure gives for them:
//
//     template <class Region, class OnReference>
//     __device__ void visit(const View& tree, Region& region, OnReference& on_reference);
//
// It hands every reference (the number of a record) whose leaf may meet the region to on_reference(reference, region),
// which decides by the primitive itself, may shrink the region, and says whether to go on. A structure that lists a
// primitive in several leaves hands it over as often: its capabilities say splits_references, and who asks sees to it
// that a primitive counts once (k_nearest.cu, ascending.cu). A region has
//
//     meets(box)         whether the box and the region have a point in common
//     distance2(box)     the square of how far the box is: boxes that are nearer are visited first
//     SHRINKS            whether it may shrink; then also
//     shrink(distance2)  to what is at most so far
//     reaches(distance2) whether a box so far is still met
//
// Structures whose leaves divide space (the query `leaf`) give besides, with the number of the node among their own:
//
//     __device__ FoundLeaf leaf_at(const View& tree, float3 place);
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"

struct BoxRegion {
    static constexpr bool SHRINKS = false;

    Aabb box;

    __device__ __forceinline__ bool meets(const Aabb& other) const { return overlap(box, other); }
    __device__ __forceinline__ float distance2(const Aabb&) const { return 0.0f; }
    __device__ __forceinline__ void shrink(float) {}
    __device__ __forceinline__ bool reaches(float) const { return true; }
};

// What is at most so far from a place.
struct BallRegion {
    static constexpr bool SHRINKS = true;
    // The squares of three rounded differences and their sum are at most 5 * 2^-24 of it too large, and a primitive's
    // own distance may be as much too small: a box is taken to be nearer by more than both.

    float3 centre;
    float radius2;

    __device__ __forceinline__ float distance2(const Aabb& box) const {
        return ::distance2(box, centre) * NEARER_THAN_ROUNDED;
    }
    __device__ __forceinline__ bool reaches(float distance2) const { return distance2 <= radius2; }
    __device__ __forceinline__ bool meets(const Aabb& box) const { return reaches(distance2(box)); }
    __device__ __forceinline__ void shrink(float distance2) { radius2 = min(radius2, distance2); }
};

// The same where all in it is wanted, in any order.
struct FixedBallRegion : BallRegion {
    static constexpr bool SHRINKS = false;
};
