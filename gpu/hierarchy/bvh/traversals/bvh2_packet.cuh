// Traverses bvh2 nodes by the rays of a warp together, where they begin at one place and are close to each other, as a
// perspective camera's: lanes test different nodes (packet_traversal.cuh). Other rays, those whose first hit is enough,
// those that go on from a hit, and those of which steps are asked go one by one (bvh2_stack.cuh). On a CPU packs are
// packets already.
// from gpu.hierarchy.bvh.layouts import NodesAndRoot
#pragma once
#include "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh"
#include "gpu/hierarchy/bvh/traversals/packet_traversal.cuh"

struct Bvh2Packet : Bvh2Stack {
    // Of one child, 0 or 1: nothing where the beam does not enter it.
    __device__ __forceinline__ void enter_by_beam(int node, int side, const Beam& beam, int& child,
                                                  float& entry) const {
        const float4* at = fetched_from(node);
        const float4 centre = at[side];
        const float2 halves = as<const float2>(at + 2)[side];
        float entered;
        if (!beam.enter_centred(make_float3(centre.x, centre.y, centre.z), unpack_halves(halves.x, halves.y), entered))
            return;
        child = __float_as_int(centre.w);
        entry = entered;
    }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2Packet& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if constexpr (!IS_SINGLE_RAY) traverse_pairs(tree, primitives, rays, on_primitive, on_node);
    else if constexpr (OnPrimitive::IS_ANY_ENOUGH || IS_FOR_SCATTERED<OnPrimitive> || NEEDS_LANES<OnNode>)
        traverse_by_steps(tree, primitives, rays, on_primitive, on_node);
    else traverse_by_packets(tree, primitives, rays, on_primitive, on_node);
}
