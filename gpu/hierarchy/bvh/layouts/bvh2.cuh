// The binary layout: a node holds its two children's boxes and places, so that a traversal decides about both with one
// fetch (Aila and Laine 2009).
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0                        16                        32                                  48           64
//        | centre.x0 .y0 .z0 left | centre.x1 .y1 .z1 right | half.xy0 half.z0 half.xy1 half.z1 | unused zeros |
// 0 is the left child, 1 the right one. A node's index is its canonical id. A box is kept as its centre and half of its
// extent, rounded so that it holds the box that was given: traversals need no minimum and maximum of two planes then
// (docs/decisions/centre-and-half-extent.md has the proof). Halves along x and y share a word, 16 bits each (the upper
// ones of a float, rounded up), x in the lower ones: so traversals read 48 bytes, as many as of a triangle's record,
// and links come with boxes. Nodes stay 64 bytes apart, and are written whole: of those 48 apart builds and refits
// leave sectors of 32 bytes half written (docs/performance/rays.md). An empty box (only inactive primitives below) has
// halves of minus infinity, which no ray enters.
struct Bvh2Node {
    float left_centre[3];
    int left;
    float right_centre[3];
    int right;
    unsigned left_half_xy;
    float left_half_z;
    unsigned right_half_xy;
    float right_half_z;
    int unused[4];
};
static_assert(sizeof(Bvh2Node) == 64, "drawn above; bvh2.py reads it");
constexpr int BVH2_FLOAT4S = 4;
constexpr int BVH2_FETCHED = 3;  // float4s of them that traversals read

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

// Halves along x and y in one word. What is added before the lower bits go makes no half of 0 or more
// smaller, and infinite ones of either sign no other; there are no others, nor NaN (half_about).
__device__ __forceinline__ float pack_halves(float x, float y) {
    const unsigned lower = (unsigned)__float_as_int(x) + 0xffffu, upper = (unsigned)__float_as_int(y) + 0xffffu;
    return __int_as_float((int)(lower >> 16 | (upper & 0xffff0000u)));
}
__device__ __forceinline__ float3 unpack_halves(float xy, float z) {
    const unsigned word = (unsigned)__float_as_int(xy);
    return make_float3(__int_as_float((int)(word << 16)), __int_as_float((int)(word & 0xffff0000u)), z);
}

__device__ __forceinline__ float4 pack_centre(const CentredBox& box, int child) {
    return make_float4(box.centre.x, box.centre.y, box.centre.z, __int_as_float(child));
}

// One child's place and box (`side` 0 or 1), and half of what is unused.
__device__ __forceinline__ void store_bvh2_child(float4* bvh2, int node_id, int side, const Aabb& box, int child) {
    const CentredBox stored = centred(box);
    float4* at = bvh2 + BVH2_FLOAT4S * (int64)node_id;
    at[side] = pack_centre(stored, child);
    ((float2*)(at + 2))[side] = make_float2(pack_halves(stored.half.x, stored.half.y), stored.half.z);
    ((float2*)(at + 3))[side] = make_float2(0.0f, 0.0f);
}
// Places alone: boxes are there, or others write them.
__device__ __forceinline__ void store_bvh2_link(float4* bvh2, int node_id, int side, int child) {
    ((int*)(bvh2 + BVH2_FLOAT4S * (int64)node_id + side))[3] = child;
}
__device__ __forceinline__ void store_bvh2_links(float4* bvh2, int node_id, int left, int right) {
    store_bvh2_link(bvh2, node_id, 0, left);
    store_bvh2_link(bvh2, node_id, 1, right);
}
// A node as words of 16 bytes, in their order.
__device__ __forceinline__ void pack_bvh2_node(const Aabb& left_box, int left, const Aabb& right_box, int right,
                                               float4 (&parts)[BVH2_FLOAT4S]) {
    const CentredBox a = centred(left_box), b = centred(right_box);
    parts[0] = pack_centre(a, left);
    parts[1] = pack_centre(b, right);
    parts[2] = make_float4(pack_halves(a.half.x, a.half.y), a.half.z, pack_halves(b.half.x, b.half.y), b.half.z);
    parts[3] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
__device__ __forceinline__ void store_bvh2_node(float4* bvh2, int node_id, const Aabb& left_box, int left,
                                                const Aabb& right_box, int right) {
    float4 parts[BVH2_FLOAT4S];
    pack_bvh2_node(left_box, left, right_box, right, parts);
    for (int i = 0; i < BVH2_FLOAT4S; ++i) bvh2[BVH2_FLOAT4S * (int64)node_id + i] = parts[i];
}
