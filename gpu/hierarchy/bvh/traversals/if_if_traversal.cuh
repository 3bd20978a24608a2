// The traversal of binary nodes by single rays: each step of a ray takes a node or one primitive, whichever comes next,
// and both are fetched in one place.
//
// A warp's lanes reach their leaves at different times. In a loop within a loop (while-while, Aila and Laine 2009;
// binary_traversal.cuh) all wait for the one that looks longest for its next leaf, leaf after leaf: on primary rays the
// longest warp, which a picture waits for, took three times the steps of its longest ray (docs/performance/kitchen.md).
// Here no lane waits for another one's kind of step (if-if, same paper), and what that costs, memory waited for twice a
// step, is saved by asking for nodes and records by the same loads.
//
// A tree says where a node begins (fetched_from), three float4s, and what its children are (enter_fetched). Records say
// how many float4s they are (FETCHED_FLOAT4S, 2 or 3), where they begin, and intersect what was fetched. The order of
// nodes and primitives is binary_traversal.cuh's. Unit constants: those of binary_traversal.cuh.
#pragma once
#include "gpu/hierarchy/bvh/traversals/binary_traversal.cuh"

// What a lane fetches for a step: 48 bytes of either kind.
struct Fetched {
    float4 a, b, c;
};

template <int RECORD_FLOAT4S>
__device__ __forceinline__ Fetched fetch(const float4* at, bool is_record) {
    static_assert(RECORD_FLOAT4S == 2 || RECORD_FLOAT4S == 3, "records are fetched as nodes are");
    Fetched fetched = {at[0], at[1], {}};
    if (RECORD_FLOAT4S == 3 || !is_record) fetched.c = at[2];
    return fetched;
}

// What lies below `child`, a node or a leaf.
template <class Tree, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_by_steps_from(int child, const Tree& tree, const Primitives& primitives,
                                                       Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    const CentredSlabs slabs = make_centred_slabs(rays);
    typename WaitingPairs<Tree, OnNode>::Places places;
    WaitingPairs<Tree, OnNode> waiting(places);
    int depth = 0, beyond = 0;  // beyond: what is left of a long leaf behind what its word says
    Mask lanes = rays.active;
    Real entry = rays.t_min;  // of `child`, where events are heard
    bool is_new_leaf = true;  // a leaf's word is what is left of it
    while (child != EMPTY_CHILD) {
        const bool is_record = is_leaf(child);
        const int reference = first_reference(child);
        const Fetched fetched = fetch<Primitives::FETCHED_FLOAT4S>(
            is_record ? primitives.fetched_from(reference) : tree.fetched_from(child), is_record);
        if (is_record) {
            if (is_new_leaf) tell_leaf(on_node, tree.leaf_id(child), Tree::event_id(child), depth, lanes, entry);
            if (LEAVES_MAY_BE_LONG<Primitives> && is_new_leaf)
                beyond = count_in_leaf(primitives, child) - reference_count(child);
            const Intersection found = primitives.intersect_fetched(fetched.a, fetched.b, fetched.c, reference, rays);
            tell_primitive(on_node, rays, found);
            on_primitive(rays, found);
            if (!any(rays.active)) return;
            is_new_leaf = is_one_reference(child);
            child = behind_first(child);
            if (LEAVES_MAY_BE_LONG<Primitives> && is_new_leaf && beyond > 0) {
                const int more = min(beyond, MAX_LEAF_REFERENCES);
                beyond -= more;
                child = leaf_child(reference + 1, more);
                is_new_leaf = false;
            }
            if (is_new_leaf) child = waiting.pop(on_node, rays, depth, lanes, entry);
        } else {
            tell_node(on_node, tree.node_id(child), depth, lanes, entry, 2);
            const Bvh2Pair pair = tree.enter_fetched(fetched.a, fetched.b, fetched.c, slabs, rays);
            tell_culled_pair<Tree>(on_node, pair, lanes, rays);
            const bool enters_left = any(pair.left), enters_right = any(pair.right);
            const bool is_right_nearer = is_second_nearer(pair.left, pair.right, pair.left_entry, pair.right_entry);
            const bool is_right_first = enters_right & (!enters_left | is_right_nearer);
            ++depth;
            if (enters_left & enters_right)
                waiting.push(on_node, is_right_first ? pair.left_child : pair.right_child, depth,
                             is_right_first ? pair.left_entry : pair.right_entry,
                             is_right_first ? pair.left : pair.right);
            child = is_right_first ? pair.right_child : pair.left_child;
            lanes = is_right_first ? pair.right : pair.left;
            entry = is_right_first ? pair.right_entry : pair.left_entry;
            if (!(enters_left | enters_right)) child = waiting.pop(on_node, rays, depth, lanes, entry);
        }
    }
}

template <class Tree, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_by_steps(const Tree& tree, const Primitives& primitives, Rays& rays,
                                                  OnPrimitive& on_primitive, OnNode& on_node) {
    traverse_by_steps_from(tree.root[0], tree, primitives, rays, on_primitive, on_node);
}
