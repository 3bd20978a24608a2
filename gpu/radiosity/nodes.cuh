// What is known of a node of the points' octree beside its cell: the box of its points, the cone of their normals, and
// the slab along the cone's axis that they lie in, and what they send before any bounce. Of flat surfaces slab and cone
// are nothing wide, however they lie.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

//  row 0 | centre of the box        | its half diagonal     |
//  row 1 | half sides of the box    | radiance times area   |   the mean of the colours; what lights give is in it
//  row 2 | axis of the cone         | cosine of its angle   |   -1: half of all directions or more
//  row 3 | slab: low | high | sine of the angle | area      |   along the axis, from the centre
constexpr int NODE_ROWS = 4;

struct NodeShape {
    float3 centre, half, axis;
    float reach, cosine, sine, low, high, light, area;
};
__device__ __forceinline__ NodeShape load_shape(const float4* shapes, int node) {
    const float4* row = shapes + NODE_ROWS * (int64)node;
    return {make_float3(row[0].x, row[0].y, row[0].z),
            make_float3(row[1].x, row[1].y, row[1].z),
            make_float3(row[2].x, row[2].y, row[2].z),
            row[0].w,
            row[2].w,
            row[3].z,
            row[3].x,
            row[3].y,
            row[1].w,
            row[3].w};
}
__device__ __forceinline__ void store_shape(float4* shapes, int node, const NodeShape& s) {
    float4* row = shapes + NODE_ROWS * (int64)node;
    row[0] = make_float4(s.centre.x, s.centre.y, s.centre.z, s.reach);
    row[1] = make_float4(s.half.x, s.half.y, s.half.z, s.light);
    row[2] = make_float4(s.axis.x, s.axis.y, s.axis.z, s.cosine);
    row[3] = make_float4(s.low, s.high, s.sine, s.area);
}

struct Range {
    float low, high;
};
// How far a node's points reach along a direction from its centre: by the box, or by the slab, which for a flat node is
// the narrower the better its axis fits.
__device__ __forceinline__ Range extent_along(const NodeShape& s, float3 direction) {
    const float by_box = fabsf(direction.x) * s.half.x + fabsf(direction.y) * s.half.y + fabsf(direction.z) * s.half.z;
    const float cosine = dot(direction, s.axis);
    const float beside = length(direction - s.axis * cosine) * s.reach;
    const float low = min(cosine * s.low, cosine * s.high), high = max(cosine * s.low, cosine * s.high);
    return {max(-by_box, low - beside), min(by_box, high + beside)};
}

// How the points of a node face those of another one: what n . v is at least and at most, v from any point of the one
// to any of the other, n any normal of the one.
__device__ __forceinline__ Range facing(const NodeShape& from, const NodeShape& to) {
    const float3 away = to.centre - from.centre;
    const float most = length(away) + from.reach + to.reach;
    if (from.cosine < 0.0f) return {-most, most};
    const Range other = extent_along(to, from.axis);
    const float middle = dot(from.axis, away);
    const float low = middle + other.low - from.high, high = middle + other.high - from.low;
    return {(low > 0.0f ? low * from.cosine : low) - from.sine * most,
            (high < 0.0f ? high * from.cosine : high) + from.sine * most};
}
