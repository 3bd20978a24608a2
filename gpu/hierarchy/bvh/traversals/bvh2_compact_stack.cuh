// Walks bvh2_compact nodes with a stack, as Aila and Laine's kernels do (2009): links are added to the node array as they are, and a leaf's
// references are met until the list says that it ends. A pack goes where any of its rays goes; packs with mixed signs and idle lanes are legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (one a level); STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_compact.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh"

struct Bvh2CompactStack {
    const float4* nodes;
    const int* root;
    const int* lists;
};

// Hand a list's references to on_primitive; false when no ray goes on.
template <class Primitives, class OnPrimitive>
__device__ __forceinline__ bool visit_list(const int* lists, int at, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive) {
    int entry;
    do {
        entry = lists[at++];
        on_primitive(rays, primitives.intersect(entry < 0 ? ~entry : entry, rays));
    } while (entry >= 0);
    return any(rays.active);
}

template <bool AGREES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void walk_compact(const Bvh2CompactStack& tree, const Slabs& slabs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                             OnNode& on_node) {
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, OnNode::IS_ASKED> waiting;
    waiting.count = 0;
    int link = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    while (link != EMPTY_CHILD) {
        while (link >= 0) {
            on_node(link >> 2, depth, false, lanes, 2);
            const auto [left_link, right_link, left, right, left_entry, right_entry] = enter_bvh2_children<AGREES>(tree.nodes + link, slabs, rays);
            const bool enters_left = any(left), enters_right = any(right);
            ++depth;
            if (enters_left && enters_right) {
                const bool is_right_first = is_second_nearer(left, right, left_entry, right_entry);
                waiting.push(is_right_first ? left_link : right_link, depth, is_right_first ? left_entry : right_entry, is_right_first ? left : right);
                link = is_right_first ? right_link : left_link;
                lanes = is_right_first ? right : left;
            } else if (enters_left || enters_right) {
                link = enters_left ? left_link : right_link;
                lanes = enters_left ? left : right;
            } else {
                link = waiting.pop(rays, depth, lanes);
            }
        }
        if (link == EMPTY_CHILD) break;
        on_node(~link, depth, true, lanes);
        if (!visit_list(tree.lists, ~link, primitives, rays, on_primitive)) break;
        link = waiting.pop(rays, depth, lanes);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2CompactStack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    bool agrees;
    const Slabs slabs = make_slabs(rays, agrees);
    if (PACK == 1 || agrees) {
        walk_compact<true>(tree, slabs, primitives, rays, on_primitive, on_node);
    } else {
        walk_compact<false>(tree, slabs, primitives, rays, on_primitive, on_node);
    }
}
