// Which primitives of a structure touch those of an object, `Others` one of the primitive kinds: the bounds of one of
// these are the region.
// from gpu.query.touching import TouchingRows
#pragma once
#include "gpu/device/touching.cuh"
#include "gpu/query/contacts.cuh"
#include "gpu/query/questions.cuh"

template <class Others>
struct TouchingRegion : BoxRegion {
    typename Others::Shape other;
    int rank;  // of its object
};

template <class Others>
struct Touching : TouchingRows<Others, Contacts> {
    using Region = TouchingRegion<Others>;
    using Rows = TouchingRows<Others, Contacts>;
    using Rows::first, Rows::is_own, Rows::objects, Rows::others;

    __device__ __forceinline__ bool region(int i, Region& region) const {
        region.box = others.aabb(first + i);
        region.rank = 0;
        if (objects.count > 0) {
            const int object = objects.object_of(others.scene_id(first + i));
            region.box = objects.asking_part(object, region.box);
            region.rank = objects.ranks[object];
        }
        if (is_empty(region.box)) return false;
        region.other = others.shape(others.corners(first + i));
        return true;
    }
    template <class VisitImage>
    __device__ __forceinline__ void each_image(Region&, const VisitImage& visit_image) const {
        visit_image();
    }
    __device__ __forceinline__ bool allows(int i, int prim_id, const Region& region) const {
        if (objects.count > 0) return objects.rank_of(prim_id) > region.rank;
        return is_own == 0 || prim_id > others.scene_id(first + i);
    }
    template <class Shape>
    __device__ __forceinline__ bool holds(const Shape& shape, const Region& region) const {
        return touches(region.other, shape);
    }
};
