// What a tree costs, summed up while it is made, so that of two the cheaper can be kept. Costs are whole numbers,
// shares of the root's area in steps of 2^-28, so that the sum depends on no order.
//
// Of cut references the boxes are those of their pieces before they are cut again, never smaller than what the tree
// will have: a tree of spatial splits costs at most its sum, one of object splits exactly that but for the steps.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"

// Which tree of a build is being made: of object splits; of spatial splits too; of object splits again, where that was
// the cheaper one.
constexpr int OBJECT_SPLITS = 0, ALL_SPLITS = 1, OBJECT_SPLITS_AGAIN = 2;

struct TreeCost {
    float traversal_cost, intersection_cost, root_area;

    __device__ uint64 of(float area, float weight) const {
        const float share = area / root_area;
        return (uint64)((double)(share < 1.0f ? share : 1.0f) * (double)weight * 268435456.0 + 0.5);
    }
    __device__ uint64 of_node(float area) const { return of(area, traversal_cost); }
    __device__ uint64 of_leaf(float area, int count) const { return of(area, intersection_cost * (float)count); }
};

// `sums`: of OBJECT_SPLITS and of ALL_SPLITS; null where one tree alone is made.
__device__ __forceinline__ bool is_left_out(int tree, const uint64* sums) {
    return tree == OBJECT_SPLITS_AGAIN && !(sums[OBJECT_SPLITS] < sums[ALL_SPLITS]);
}
