// An octree over points as kernels read it (point_tree.py).
#pragma once
#include "gpu/device/checks.cuh"

constexpr int MAX_DEPTH = 21;
// Words of `counts`.
constexpr int TREE_NODES_NOW = 0, POINTS_NOW = 1, DROPPED_NOW = 2, DEPTHS_NOW = 3, CHAINS_NOW = 4, LEAVES_NOW = 5,
              OVERFLOW_NOW = 6, NEEDED_NOW = 7, TREE_COUNT_WORDS = 8;
// OVERFLOW_NOW: the nodes do not fit; there are none then, and NEEDED_NOW says how many there would have been.
constexpr int TREE_FULL = 1;

// Nodes are in order of depth, those of a depth along the Z-order: siblings are neighbours, node 0 is the root. The
// points below a node are `point_count` from `first_point` on.
struct PointTreeView {
    Pointer<const float4> points;  // x, y, z, value, along the Z-order
    Pointer<const int> order;  // number of the point as handed in
    Pointer<const uint64> codes;  // of the points, 3 bits a level, `bits` levels
    Pointer<const float4> root;  // lower corner of the cube and its side
    Pointer<const int> counts;
    Pointer<const uint64> code;  // of the node's cell, 3 bits a level
    Pointer<const int> level;  // the cell's side is the root's over 2^level
    Pointer<const int> parent;  // -1 of the root
    Pointer<const int> first_child;  // -1 of a leaf
    Pointer<const int> child_count;
    Pointer<const int> first_point;
    Pointer<const int> point_count;
    Pointer<const int> depth_first;  // nodes of depth d: depth_first[d] .. depth_first[d + 1]
    int bits, capacity;
};
static_assert(sizeof(PointTreeView) == 112, "point_tree.py lays this struct out");
