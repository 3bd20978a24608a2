// The traversal of binary nodes with a stack: down to a leaf, nearer child first, then the leaf's primitives, then the
// next that waits (while-while, Aila and Laine 2009). A pack goes where any of its rays goes; packs with mixed signs
// and idle lanes are legal.
//
// A tree says how its nodes lie: enter(child, slabs, rays) gives a Bvh2Pair, node_id and leaf_id are what on_node is
// told, event_id what events call a child; visit hands a leaf's primitives over and says whether any ray goes on. An
// inner child is no negative number, EMPTY_CHILD and leaves are.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (one per level);
// STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/traversals/centred_slabs.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

// Both children of a node, and where the lanes enter them.
struct Bvh2Pair {
    int left_child, right_child;
    Mask left, right;
    Real left_entry, right_entry;
};

template <class Tree, class OnNode>
using WaitingPairs =
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, KEEPS_LANES_OF_WAITING<OnNode>, Tree>;

template <class Tree, class OnNode>
__device__ __forceinline__ void tell_culled_pair(OnNode& on_node, const Bvh2Pair& pair, Mask lanes, const Rays& rays) {
    tell_culled(on_node, Tree::event_id(pair.left_child), pair.left_entry, lanes & !pair.left, rays);
    tell_culled(on_node, Tree::event_id(pair.right_child), pair.right_entry, lanes & !pair.right, rays);
    if constexpr (IS_SINGLE_RAY) tell_children_told(on_node);
}

template <class Tree, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_pairs(const Tree& tree, const Primitives& primitives, Rays& rays,
                                               OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    const CentredSlabs slabs = make_centred_slabs(rays);
    typename WaitingPairs<Tree, OnNode>::Places places;
    WaitingPairs<Tree, OnNode> waiting(places);
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    Real entry = rays.t_min;  // of `child`, where events are heard
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            tell_node(on_node, tree.node_id(child), depth, lanes, entry, 2);
            const Bvh2Pair pair = tree.enter(child, slabs, rays);
            const auto [left_child, right_child, left, right, left_entry, right_entry] = pair;
            tell_culled_pair<Tree>(on_node, pair, lanes, rays);
            const bool enters_left = any(left), enters_right = any(right);
            ++depth;
            if (enters_left && enters_right) {
                const bool is_right_first = is_second_nearer(left, right, left_entry, right_entry);
                waiting.push(on_node, is_right_first ? left_child : right_child, depth,
                             is_right_first ? left_entry : right_entry, is_right_first ? left : right);
                child = is_right_first ? right_child : left_child;
                lanes = is_right_first ? right : left;
                entry = is_right_first ? right_entry : left_entry;
            } else if (enters_left || enters_right) {
                child = enters_left ? left_child : right_child;
                lanes = enters_left ? left : right;
                entry = enters_left ? left_entry : right_entry;
            } else {
                child = waiting.pop(on_node, rays, depth, lanes, entry);
            }
        }
        if (child == EMPTY_CHILD) break;
        tell_leaf(on_node, tree.leaf_id(child), Tree::event_id(child), depth, lanes, entry);
        if (!tree.visit(child, primitives, rays, on_primitive, on_node)) break;
        child = waiting.pop(on_node, rays, depth, lanes, entry);
    }
}
