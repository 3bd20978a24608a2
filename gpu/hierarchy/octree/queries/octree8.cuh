// Visits the references of an octree in a region, and finds the leaf of a place. What waits are the children of the
// nodes above, a bit each, as in traversals; where regions shrink the nearest child comes first, and one that the
// region reaches no more is left out. A primitive is handed over by each of its leaves that the region meets.
//
// from gpu.hierarchy.octree.octree import OctreeArrays
#pragma once
#include "gpu/hierarchy/found_leaf.cuh"
#include "gpu/hierarchy/octree/nodes.cuh"

struct VisitedOctree : OctreeArrays {};

// A node some of whose children wait.
struct VisitedNode {
    int2 node;
    unsigned waiting;
    OctreeCell cell;
};

// Takes the child that is nearest to the region of those that wait and meet it; -1 where there is none.
template <class Region>
__device__ __forceinline__ int take_nearest(VisitedNode& here, const OctreeSpace& space, const Region& region) {
    int nearest = -1;
    float least = 0.0f;
    for (unsigned rest = here.waiting; rest != 0u; rest &= rest - 1u) {
        const int octant = __ffs((int)rest) - 1;
        const Aabb box = space.box_of(here.cell.child(octant));
        if (!region.meets(box)) {
            here.waiting ^= 1u << octant;
            continue;
        }
        const float distance2 = region.distance2(box);
        if (nearest >= 0 && !(distance2 < least)) continue;
        nearest = octant;
        least = distance2;
        if (!Region::SHRINKS) break;
    }
    if (nearest >= 0) here.waiting ^= 1u << nearest;
    return nearest;
}

template <class Region, class OnReference>
__device__ __forceinline__ bool visit_octree_leaf(const VisitedOctree& tree, int2 leaf, Region& region,
                                                  OnReference& on_reference) {
    const int first = leaf.x, last = first + leaf_count_of(leaf);
    for (int i = first; i < last; ++i) {
        if (!on_reference(tree.references[i], region)) return false;
    }
    return true;
}

template <class Region, class OnReference>
__device__ __forceinline__ void visit(const VisitedOctree& tree, Region& region, OnReference& on_reference) {
    VisitedNode open[OCTREE_LEVELS];
    const OctreeSpace space = load_space(tree.box);
    const Aabb all = {space.lower, space.upper};
    int2 node = tree.nodes[0];
    if (is_empty(all) || !region.meets(all)) return;
    if (is_octree_leaf(node)) {
        visit_octree_leaf(tree, node, region, on_reference);
        return;
    }
    int open_count = 0;
    VisitedNode here = {node, child_mask(node), {0, 0, 0, 0}};
    for (;;) {
        const int octant = take_nearest(here, space, region);
        if (octant < 0) {
            if (open_count == 0) return;
            here = open[--open_count];
            continue;
        }
        node = tree.nodes[child_in(here.node.x, child_mask(here.node), octant)];
        if (is_octree_leaf(node)) {
            if (!visit_octree_leaf(tree, node, region, on_reference)) return;
            continue;
        }
        const OctreeCell cell = here.cell.child(octant);
        if (here.waiting != 0u) {
            check_stack(open_count, OCTREE_LEVELS);
            open[open_count++] = here;
        }
        here = {node, child_mask(node), cell};
    }
}

// A place in a plane is the upper side's. A child that holds nothing is no node: its number is that of its parent,
// three bits for the octant behind it, and EMPTY_LEAF.
constexpr int EMPTY_LEAF = 1 << 30;

__device__ __forceinline__ FoundLeaf leaf_at(const VisitedOctree& tree, float3 place) {
    const OctreeSpace space = load_space(tree.box);
    const Aabb all = {space.lower, space.upper};
    if (!overlap(all, {place, place})) return {-1, 0, empty_aabb()};
    OctreeCell cell = {0, 0, 0, 0};
    int node_id = 0;
    int2 node = tree.nodes[0];
    while (!is_octree_leaf(node)) {
        const int half = cell.size() >> 1;
        const float3 middle = space.corner(cell.x + half, cell.y + half, cell.z + half);
        const int octant = (place.x >= middle.x ? 4 : 0) | (place.y >= middle.y ? 2 : 0) |
                           (place.z >= middle.z ? 1 : 0);
        cell = cell.child(octant);
        if ((child_mask(node) >> octant & 1u) == 0u)
            return {EMPTY_LEAF | (node_id << 3 & EMPTY_LEAF - 1) | octant, 0, space.box_of(cell)};
        node_id = child_in(node.x, child_mask(node), octant);
        node = tree.nodes[node_id];
    }
    return {node_id, leaf_count_of(node), space.box_of(cell)};
}
