// The binary layout as a structure of arrays: what a bvh2 node holds in 64 bytes lies in four arrays of 16 bytes a
// node, to compare.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

//  array 0      : centre.x0 half.x0 centre.y0 half.y0   of node 0, node 1, ...
//  array 1      : centre.x1 half.x1 centre.y1 half.y1
//  array 2      : centre.z0 half.z0 centre.z1 half.z1
//  array 3      : left right unused unused
// `capacity` nodes an array; a node's index is its canonical id.
constexpr int SOA_ARRAYS = 4;
