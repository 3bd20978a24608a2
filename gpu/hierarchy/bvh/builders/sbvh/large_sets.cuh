// A set that many blocks work on, a chunk of its references each.
#pragma once
#include "gpu/hierarchy/bvh/builders/sbvh/sets.cuh"

struct LargeSet {
    int4 set;
    int first_chunk, arrived;  // of its chunks' blocks in this launch
    int left_child, right_child;  // among the next level's large sets, or NO_LARGE_SET
    int bounds[12], of_left[12], of_right[12];  // boxes, and boxes of centroids, as ordered integers (block_box.cuh)
    SetChoice choice;
    float cost;  // of the object split
    int tries_space;
    SetSides sides;

    __device__ Aabb box() const { return box_of_words(bounds); }
    __device__ BinGrid grid() const {
        const Aabb centroids = box_of_words(bounds + 6);
        return BinGrid::over(centroids.lower, centroids.upper);
    }
};
constexpr int NO_LARGE_SET = -1;
static_assert(sizeof(LargeSet) == 304, "the builder sizes its scratch memory by it");

__device__ __forceinline__ void empty_bounds(int* bounds) {
    empty_words(bounds);
    empty_words(bounds + 6);
}
