// The binary layout: a node holds its two children's boxes and places, so that a walk decides about both with one fetch (Aila and Laine 2009).
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0                                 16                                32                                48                     64
//        | lower.x0 upper.x0 lower.y0 upper.y0 | lower.x1 upper.x1 lower.y1 upper.y1 | lower.z0 upper.z0 lower.z1 upper.z1 | left right unused unused |
// 0 is the left child, 1 the right one. A node's index is its canonical id. A walk that knows the ray's signs reads near planes at + sign.
// An empty box (only inactive primitives below) is stored as a point far away, so that a walk may take any box for upright.
struct Bvh2Node {
    float4 xy[2];
    float4 z;
    int left, right, unused[2];
};
static_assert(sizeof(Bvh2Node) == 64, "drawn above; bvh2.py reads it");

constexpr float FAR_AWAY = 1e30f;

// One child's box (`side` 0 or 1), and the places of both.
__device__ __forceinline__ void store_bvh2_child(float4* bvh2, int node_id, int side, Aabb box) {
    if (is_empty(box)) box.lower = box.upper = make_float3(FAR_AWAY, FAR_AWAY, FAR_AWAY);
    float4* at = bvh2 + 4 * (int64)node_id;
    at[side] = make_float4(box.lower.x, box.upper.x, box.lower.y, box.upper.y);
    ((float2*)(at + 2))[side] = make_float2(box.lower.z, box.upper.z);
}
__device__ __forceinline__ void store_bvh2_links(float4* bvh2, int node_id, int left, int right) {
    bvh2[4 * (int64)node_id + 3] = make_float4(__int_as_float(left), __int_as_float(right), 0.0f, 0.0f);
}
__device__ __forceinline__ void store_bvh2_node(float4* bvh2, int node_id, Aabb left_box, int left, Aabb right_box, int right) {
    const float3 far_away = make_float3(FAR_AWAY, FAR_AWAY, FAR_AWAY);
    if (is_empty(left_box)) left_box = {far_away, far_away};
    if (is_empty(right_box)) right_box = {far_away, far_away};
    float4* at = bvh2 + 4 * (int64)node_id;
    at[0] = make_float4(left_box.lower.x, left_box.upper.x, left_box.lower.y, left_box.upper.y);
    at[1] = make_float4(right_box.lower.x, right_box.upper.x, right_box.lower.y, right_box.upper.y);
    at[2] = make_float4(left_box.lower.z, left_box.upper.z, right_box.lower.z, right_box.upper.z);
    at[3] = make_float4(__int_as_float(left), __int_as_float(right), 0.0f, 0.0f);
}
