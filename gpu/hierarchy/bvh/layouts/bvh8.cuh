// The 8-wide layout in full precision: the children that collapse.cu chose, in slots by direction (octant_slots.cuh).
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0           32          64          96          128         160         192           224         256
//        | lower.x[8] | upper.x[8] | lower.y[8] | upper.y[8] | lower.z[8] | upper.z[8] | children[8] | unused[8] |
// An unused slot holds an inverted box and EMPTY_CHILD. Inner children are indices of this layout; the root is node 0.
struct Bvh8Node {
    float planes[6][8];
    int children[8];
    int unused[8];
};
static_assert(sizeof(Bvh8Node) == 256, "drawn above; bvh8.py reads it");
