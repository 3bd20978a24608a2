// The traversal of binary nodes by the rays of a warp together: lanes test different nodes against the warp's beam
// (beam.cuh), and every ray tests each primitive that is found. A warp is a packet of 32 rays (Wald, Slusallek, Benthin
// and Wagner 2001; on GPUs Günther, Popov, Seidel and Slusallek 2007), which waits for no longest ray on its way down.
//
// A round takes the nearest nodes that wait, two lanes a node, and puts what the beam enters of their children back in
// the same order: nodes onto the stack, leaves to all rays. It pays where few primitives are in sight of a warp, as of
// spheres; where many are smaller than its pixels, a packet has soon done PACKET_STEPS rounds and tests, and each ray
// goes on alone through what still waits (docs/performance/particles.md).
//
// A tree says where a node begins (fetched_from) and tests it against a beam (enter_by_beam). Unit constants: those of
// binary_traversal.cuh, TRACE_BLOCK.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/bvh/traversals/beam.cuh"
#include "gpu/hierarchy/bvh/traversals/if_if_traversal.cuh"

// Directions that differ by more along an axis make a beam that enters nearly everything.
constexpr float PACKET_SPREAD = 0.25f;
// Rounds and tests after which rays go on alone.
constexpr int PACKET_STEPS = 512;
// Nodes that wait beside those of one way down: so many are taken at once as fit.
constexpr int PACKET_ROOM = 4 * WARP_LANES;

// Two lanes share a node, a child each; on the host a warp's only lane has both.
constexpr int NODE_LANES = WARP_LANES > 1 ? 2 : 1, LANE_CHILDREN = 2 / NODE_LANES;

// What a lane has of the children of a node, and where the beam enters them: FLOAT_MAX where it does not.
struct BeamChildren {
    int children[LANE_CHILDREN];
    float entries[LANE_CHILDREN];
};

// The nodes that wait for a warp, the nearest last. While there is room all lanes take some; without it one is taken,
// which leaves at most one waiting a level.
struct PacketStack {
    static constexpr int CAPACITY = PACKET_ROOM + STACK_DEPTH + 1;

    int children[CAPACITY];
    float entries[CAPACITY];
};

// Whether a warp's rays are all here, begin at one place, as a perspective camera's, and are close to each other. Rays
// from many places to one, as to a light, make a beam as wide as these lie apart.
__device__ __forceinline__ bool is_packet(const Rays& rays) {
    if (!warp_is_whole()) return false;
    // every lane asks all of the others, whatever the first answers are
    const float ox = lane(rays.ox, 0) - warp_broadcast(lane(rays.ox, 0), 0),
                oy = lane(rays.oy, 0) - warp_broadcast(lane(rays.oy, 0), 0),
                oz = lane(rays.oz, 0) - warp_broadcast(lane(rays.oz, 0), 0);
    if (!warp_all(ox == 0.0f && oy == 0.0f && oz == 0.0f)) return false;
    const float dx = lane(rays.dx, 0) - warp_broadcast(lane(rays.dx, 0), 0),
                dy = lane(rays.dy, 0) - warp_broadcast(lane(rays.dy, 0), 0),
                dz = lane(rays.dz, 0) - warp_broadcast(lane(rays.dz, 0), 0);
    const float apart = max(max(fabsf(dx), fabsf(dy)), fabsf(dz));
    const unsigned x = warp_ballot(lane(rays.ix, 0) < 0.0f), y = warp_ballot(lane(rays.iy, 0) < 0.0f),
                   z = warp_ballot(lane(rays.iz, 0) < 0.0f), all = warp_ballot(true);
    return warp_all(apart <= PACKET_SPREAD) && (x == 0u || x == all) && (y == 0u || y == all) && (z == 0u || z == all);
}

// How many of the nearest nodes a round takes of `count`.
__device__ __forceinline__ int taken_at_once(int count) {
    return min(min(WARP_LANES / NODE_LANES, count), max(PACKET_ROOM - count, 1));
}

// What the beam enters of the node at `at`, the nearer child first; nothing where that is before `first`.
template <class Tree>
__device__ __forceinline__ BeamChildren enter_in_order(const Tree& tree, const PacketStack& stack, int at, int first,
                                                       const Beam& beam) {
    BeamChildren found;
#pragma unroll
    for (int i = 0; i < LANE_CHILDREN; ++i) {
        found.children[i] = EMPTY_CHILD;
        found.entries[i] = FLOAT_MAX;
        if (at >= first && stack.entries[at] <= beam.t_max * BEAM_GROWTH)
            tree.enter_by_beam(stack.children[at], i + warp_lane() % NODE_LANES, beam, found.children[i],
                               found.entries[i]);
    }
    BeamChildren turned;
#pragma unroll
    for (int i = 0; i < LANE_CHILDREN; ++i) {
        turned.children[i] = warp_across(found.children[LANE_CHILDREN - 1 - i], NODE_LANES - 1);
        turned.entries[i] = warp_across(found.entries[LANE_CHILDREN - 1 - i], NODE_LANES - 1);
    }
    // of the first child's lane, or of the only one: whether the other child is nearer
    const bool is_second = warp_lane() % NODE_LANES == 1;
    const bool turns = is_second ? found.entries[0] < turned.entries[0] : turned.entries[0] < found.entries[0];
    return turns ? turned : found;
}

// Every ray tests the leaves of a round, `leaves` a word of lanes for each child of a lane, the nearest first; how many
// primitives they had.
template <class Primitives, class OnPrimitive>
__device__ __forceinline__ int test_leaves(const BeamChildren& found, const unsigned (&leaves)[LANE_CHILDREN],
                                           const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive) {
    int tests = 0;
#pragma unroll
    for (int i = 0; i < LANE_CHILDREN; ++i) {
        for (unsigned rest = leaves[i]; rest != 0u; rest &= rest - 1u) {
            const int from = __ffs((int)rest) - 1, leaf = warp_broadcast(found.children[i], from);
            const float entry = warp_broadcast(found.entries[i], from);
            if (!warp_any(any(splat(entry) <= rays.t_max * BEAM_GROWTH))) continue;
            const int first = first_reference(leaf), last = first + count_in_leaf(primitives, leaf);
            for (int reference = first; reference < last; ++reference)
                on_primitive(rays, primitives.intersect(reference, rays));
            tests += last - first;
        }
    }
    return tests;
}

// Traverses until nothing waits or too much was done: how many nodes still wait in `stack`.
template <class Tree, class Primitives, class OnPrimitive>
__device__ __forceinline__ int traverse_together(const Tree& tree, const Primitives& primitives, Rays& rays,
                                                 OnPrimitive& on_primitive, PacketStack& stack, Beam& beam) {
    const int place = warp_lane();
    warp_sync();  // all have read what the packet before has left there
    if (place == 0) {
        stack.children[0] = tree.root[0];
        stack.entries[0] = beam.t_min;
    }
    int count = 1;
    for (int spent = 0; count > 0 && spent < PACKET_STEPS; ++spent) {
        warp_sync();  // what the round before has put there
        const int last = count - 1;
        count -= taken_at_once(count);
        const BeamChildren found = enter_in_order(tree, stack, last - place / NODE_LANES, count, beam);
        warp_sync();  // all have read what others write over
        const unsigned further = warp_ballot(true) << place << 1;  // lanes whose children are
        unsigned leaves[LANE_CHILDREN], any_leaves = 0u;
#pragma unroll
        for (int i = LANE_CHILDREN - 1; i >= 0; --i) {
            const bool enters = found.entries[i] < FLOAT_MAX, goes_down = enters && !is_leaf(found.children[i]);
            const unsigned down = warp_ballot(goes_down);
            if (goes_down) {
                const int to = count + __popc(down & further);
                check_stack(to, PacketStack::CAPACITY);
                stack.children[to] = found.children[i];
                stack.entries[to] = found.entries[i];
            }
            count += __popc(down);
            leaves[i] = warp_ballot(enters && !goes_down);
            any_leaves |= leaves[i];
        }
        if (any_leaves == 0u) continue;
        spent += test_leaves(found, leaves, primitives, rays, on_primitive);
        beam.end_at_rays(rays);
    }
    warp_sync();
    return count;
}

// Of single rays (packs are packets already): a warp's together as far as that pays, else each alone.
template <class Tree, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_by_packets(const Tree& tree, const Primitives& primitives, Rays& rays,
                                                    OnPrimitive& on_primitive, OnNode& on_node) {
    SHARED PacketStack stacks[WARP_LANES > 1 ? TRACE_BLOCK / WARP_LANES : 1];
    PacketStack& stack = stacks[thread_index() / WARP_LANES];
    int child = tree.root[0], waiting = 0;
    if (child >= 0 && is_packet(rays)) {
        Beam beam(lane(rays.ix, 0) < 0.0f, lane(rays.iy, 0) < 0.0f, lane(rays.iz, 0) < 0.0f, rays);
        if (beam.is_sound()) {
            waiting = traverse_together(tree, primitives, rays, on_primitive, stack, beam);
            if (waiting-- == 0) return;
            child = stack.children[waiting];
        }
    }
    while (true) {
        traverse_by_steps_from(child, tree, primitives, rays, on_primitive, on_node);
        do {
            if (waiting-- == 0) return;
        } while (stack.entries[waiting] > lane(rays.t_max, 0) * BEAM_GROWTH);
        child = stack.children[waiting];
    }
}
