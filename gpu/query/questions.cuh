// What is asked of a structure, many at a time: the region of each question, and which primitives belong to it.
// from gpu.query.questions import PlaceRows, BoxRows, OWN_RULES
#pragma once
#include "gpu/query/cell.cuh"
#include "gpu/query/regions.cuh"

struct Places : PlaceRows {
    using Region = FixedBallRegion;

    __device__ __forceinline__ float3 place(int i) const { return load3(points, i); }
    __device__ __forceinline__ float most(int i) const { return radii == nullptr ? radius : radii[i]; }
    // False where nothing is asked.
    template <class Ball>
    __device__ __forceinline__ bool region(int i, Ball& ball) const {
        ball.centre = place(i);
        ball.radius2 = min(most(i) * most(i), FLOAT_MAX);
        return is_finite(ball.centre) && most(i) >= 0.0f;
    }
    // Hands each image of the ball to a visit; IS_PERIODIC is a unit constant.
    template <class Ball, class VisitImage>
    __device__ __forceinline__ void each_image(Ball& ball, const VisitImage& visit_image) const {
        if constexpr (IS_PERIODIC) for_images(cell, ball, visit_image);
        else visit_image();
    }
    // Whether a primitive may be found by who is a primitive itself.
    __device__ __forceinline__ bool allows(int i, int prim_id) const {
        if (own == nullptr) return true;
        return own_rule == OWN_RULES::later ? prim_id > own[i] : prim_id != own[i];
    }
    __device__ __forceinline__ bool allows(int i, int prim_id, const FixedBallRegion&) const {
        return allows(i, prim_id);
    }
    template <class Shape>
    __device__ __forceinline__ bool holds(const Shape& shape, const FixedBallRegion& ball) const {
        const float3 to = offset_of(shape, ball.centre);
        return dot(to, to) <= ball.radius2;
    }
    // From the place to the nearest point of the primitive, or, unit constant OF_CENTRES, to the sphere's centre.
    template <class Shape>
    __device__ __forceinline__ static float3 offset_of(const Shape& shape, float3 from) {
        if constexpr (OF_CENTRES) return shape.centre - from;
        else return offset_to(shape, from);
    }
};

struct Boxes : BoxRows {
    using Region = BoxRegion;

    // False of an inverted box, or one that is not a number: it holds nothing. No scene reaches beyond 1e18.
    __device__ __forceinline__ bool region(int i, BoxRegion& region) const {
        const Aabb box = {load3(lower, i), load3(upper, i)};
        const float3 most = make_float3(1e18f, 1e18f, 1e18f), least = make_float3(-1e18f, -1e18f, -1e18f);
        region.box = {min(max(box.lower, least), most), min(max(box.upper, least), most)};
        return !is_empty(box);
    }
    template <class VisitImage>
    __device__ __forceinline__ void each_image(BoxRegion&, const VisitImage& visit_image) const {
        visit_image();
    }
    __device__ __forceinline__ bool allows(int, int, const BoxRegion&) const { return true; }
    template <class Shape>
    __device__ __forceinline__ bool holds(const Shape& shape, const BoxRegion& region) const {
        return reaches_into(shape, region.box);
    }
};
