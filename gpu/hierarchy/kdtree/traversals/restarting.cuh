// Walks a kd-tree with a few of the cells that wait on a stack, or none (short_stack.cuh, restart.cuh): where the stack knows no more, the walk starts
// again at the root (Foley and Sugerman 2005; the short stack is Horn et al. 2007).
//
// They find their way back by the distance that a ray has come, which does not grow for a ray that runs in a plane. Here two bits a level lead back
// (after the trail of Laine 2010): which side of each plane the walk is on, and whether the other one is still to come. So it visits the cells that a
// full stack visits, in that order, whatever is rounded.
#pragma once
#include "gpu/hierarchy/kdtree/traversals/cells.cuh"

template <int CAPACITY> struct NewestCells {
    int nodes[CAPACITY > 0 ? CAPACITY : 1];
    Real entries[CAPACITY > 0 ? CAPACITY : 1], exits[CAPACITY > 0 ? CAPACITY : 1];
    int top, count;  // a ring: the oldest one gives way

    __device__ __forceinline__ void push(int node_id, Real entry, Real exit) {
        if (CAPACITY == 0) return;
        top = top + 1 == CAPACITY ? 0 : top + 1;
        count = min(count + 1, CAPACITY);
        nodes[top] = node_id;
        entries[top] = entry;
        exits[top] = exit;
    }
    __device__ __forceinline__ bool pop(int& node_id, Real& entry, Real& exit) {
        if (CAPACITY == 0 || count == 0) return false;
        node_id = nodes[top];
        entry = entries[top];
        exit = exits[top];
        top = top == 0 ? CAPACITY - 1 : top - 1;
        --count;
        return true;
    }
};

// `followed` levels are behind the walk: there it takes the side it was on.
struct Trail {
    uint64 is_second, is_waiting;
    int depth, followed;

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
__device__ __forceinline__ void walk_restarting(const KdArrays& tree, int signs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                OnNode& on_node) {
    NewestCells<CAPACITY> newest;
    newest.top = newest.count = 0;
    Mailboxes mailboxes;
    mailboxes.clear();
    Crossings crossings;
    crossings.signs = signs;
    Real root_entry, root_exit;
    Mask lanes = enter_root(tree.box, rays, crossings, root_entry, root_exit);
    Real entry = root_entry, exit = root_exit;
    Trail trail = {0, 0, 0, 0};
    int node_id = 0;
    bool goes_on = any(lanes);
    while (goes_on) {
        int2 node = tree.nodes[node_id];
        while (!is_kd_leaf(node) && any(lanes)) {
            on_node(node_id, trail.depth, false, lanes);
            const int axis = kd_axis(node), is_down = crossings.is_down(axis) ? 1 : 0;
            Real early, late;
            crossings.at(axis, kd_plane(node), early, late);
            const Mask first = lanes & (entry <= late), second = lanes & (exit >= early);
            const uint64 bit = 1ull << trail.depth;
            const bool is_known = trail.depth < trail.followed;
            const bool takes_second = is_known ? (trail.is_second & bit) != 0 : !any(first);
            const int left = kd_left(node);
            ++trail.depth;
            if (!is_known && takes_second) trail.is_second |= bit;
            if (!is_known && !takes_second && any(second)) {
                trail.is_waiting |= bit;
                newest.push(left + 1 - is_down, max(entry, early), PACK == 1 ? exit : select(second, exit, splat(-FLOAT_MAX)));
            }
            node_id = takes_second ? left + 1 - is_down : left + is_down;
            entry = takes_second ? max(entry, early) : entry;
            exit = takes_second ? exit : min(exit, late);
            lanes = takes_second ? second : first;
            node = tree.nodes[node_id];
        }
        if (any(lanes)) {
            on_node(node_id, trail.depth, true, lanes);
            if (!visit_kd_leaf(tree, node, mailboxes, primitives, rays, on_primitive)) return;
        }
        do {
            goes_on = trail.back();
            if (!goes_on) return;
            if (newest.pop(node_id, entry, exit)) {
                trail.depth = trail.followed;
            } else {
                node_id = trail.depth = 0;
                entry = root_entry;
                exit = root_exit;
            }
            exit = min(exit, rays.t_max);
            lanes = rays.active & (entry <= exit);
        } while (!any(lanes));
    }
}
