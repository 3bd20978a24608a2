// The walk of binary nodes with a stack: down to a leaf, nearer child first, then the leaf's primitives, then the next that waits (while-while, Aila
// and Laine 2009). A pack goes where any of its rays goes; packs with mixed signs and idle lanes are legal.
//
// A tree says how its nodes lie: enter(child, slabs, rays) gives a Bvh2Pair, node_id and leaf_id are what on_node is told, visit hands a
// leaf's primitives over and says whether any ray goes on. An inner child is no negative number, EMPTY_CHILD and leaves are.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (one a level); STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/traversals/centred_slabs.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

// Both children of a node, and where the lanes enter them.
struct Bvh2Pair {
    int left_child, right_child;
    Mask left, right;
    Real left_entry, right_entry;
};

template <class Tree, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_pairs(const Tree& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    const CentredSlabs slabs = make_centred_slabs(rays);
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, OnNode::IS_ASKED> waiting;
    waiting.count = 0;
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            on_node(tree.node_id(child), depth, false, lanes, 2);
            const auto [left_child, right_child, left, right, left_entry, right_entry] = tree.enter(child, slabs, rays);
            const bool enters_left = any(left), enters_right = any(right);
            ++depth;
            if (enters_left && enters_right) {
                const bool is_right_first = is_second_nearer(left, right, left_entry, right_entry);
                waiting.push(is_right_first ? left_child : right_child, depth, is_right_first ? left_entry : right_entry, is_right_first ? left : right);
                child = is_right_first ? right_child : left_child;
                lanes = is_right_first ? right : left;
            } else if (enters_left || enters_right) {
                child = enters_left ? left_child : right_child;
                lanes = enters_left ? left : right;
            } else {
                child = waiting.pop(rays, depth, lanes);
            }
        }
        if (child == EMPTY_CHILD) break;
        on_node(tree.leaf_id(child), depth, true, lanes);
        if (!tree.visit(child, primitives, rays, on_primitive)) break;
        child = waiting.pop(rays, depth, lanes);
    }
}
