// Traverses bvh8 nodes one ray at a time: children in the order of their slots' directions, one word per level waiting
// (octant_groups.cuh). A pack is traversed lane by lane, with all eight children of a node in its lanes: for rays that
// are incoherent. Any pack is legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (seven a level).
// from gpu.hierarchy.bvh.layouts import NodesAndRoot
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh8.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

struct Bvh8Nodes {
    static constexpr int STACK = (STACK_DEPTH + 6) / 7 < 64 ? 64 : (STACK_DEPTH + 6) / 7;
    static constexpr bool MOVES_PLANES = true;

    Pointer<const float4> nodes;
    Pointer<const int> root;

    __device__ int root_word() const { return root[0]; }
    __device__ const Bvh8Node* at(int index) const { return &as<const Bvh8Node>(nodes)[index]; }
    __device__ unsigned enter(int index, const OneRay& ray) const { return enter_rows(&at(index)->planes[0][0], ray); }
    __device__ int child(int index, int slot) const { return at(index)->children[slot]; }
    __device__ unsigned slots(int index) const {
        unsigned used = 0;
        for (int slot = 0; slot < WIDE_SLOTS; ++slot) used |= (child(index, slot) != EMPTY_CHILD) << slot;
        return used;
    }
    __device__ Aabb box(int index, int slot) const {
        const float* at = planes(index) + slot;
        return {make_float3(at[0], at[2 * WIDE_SLOTS], at[4 * WIDE_SLOTS]),
                make_float3(at[WIDE_SLOTS], at[3 * WIDE_SLOTS], at[5 * WIDE_SLOTS])};
    }
    __device__ const float* planes(int index) const { return &at(index)->planes[0][0]; }
    __device__ const int* children(int index) const { return at(index)->children; }
};

struct Bvh8Single : NodesAndRoot {};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh8Single& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if (any(rays.active))
        traverse_lane_by_lane(Bvh8Nodes{tree.nodes, tree.root}, primitives, rays, on_primitive, on_node);
}
