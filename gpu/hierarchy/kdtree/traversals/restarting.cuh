// Traverses a kd-tree with a few of the cells that wait on a stack, or none (short_stack.cuh, restart.cuh): where the
// stack knows no more, the traversal starts again at the root (Foley and Sugerman 2005; the short stack is Horn et al.
// 2007).
//
// They find their way back by the distance that a ray has come, which does not grow for a ray that runs in a plane.
// Here two bits per level lead back (after the trail of Laine 2010): which side of each plane the traversal is on, and
// whether the other one is still to come. So it visits the cells that a full stack visits, in that order, whatever is
// rounded.
#pragma once
#include "gpu/hierarchy/kdtree/traversals/kd_cells.cuh"

template <int CAPACITY, bool KEEPS_IDS>
struct NewestCells {
    WaitingCell cells[CAPACITY > 0 ? CAPACITY : 1];
    int node_ids[CAPACITY > 0 && KEEPS_IDS ? CAPACITY : 1];
    int top = 0, count = 0;  // a ring: the oldest one gives way

    __device__ __forceinline__ void push(const WaitingCell& cell, int node_id) {
        if (CAPACITY == 0) return;
        top = top + 1 == CAPACITY ? 0 : top + 1;
        count = min(count + 1, CAPACITY);
        cells[top] = cell;
        if (KEEPS_IDS) node_ids[top] = node_id;
    }
    __device__ __forceinline__ bool pop(WaitingCell& cell, int& node_id) {
        if (CAPACITY == 0 || count == 0) return false;
        cell = cells[top];
        if (KEEPS_IDS) node_id = node_ids[top];
        top = top == 0 ? CAPACITY - 1 : top - 1;
        --count;
        return true;
    }
};

// `followed` levels are behind the traversal: there it takes the side it was on.
struct Trail {
    uint64 is_second, is_waiting;
    int depth, followed;

    __device__ __forceinline__ uint64 bit() const {
        check_stack(depth, 64);
        return 1ull << depth;
    }
    // Where to go on; false at the end.
    __device__ __forceinline__ bool back() {
        if (is_waiting == 0) return false;
        const int level = 63 - __clzll((int64)is_waiting);
        const uint64 bit = 1ull << level;
        is_waiting &= ~bit;
        is_second = (is_second & (bit - 1)) | bit;
        followed = level + 1;
        return true;
    }
};

template <int CAPACITY, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_restarting(const KdArrays& tree, int signs, const Primitives& primitives,
                                                    Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    NewestCells<CAPACITY, NEEDS_LANES<OnNode>> newest;
    Mailboxes mailboxes;
    mailboxes.clear();
    Crossings crossings;
    crossings.signs = signs;
    Real root_entry, root_exit;
    Mask lanes = enter_root(tree.box, rays, crossings, root_entry, root_exit);
    WaitingCell here = {tree.nodes[0], root_entry, root_exit};
    Trail trail = {0, 0, 0, 0};
    int node_id = 0;
    bool goes_on = any(lanes);
    while (goes_on) {
        while (!is_kd_leaf(here.node) && any(lanes)) {
            tell_node(on_node, node_id, trail.depth, lanes, here.entry);
            const int left = kd_left(here.node), axis = kd_axis(here.node);
            const KdChildren children = load_kd_children(tree.nodes, left);
            const bool is_down = crossings.is_down(axis);
            Real early, late;
            crossings.at(axis, kd_plane(here.node), early, late);
            const Mask first = lanes & (here.entry <= late), second = lanes & (here.exit >= early);
            const uint64 bit = trail.bit();
            const bool is_known = trail.depth < trail.followed;
            const bool takes_second = is_known ? (trail.is_second & bit) != 0 : !any(first);
            const int2 far_node = is_down ? children.left : children.right;
            ++trail.depth;
            if (!is_known) tell_sides(on_node, left, is_down, here.entry, early, lanes, first, second, rays);
            if (!is_known && takes_second) trail.is_second |= bit;
            if (!is_known && !takes_second && any(second)) {
                trail.is_waiting |= bit;
                const Real far_exit = IS_SINGLE_RAY ? here.exit : select(second, here.exit, splat(-FLOAT_MAX));
                newest.push({far_node, max(here.entry, early), far_exit}, left + (is_down ? 0 : 1));
            }
            here.node = takes_second == is_down ? children.left : children.right;
            node_id = left + (takes_second == is_down ? 0 : 1);
            here.entry = takes_second ? max(here.entry, early) : here.entry;
            here.exit = takes_second ? here.exit : min(here.exit, late);
            lanes = takes_second ? second : first;
        }
        if (any(lanes)) {
            tell_leaf(on_node, node_id, node_id, trail.depth, lanes, here.entry);
            if (!visit_kd_leaf(tree, here.node, mailboxes, primitives, rays, on_primitive, on_node)) return;
        }
        do {
            goes_on = trail.back();
            if (!goes_on) return;
            if (newest.pop(here, node_id)) {
                trail.depth = trail.followed;
            } else {
                node_id = trail.depth = 0;
                here = {tree.nodes[0], root_entry, root_exit};
            }
            here.exit = min(here.exit, rays.t_max);
            lanes = rays.active & (here.entry <= here.exit);
            tell_popped_cell(on_node, node_id, here.entry, lanes, rays);
        } while (!any(lanes));
    }
}
