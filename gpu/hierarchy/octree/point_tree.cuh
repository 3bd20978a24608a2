// An octree over points as kernels read it: PointTreeView. Nodes are in order of depth, those of a depth along the
// Z-order: siblings are neighbours, node 0 is the root (point_tree.py).
// from gpu.hierarchy.octree.point_tree import MAX_DEPTH, TREE_COUNTS, TREE_FULL, PointTreeView
#pragma once
#include "gpu/device/checks.cuh"
