// The binary layout: a node holds its two children's boxes and places, so that a traversal decides about both with one
// fetch (Aila and Laine 2009).
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0                                  16                                 32                                 48 64
//        | centre.x0 half.x0 centre.y0 half.y0 | centre.x1 half.x1 centre.y1 half.y1 | centre.z0 half.z0 centre.z1
//        half.z1 | left right unused unused |
// 0 is the left child, 1 the right one. A node's index is its canonical id. A box is kept as its centre and half of its
// extent, rounded so that it holds the box that was given: traversals need no minimum and maximum of two planes then
// (docs/decisions/centre-and-half-extent.md has the proof). An empty box (only inactive primitives below) has halves of
// minus infinity, which no ray enters.
struct Bvh2Node {
    float4 xy[2];
    float4 z;
    int left, right, unused[2];
};
static_assert(sizeof(Bvh2Node) == 64, "drawn above; bvh2.py reads it");

// beyond it a box is taken for infinite along the axis: its distances could overflow in a traversal
constexpr float MOST_CENTRED = 0x1p59f;

struct CentredBox {
    float3 centre, half;
};

// The centre is rounded, so half is the further of both sides, and more: it pays for every rounding of a traversal that
// grows with the box or with its distance from the origin. An empty box comes to a centre of 0 and, by overflow, minus
// infinity.
__device__ __forceinline__ float half_about(float centre, float lower, float upper) {
    const float furthest = max(upper - centre, centre - lower) + fabsf(centre) * CENTRED_SHARE;
    const float half = furthest * CENTRED_GROWTH + CENTRED_LEAST_HALF;
    return fabsf(centre) + half <= MOST_CENTRED ? half : __int_as_float(0x7f800000);
}
__device__ __forceinline__ CentredBox centred(const Aabb& box) {
    const float3 c = centre(box);
    return {c, make_float3(half_about(c.x, box.lower.x, box.upper.x), half_about(c.y, box.lower.y, box.upper.y),
                           half_about(c.z, box.lower.z, box.upper.z))};
}

// One child's box (`side` 0 or 1), and the places of both.
__device__ __forceinline__ void store_bvh2_child(float4* bvh2, int node_id, int side, const Aabb& box) {
    const CentredBox stored = centred(box);
    float4* at = bvh2 + 4 * (int64)node_id;
    at[side] = make_float4(stored.centre.x, stored.half.x, stored.centre.y, stored.half.y);
    ((float2*)(at + 2))[side] = make_float2(stored.centre.z, stored.half.z);
}
__device__ __forceinline__ void store_bvh2_links(float4* bvh2, int node_id, int left, int right) {
    bvh2[4 * (int64)node_id + 3] = make_float4(__int_as_float(left), __int_as_float(right), 0.0f, 0.0f);
}
// The same as four words of 16 bytes, in their order.
__device__ __forceinline__ void pack_bvh2_node(const Aabb& left_box, int left, const Aabb& right_box, int right,
                                               float4 (&parts)[4]) {
    const CentredBox a = centred(left_box), b = centred(right_box);
    parts[0] = make_float4(a.centre.x, a.half.x, a.centre.y, a.half.y);
    parts[1] = make_float4(b.centre.x, b.half.x, b.centre.y, b.half.y);
    parts[2] = make_float4(a.centre.z, a.half.z, b.centre.z, b.half.z);
    parts[3] = make_float4(__int_as_float(left), __int_as_float(right), 0.0f, 0.0f);
}
__device__ __forceinline__ void store_bvh2_node(float4* bvh2, int node_id, const Aabb& left_box, int left,
                                                const Aabb& right_box, int right) {
    store_bvh2_child(bvh2, node_id, 0, left_box);
    store_bvh2_child(bvh2, node_id, 1, right_box);
    store_bvh2_links(bvh2, node_id, left, right);
}
