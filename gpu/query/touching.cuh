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
    int first;  // of those that are asked about
    int is_own;  // they are the structure's: each pair is found once, by the smaller number

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
        return is_own == 0 || prim_id > others.scene_id(first + i);
    }
    template <class Shape>
    __device__ __forceinline__ bool holds(const Shape& shape, const Region& region) const {
        return touches(region.other, shape);
    }
};
