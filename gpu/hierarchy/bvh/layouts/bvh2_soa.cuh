// The binary layout as a structure of arrays: what rays read of a bvh2 node lies in three arrays of 16 bytes
// a node, to compare.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

//  array 0      : centre.x0 .y0 .z0 left   of node 0, node 1, ...
//  array 1      : centre.x1 .y1 .z1 right
//  array 2      : half.xy0 half.z0 half.xy1 half.z1
// `capacity` nodes an array; a node's index is its canonical id.
constexpr int SOA_ARRAYS = BVH2_FETCHED;
