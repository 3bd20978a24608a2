// Traverses bvh8 nodes with a stack. A pack goes where any of its rays goes, first to the child that its beam enters
// first (beam.cuh); where few of its rays go together, its rays are interleaved (interleaved_rays.cuh), in packs with
// mixed signs from where they no longer share their way (reach.cuh). A single ray traverses as bvh8_single does. Idle
// lanes are legal. Packs that are asked for their nodes, or of which no beam is made, go first to the child that most
// of their rays enter first.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (seven a level);
// STACK_KEEPS_DISTANCE.
// from gpu.hierarchy.bvh.layouts import NodesAndRoot
#pragma once
#include "gpu/hierarchy/bvh/traversals/beam.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh8_single.cuh"
#include "gpu/hierarchy/bvh/traversals/interleaved_rays.cuh"
#include "gpu/hierarchy/bvh/traversals/reach.cuh"

struct Bvh8Stack : NodesAndRoot {};
template <class OnNode>
using Bvh8Waiting = WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, true>;

// Packs with at most so many rays left go on ray by ray, as in Embree's hybrid traversal (Wald, Woop, Benthin, Johnson
// and Ernst 2014).
constexpr int FEW_RAYS = PACK / 8;
// Packs with mixed signs go on together from a node while so many of their rays are there for each child that they may
// enter: a child is tested by all rays at once, or all children by one ray after the other.
constexpr int ANY_HIT_RAYS_A_CHILD = 3, CLOSEST_HIT_RAYS_A_CHILD = 2;

template <bool AGREES>
__device__ __forceinline__ Mask enter_bvh8_child(const float* planes, const Slabs& slabs, const Rays& rays,
                                                 Real& entry) {
    if constexpr (AGREES) {
        return enter_planes(slabs, rays, splat(planes[8 * slabs.sign_x]), splat(planes[16 + 8 * slabs.sign_y]),
                            splat(planes[32 + 8 * slabs.sign_z]), splat(planes[8 - 8 * slabs.sign_x]),
                            splat(planes[24 - 8 * slabs.sign_y]), splat(planes[40 - 8 * slabs.sign_z]), entry);
    } else {
        return enter_box(slabs, rays, make_float3(planes[0], planes[16], planes[32]),
                         make_float3(planes[8], planes[24], planes[40]), entry);
    }
}

// The child to go on with, the others that some ray enters pushed; EMPTY_CHILD if none is entered. Slots are visited in
// the order of `octant`, so that the first is mostly the nearest.
template <bool AGREES, class Waiting, class OnNode>
__device__ __forceinline__ int next_of_eight(const Bvh8Node* node, int octant, const Slabs& slabs, const Rays& rays,
                                             int depth, Waiting& waiting, Mask& lanes, Real& next_entry,
                                             OnNode& on_node) {
    const Mask of_node = lanes;
    int next = EMPTY_CHILD;
    next_entry = rays.t_max;
    for (int turn = 7; turn >= 0; --turn) {
        const int slot = turn ^ octant, child = node->children[slot];
        if (child == EMPTY_CHILD) continue;
        Real entry;
        const Mask enters = enter_bvh8_child<AGREES>(&node->planes[0][slot], slabs, rays, entry);
        tell_culled(on_node, ChildIds::event_id(child), entry, of_node & !enters, rays);
        if (!any(enters)) continue;
        if (next == EMPTY_CHILD || is_second_nearer(lanes, enters, next_entry, entry)) {
            if (next != EMPTY_CHILD) waiting.push(on_node, next, depth, next_entry, lanes);
            next = child;
            next_entry = entry;
            lanes = enters;
        } else {
            waiting.push(on_node, child, depth, entry, enters);
        }
    }
    return next;
}

// Incoherent lanes, from an inner node.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_incoherent(const Bvh8Stack& tree, int node, unsigned which, const Slabs& slabs,
                                                    const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                    OnNode& on_node) {
    const Bvh8Nodes nodes = {tree.nodes, &node};
    if constexpr (INTERLEAVES && !OnNode::IS_ASKED) {
        EntryNodes entries;
        entries.add(node, which, rays.t_min);
        traverse_interleaved(nodes, entries, slabs, primitives, rays, on_primitive, on_node);
    } else {
        traverse_these_lanes(nodes, which, slabs, primitives, rays, on_primitive, on_node);
    }
}

template <bool AGREES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_bvh8(const Bvh8Stack& tree, const Slabs& slabs, const Primitives& primitives,
                                              Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    typename Bvh8Waiting<OnNode>::Places places;
    Bvh8Waiting<OnNode> waiting(places);
    const int octant = slabs.sign_x | slabs.sign_y << 1 | slabs.sign_z << 2;
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    Real entry = rays.t_min;  // of `child`, where events are heard
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            if (__popc(mask_bits(lanes)) <= FEW_RAYS) {
                traverse_incoherent(tree, child, mask_bits(lanes), slabs, primitives, rays, on_primitive, on_node);
                if (!any(rays.active)) return;
                child = waiting.pop(on_node, rays, depth, lanes, entry);
                continue;
            }
            tell_node(on_node, child, depth, lanes, entry, WIDE_SLOTS);
            ++depth;
            child = next_of_eight<AGREES>(&as<const Bvh8Node>(tree.nodes)[child], octant, slabs, rays, depth, waiting,
                                          lanes, entry, on_node);
            if (child == EMPTY_CHILD) child = waiting.pop(on_node, rays, depth, lanes, entry);
        }
        if (child == EMPTY_CHILD) break;
        tell_leaf(on_node, first_reference(child), ChildIds::event_id(child), depth, lanes, entry);
        if (!visit_leaf(child, primitives, rays, on_primitive, on_node)) break;
        child = waiting.pop(on_node, rays, depth, lanes, entry);
    }
}

// A pack that goes down the same axes, with its beam before its rays.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_bvh8_by_beam(const Bvh8Stack& tree, const Slabs& slabs, Beam& beam,
                                                      const Primitives& primitives, Rays& rays,
                                                      OnPrimitive& on_primitive, OnNode& on_node) {
    BeamWaiting<STACK_DEPTH + 1> waiting;  // a node's children all wait
    const int turned = slabs.sign_x | slabs.sign_y << 1 | slabs.sign_z << 2;
    Mask lanes = rays.active;
    for (int child = tree.root[0]; child != EMPTY_CHILD; child = waiting.pop(rays, lanes, beam.t_max * BEAM_GROWTH)) {
        if (is_leaf(child)) {
            if (!visit_leaf(child, primitives, rays, on_primitive, on_node)) return;
            if (!OnPrimitive::IS_ANY_ENOUGH) beam.end_at_rays(rays);
        } else if (__popc(mask_bits(lanes)) <= FEW_RAYS) {
            traverse_incoherent(tree, child, mask_bits(lanes), slabs, primitives, rays, on_primitive, on_node);
            if (!any(rays.active)) return;
            if (!OnPrimitive::IS_ANY_ENOUGH) beam.end_at_rays(rays);
        } else {
            const Bvh8Node* node = &as<const Bvh8Node>(tree.nodes)[child];
            float entries[WIDE_SLOTS];
            const int first = waiting.count;
            unsigned rest = OctantOrders<256>::order(beam.enter_eight(&node->planes[0][0], entries), turned);
            for (; rest != 0u; rest &= rest - 1u) {
                const int slot = (__ffs((int)rest) - 1) ^ turned;
                Real entry;
                const Mask enters = enter_bvh8_child<true>(&node->planes[0][slot], slabs, rays, entry);
                if (any(enters) && node->children[slot] != EMPTY_CHILD)
                    waiting.push(first, node->children[slot], entries[slot], enters);
            }
        }
    }
}

// A pack with mixed signs, from an inner root: together as long as that is cheaper, then interleaved.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_bvh8_by_reach(const Bvh8Stack& tree, const Slabs& slabs, const Reach& reach,
                                                       const Primitives& primitives, Rays& rays,
                                                       OnPrimitive& on_primitive, OnNode& on_node) {
    constexpr int RAYS_A_CHILD = OnPrimitive::IS_ANY_ENOUGH ? ANY_HIT_RAYS_A_CHILD : CLOSEST_HIT_RAYS_A_CHILD;
    EntryNodes entries;
    entries.add(tree.root[0], mask_bits(rays.active), rays.t_min);
    for (int place = 0; place < entries.count;) {
        const Bvh8Node* node = &as<const Bvh8Node>(tree.nodes)[entries.nodes[place]];
        const unsigned met = reach.meets_eight(&node->planes[0][0]), lanes = entries.lanes[place];
        if (__popc(lanes & mask_bits(rays.active)) < RAYS_A_CHILD * __popc(met) ||
            entries.count + WIDE_SLOTS > EntryNodes::MOST) {
            ++place;
            continue;
        }
        entries.remove(place);
        for (unsigned rest = met; rest != 0u; rest &= rest - 1u) {
            const int slot = __ffs((int)rest) - 1, child = node->children[slot];
            Real entry;
            const Mask enters = enter_bvh8_child<false>(&node->planes[0][slot], slabs, rays, entry);
            const unsigned entering = mask_bits(enters) & lanes;
            if (entering == 0u || child == EMPTY_CHILD) continue;
            if (!is_leaf(child)) {
                entries.add(child, entering, entry);
            } else if (!visit_leaf(child, primitives, rays, on_primitive, on_node)) {
                return;
            }
        }
    }
    traverse_interleaved(Bvh8Nodes{tree.nodes, tree.root}, entries, slabs, primitives, rays, on_primitive, on_node);
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh8Stack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    if constexpr (IS_SINGLE_RAY) {
        traverse_lane_by_lane(Bvh8Nodes{tree.nodes, tree.root}, primitives, rays, on_primitive, on_node);
    } else {
        bool agrees;
        const Slabs slabs = make_slabs(rays, agrees);
        if constexpr (!NEEDS_LANES<OnNode>) {
            if (agrees) {
                Beam beam(slabs.sign_x, slabs.sign_y, slabs.sign_z, rays);
                if (beam.is_sound()) {
                    traverse_bvh8_by_beam(tree, slabs, beam, primitives, rays, on_primitive, on_node);
                    return;
                }
            } else if (INTERLEAVES && !is_leaf(tree.root[0])) {
                const Reach reach(rays);
                if (reach.is_sound) {
                    traverse_bvh8_by_reach(tree, slabs, reach, primitives, rays, on_primitive, on_node);
                    return;
                }
            }
        }
        if (!agrees && INTERLEAVES && !OnNode::IS_ASKED && !is_leaf(tree.root[0])) {
            traverse_incoherent(tree, tree.root[0], mask_bits(rays.active), slabs, primitives, rays, on_primitive,
                                on_node);
        } else if (agrees) {
            traverse_bvh8<true>(tree, slabs, primitives, rays, on_primitive, on_node);
        } else {
            traverse_bvh8<false>(tree, slabs, primitives, rays, on_primitive, on_node);
        }
    }
}
