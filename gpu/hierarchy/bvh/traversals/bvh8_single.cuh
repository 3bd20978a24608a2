// Walks bvh8 nodes a ray at a time: children in the order of their slots' directions, one word a level waiting (octant_groups.cuh). A pack is walked
// lane by lane, with all eight children of a node in its lanes: for rays that go each their own way. Any pack is legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (seven a level).
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh8.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

struct Bvh8Nodes {
    static constexpr int STACK = (STACK_DEPTH + 6) / 7 < 64 ? 64 : (STACK_DEPTH + 6) / 7;
    static constexpr bool MOVES_PLANES = true;

    const float4* nodes;
    const int* root;

    __device__ int root_word() const { return root[0]; }
    __device__ const Bvh8Node* at(int index) const { return (const Bvh8Node*)nodes + index; }
    __device__ unsigned enter(int index, const OneRay& ray) const { return enter_rows(&at(index)->planes[0][0], ray); }
    __device__ int child(int index, int slot) const { return at(index)->children[slot]; }
    __device__ const float* planes(int index) const { return &at(index)->planes[0][0]; }
    __device__ const int* children(int index) const { return at(index)->children; }
};

struct Bvh8Single {
    const float4* nodes;
    const int* root;
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh8Single& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (any(rays.active)) walk_lane_by_lane(Bvh8Nodes{tree.nodes, tree.root}, primitives, rays, on_primitive, on_node);
}
