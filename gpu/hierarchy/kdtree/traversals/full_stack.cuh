// Walks a kd-tree with a stack of all the cells that wait: the side where a ray comes from first, then the other, and an end at the leaf in which the
// hit lies. A pack goes where any of its rays goes; one with mixed signs is walked octant by octant, idle lanes are legal.
//
// Unit constant: STACK_DEPTH, a proven bound of the cells that wait (one a level).
#pragma once
#include "gpu/hierarchy/kdtree/traversals/cells.cuh"

struct FullStack {
    KdArrays arrays;
};

template <bool KEEPS_DEPTHS> struct WaitingCells {
    int nodes[STACK_DEPTH];
    int depths[KEEPS_DEPTHS ? STACK_DEPTH : 1];
    Real entries[STACK_DEPTH], exits[STACK_DEPTH];
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void walk_full_stack(const KdArrays& tree, int signs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                OnNode& on_node) {
    WaitingCells<OnNode::IS_ASKED> waiting;
    Mailboxes mailboxes;
    mailboxes.clear();
    Crossings crossings;
    crossings.signs = signs;
    Real entry, exit;
    Mask lanes = enter_root(tree.box, rays, crossings, entry, exit);
    int node_id = 0, depth = 0, waiting_count = 0;
    while (any(lanes)) {
        int2 node = tree.nodes[node_id];
        while (!is_kd_leaf(node)) {
            on_node(node_id, depth, false, lanes);
            const int axis = kd_axis(node), is_down = crossings.is_down(axis) ? 1 : 0;
            Real early, late;
            crossings.at(axis, kd_plane(node), early, late);
            const Mask first = lanes & (entry <= late), second = lanes & (exit >= early);
            const int left = kd_left(node);
            ++depth;
            if (any(first)) {
                if (any(second)) {
                    waiting.nodes[waiting_count] = left + 1 - is_down;
                    if (OnNode::IS_ASKED) waiting.depths[waiting_count] = depth;
                    waiting.entries[waiting_count] = max(entry, early);
                    waiting.exits[waiting_count++] = PACK == 1 ? exit : select(second, exit, splat(-FLOAT_MAX));
                }
                node_id = left + is_down;
                exit = min(exit, late);
                lanes = first;
            } else {
                node_id = left + 1 - is_down;
                entry = max(entry, early);
                lanes = second;
            }
            node = tree.nodes[node_id];
        }
        on_node(node_id, depth, true, lanes);
        if (!visit_kd_leaf(tree, node, mailboxes, primitives, rays, on_primitive)) return;
        lanes = splat_mask(false);
        while (waiting_count > 0 && !any(lanes)) {
            --waiting_count;
            entry = waiting.entries[waiting_count];
            exit = min(waiting.exits[waiting_count], rays.t_max);
            lanes = rays.active & (entry <= exit);
            node_id = waiting.nodes[waiting_count];
            if (OnNode::IS_ASKED) depth = waiting.depths[waiting_count];
        }
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const FullStack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays, [&](int signs) { walk_full_stack(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
