// The 4-wide layout: a canonical node and those of its children that are collapsed become one node of up to four
// children (single absorption, after the wide trees of Wald et al. 2008 and Ernst and Greiner 2008).
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0           16          32          48          64          80          96             112           128
//        | lower.x[4] | upper.x[4] | lower.y[4] | upper.y[4] | lower.z[4] | upper.z[4] | children[4] | unused[4] |
// An unused place holds an inverted box and EMPTY_CHILD. Inner children are indices of this layout; the root is node 0.
struct Bvh4Node {
    float4 planes[6];
    int children[4];
    int unused[4];
};
static_assert(sizeof(Bvh4Node) == 128, "drawn above; bvh4.py reads it");

constexpr int BVH4_CHILDREN = 24;  // children[0], counted in words
