// Visits the references of a kd-tree in a region, and finds the leaf of a place. Cells are cut on the way down; where
// regions shrink the nearer side comes first, and a cell that waited is left out where the region reaches it no more.
// A primitive is handed over by each of its leaves that the region meets.
//
// Unit constant: STACK_DEPTH, a proven bound of the cells that wait (one a level).
// from gpu.hierarchy.kdtree.kdtree import KdArrays
#pragma once
#include "gpu/hierarchy/found_leaf.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

struct VisitedKdTree : KdArrays {};

// A node, with its number where somebody asks for it, and its cell.
struct VisitedCell {
    int node_id;
    Aabb cell;
};

template <class OnReference, class Region>
__device__ __forceinline__ bool visit_kd_references(const VisitedKdTree& tree, int2 leaf, Region& region,
                                                    OnReference& on_reference) {
    const int first = leaf.x, last = first + kd_count(leaf);
    for (int i = first; i < last; ++i) {
        if (!on_reference(tree.references[i], region)) return false;
    }
    return true;
}

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedKdTree& tree, Region& region, OnReference& on_reference) {
    VisitedCell waiting[STACK_DEPTH];
    int waiting_count = 0;
    VisitedCell here = {0, load_root_box(tree.box)};
    bool is_met = !is_empty(here.cell) && region.meets(here.cell);
    while (is_met) {
        const int2 node = tree.nodes[here.node_id];
        if (!is_kd_leaf(node)) {
            const int axis = kd_axis(node);
            VisitedCell left = {kd_left(node), here.cell}, right = {kd_left(node) + 1, here.cell};
            set_along(left.cell.upper, axis, kd_plane(node));
            set_along(right.cell.lower, axis, kd_plane(node));
            const bool meets_left = region.meets(left.cell), meets_right = region.meets(right.cell);
            if (meets_left && meets_right) {
                const bool is_right_first = region.distance2(right.cell) < region.distance2(left.cell);
                check_stack(waiting_count, STACK_DEPTH);
                waiting[waiting_count++] = is_right_first ? left : right;
                here = is_right_first ? right : left;
                continue;
            }
            if (meets_left || meets_right) {
                here = meets_left ? left : right;
                continue;
            }
        } else if (!visit_kd_references(tree, node, region, on_reference)) {
            return;
        }
        is_met = false;
        while (waiting_count > 0 && !is_met) {
            here = waiting[--waiting_count];
            is_met = !Region::SHRINKS || region.meets(here.cell);
        }
    }
}

// A place in a plane is the upper side's.
__device__ __forceinline__ FoundLeaf leaf_at(const VisitedKdTree& tree, float3 place) {
    FoundLeaf found = {-1, 0, load_root_box(tree.box)};
    if (!overlap(found.cell, {place, place})) return {-1, 0, empty_aabb()};
    int node_id = 0;
    int2 node = tree.nodes[0];
    while (!is_kd_leaf(node)) {
        const int axis = kd_axis(node);
        const bool is_upper = along(place, axis) >= kd_plane(node);
        set_along(is_upper ? found.cell.lower : found.cell.upper, axis, kd_plane(node));
        node_id = kd_left(node) + (is_upper ? 1 : 0);
        node = tree.nodes[node_id];
    }
    found.node_id = node_id;
    found.reference_count = kd_count(node);
    return found;
}
