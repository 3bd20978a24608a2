// What the kernels of expansions know of a cell of the tree: the centre of the masses below it, how far they lie from
// there at most, and a row of terms. ORDER comes with the unit.
#pragma once
#include "gpu/hierarchy/octree/point_tree.cuh"
#include "gpu/nbody/expansion.cuh"
#include "gpu/device/warp_stride.cuh"

constexpr int TERMS = terms_to(ORDER);
constexpr int ROW = (TERMS + 3) / 4 * 4;  // numbers of a row, so that rows are read in fours

__device__ __forceinline__ float3 place_of(float4 centre) { return make_float3(centre.x, centre.y, centre.z); }

// Nodes [first, first + count) have `depth` ancestors.
struct Depth {
    int first, count;
};
__device__ __forceinline__ Depth depth_of(const PointTreeView& tree, int depth) {
    return {tree.depth_first[depth], tree.depth_first[depth + 1] - tree.depth_first[depth]};
}
