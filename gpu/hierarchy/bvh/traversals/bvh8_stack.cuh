// Walks bvh8 nodes with a stack. A pack goes where any of its rays goes, first to the child that most of its rays enter first; where few of its rays go
// together, and in packs with mixed signs, its rays go on in turn, each its own way (rays_in_turn.cuh). A single ray walks as bvh8_single does. Idle lanes
// are legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (seven a level); STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/traversals/bvh8_single.cuh"
#include "gpu/hierarchy/bvh/traversals/rays_in_turn.cuh"

struct Bvh8Stack {
    const float4* nodes;
    const int* root;
};
template <class OnNode> using Bvh8Waiting = WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, true>;


// So few rays of a pack go on one by one, as in Embree's hybrid walk (Wald, Woop, Benthin, Johnson and Ernst 2014).
constexpr int FEW_RAYS = PACK / 8;

template <bool AGREES> __device__ __forceinline__ Mask enter_bvh8_child(const float* planes, const Slabs& slabs, const Rays& rays, Real& entry) {
    if constexpr (AGREES) {
        return enter_planes(slabs, rays, splat(planes[8 * slabs.sign_x]), splat(planes[16 + 8 * slabs.sign_y]), splat(planes[32 + 8 * slabs.sign_z]),
                            splat(planes[8 - 8 * slabs.sign_x]), splat(planes[24 - 8 * slabs.sign_y]), splat(planes[40 - 8 * slabs.sign_z]), entry);
    } else {
        return enter_box(slabs, rays, make_float3(planes[0], planes[16], planes[32]), make_float3(planes[8], planes[24], planes[40]), entry);
    }
}

// The child to go on with, the others that some ray enters pushed; EMPTY_CHILD if none is entered. Slots are met in the order of `octant`, so that
// the first is mostly the nearest.
template <bool AGREES, class Waiting>
__device__ __forceinline__ int next_of_eight(const Bvh8Node* node, int octant, const Slabs& slabs, const Rays& rays, int depth, Waiting& waiting, Mask& lanes) {
    int next = EMPTY_CHILD;
    Real next_entry = rays.t_max;
    for (int turn = 7; turn >= 0; --turn) {
        const int slot = turn ^ octant, child = node->children[slot];
        if (child == EMPTY_CHILD) continue;
        Real entry;
        const Mask enters = enter_bvh8_child<AGREES>(&node->planes[0][slot], slabs, rays, entry);
        if (!any(enters)) continue;
        if (next == EMPTY_CHILD || is_second_nearer(lanes, enters, next_entry, entry)) {
            if (next != EMPTY_CHILD) waiting.push(next, depth, next_entry, lanes);
            next = child;
            next_entry = entry;
            lanes = enters;
        } else {
            waiting.push(child, depth, entry, enters);
        }
    }
    return next;
}

// Lanes that go each their own way, from an inner node.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void walk_apart(const Bvh8Stack& tree, int node, unsigned which, const Slabs& slabs, const Primitives& primitives, Rays& rays,
                                           OnPrimitive& on_primitive, OnNode& on_node) {
    const Bvh8Nodes nodes = {tree.nodes, &node};
    if constexpr (GOES_IN_TURN && !OnNode::IS_ASKED) {
        walk_in_turn(nodes, node, which, slabs, primitives, rays, on_primitive);
    } else {
        walk_these_lanes(nodes, which, slabs, primitives, rays, on_primitive, on_node);
    }
}

template <bool AGREES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void walk_bvh8(const Bvh8Stack& tree, const Slabs& slabs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                          OnNode& on_node) {
    Bvh8Waiting<OnNode> waiting;
    waiting.count = 0;
    const int octant = slabs.sign_x | slabs.sign_y << 1 | slabs.sign_z << 2;
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            if (__popc(mask_bits(lanes)) <= FEW_RAYS) {
                walk_apart(tree, child, mask_bits(lanes), slabs, primitives, rays, on_primitive, on_node);
                if (!any(rays.active)) return;
                child = waiting.pop(rays, depth, lanes);
                continue;
            }
            on_node(child, depth, false, lanes, WIDE_SLOTS);
            ++depth;
            child = next_of_eight<AGREES>((const Bvh8Node*)tree.nodes + child, octant, slabs, rays, depth, waiting, lanes);
            if (child == EMPTY_CHILD) child = waiting.pop(rays, depth, lanes);
        }
        if (child == EMPTY_CHILD) break;
        on_node(first_reference(child), depth, true, lanes);
        if (!visit_leaf(child, primitives, rays, on_primitive)) break;
        child = waiting.pop(rays, depth, lanes);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh8Stack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    if constexpr (PACK == 1) {
        walk_lane_by_lane(Bvh8Nodes{tree.nodes, tree.root}, primitives, rays, on_primitive, on_node);
    } else {
        bool agrees;
        const Slabs slabs = make_slabs(rays, agrees);
        if (!agrees && GOES_IN_TURN && !OnNode::IS_ASKED && !is_leaf(tree.root[0])) {
            walk_apart(tree, tree.root[0], mask_bits(rays.active), slabs, primitives, rays, on_primitive, on_node);
        } else if (agrees) {
            walk_bvh8<true>(tree, slabs, primitives, rays, on_primitive, on_node);
        } else {
            walk_bvh8<false>(tree, slabs, primitives, rays, on_primitive, on_node);
        }
    }
}
