// Traverses a kd-tree with a stack of all the cells that wait: the side where a ray comes from first, then the other,
// and an end at the leaf in which the hit lies. A pack goes where any of its rays goes; one with mixed signs is
// traversed octant by octant, idle lanes are legal.
//
// Both children are fetched before the plane is met, so that a step waits for memory or for arithmetic but not for one
// after the other; a cell that waits has its node's words with it.
//
// Unit constant: STACK_DEPTH, a proven bound of the cells that wait (one per level).
#pragma once
#include "gpu/hierarchy/kdtree/traversals/kd_cells.cuh"

struct FullStack {
    static constexpr bool LANES_GO_ALONE = true;  // a plane's near side is the same for all rays of an octant
    KdArrays arrays;
};

// What on_node is told of a cell that waits, where it needs that.
struct CellPlace {
    int node_id, depth;
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_full_stack(const KdArrays& tree, int signs, const Primitives& primitives,
                                                    Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    WaitingCell waiting[STACK_DEPTH];
    CellPlace places[NEEDS_LANES<OnNode> ? STACK_DEPTH : 1];
    typename MailboxesOf<GOES_ALONE<OnNode>>::Type mailboxes;
    mailboxes.clear();
    Crossings crossings;
    crossings.signs = signs;
    Real entry, exit;
    Mask lanes = enter_root(tree.box, rays, crossings, entry, exit);
    CellPlace here = {0, 0};
    int waiting_count = 0;
    int2 node = tree.nodes[0];
    while (any(lanes)) {
        while (!is_kd_leaf(node)) {
            tell_node(on_node, here.node_id, here.depth, lanes, entry);
            const KdChildren children = load_kd_children(tree.nodes, kd_left(node));
            const int axis = kd_axis(node);
            const bool is_down = crossings.is_down(axis);
            Real early, late;
            crossings.at(axis, kd_plane(node), early, late);
            const Mask first = lanes & (entry <= late), second = lanes & (exit >= early);
            const int2 near_node = is_down ? children.right : children.left,
                       far_node = is_down ? children.left : children.right;
            const int near_id = kd_left(node) + (is_down ? 1 : 0), far_id = kd_left(node) + (is_down ? 0 : 1);
            ++here.depth;
            tell_sides(on_node, kd_left(node), is_down, entry, early, lanes, first, second, rays);
            if (any(first)) {
                if (any(second)) {
                    check_stack(waiting_count, STACK_DEPTH);
                    if (NEEDS_LANES<OnNode>) places[waiting_count] = {far_id, here.depth};
                    waiting[waiting_count++] = {far_node, max(entry, early),
                                                IS_SINGLE_RAY ? exit : select(second, exit, splat(-FLOAT_MAX))};
                }
                node = near_node;
                here.node_id = near_id;
                exit = min(exit, late);
                lanes = first;
            } else {
                node = far_node;
                here.node_id = far_id;
                entry = max(entry, early);
                lanes = second;
            }
        }
        tell_leaf(on_node, here.node_id, here.node_id, here.depth, lanes, entry);
        if (!visit_kd_leaf_of(lanes, tree, node, mailboxes, primitives, rays, on_primitive, on_node)) return;
        lanes = splat_mask(false);
        while (waiting_count > 0 && !any(lanes)) {
            const WaitingCell cell = waiting[--waiting_count];
            node = cell.node;
            entry = cell.entry;
            exit = min(cell.exit, rays.t_max);
            lanes = rays.active & (entry <= exit);
            if (NEEDS_LANES<OnNode>) here = places[waiting_count];
            tell_popped_cell(on_node, here.node_id, entry, lanes, rays);
        }
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const FullStack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    by_octants(rays,
               [&](int signs) { traverse_full_stack(tree.arrays, signs, primitives, rays, on_primitive, on_node); });
}
