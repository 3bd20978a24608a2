// Which primitives of a structure touch those of an object, `Others` one of the primitive kinds: the bounds of one of
// these are the region.
#pragma once
#include "gpu/device/touching.cuh"
#include "gpu/query/questions.cuh"

template <class Others>
struct TouchingRegion : BoxRegion {
    typename Others::Shape other;
};

template <class Others>
struct Touching {
    using Region = TouchingRegion<Others>;

    Others others;
    Pointer<const int> object_ends;  // or null: of each object, one more than its last number, ascending
    int object_count;
    int first;  // of those that are asked about
    int is_own;  // they are the structure's: each pair is found once, by the smaller number
    int lower, upper;  // found are numbers from `lower` to below `upper`,
    int is_outside;  // or all but those

    __device__ __forceinline__ bool region(int i, Region& region) const {
        region.box = others.aabb(first + i);
        region.other = others.shape(others.corners(first + i));
        return !is_empty(region.box);
    }
    template <class VisitImage>
    __device__ __forceinline__ void each_image(Region&, const VisitImage& visit_image) const {
        visit_image();
    }
    __device__ __forceinline__ bool allows(int i, int prim_id) const {
        if ((prim_id >= lower && prim_id < upper) == (is_outside != 0)) return false;
        if (is_own == 0) return true;
        const int own = others.scene_id(first + i);
        return object_ends == nullptr ? prim_id > own : prim_id >= end_of_object(own);
    }
    // The numbers of an object are side by side: those of later objects begin at its end.
    __device__ __forceinline__ int end_of_object(int prim_id) const {
        int low = 0, high = object_count - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (object_ends[middle] > prim_id) high = middle;
            else low = middle + 1;
        }
        return object_ends[low];
    }
    template <class Shape>
    __device__ __forceinline__ bool holds(const Shape& shape, const Region& region) const {
        return touches(region.other, shape);
    }
};
