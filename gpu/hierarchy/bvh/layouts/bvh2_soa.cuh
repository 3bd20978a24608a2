// The binary layout as a structure of arrays: what a bvh2 node holds in 64 bytes lies in four arrays of 16 bytes a node, to compare.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

//  array 0      : lower.x0 upper.x0 lower.y0 upper.y0   of node 0, node 1, ...
//  array 1      : lower.x1 upper.x1 lower.y1 upper.y1
//  array 2      : lower.z0 upper.z0 lower.z1 upper.z1
//  array 3      : left right unused unused
// `capacity` nodes an array; a node's index is its canonical id.
constexpr int SOA_ARRAYS = 4;
