// The incoherent rays of a host's pack through a layout of eight children per node, interleaved: each
// ray takes a step in turn. What one ray waits for, a node's fetch and what follows from it, is hidden behind the steps
// of the others, since a step has no branch that depends on the ray: the children it enters are written side by side
// behind those that wait, and how many there are moves the end. The leaves among them wait in one list, tested once all
// rays have taken their step; so a leaf comes before nodes that lie nearer, which costs a closest hit less than a
// misprediction.
//
// Any hit: children in the order of their slots; closest hit: nearest last, which is the next one (octant_slots.cuh).
#pragma once
#include "gpu/device/eight.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

// For the host's packs alone: on CUDA rays are single, and the warp scheduler hides what they wait for.
constexpr bool INTERLEAVES = PACK >= WIDE_SLOTS && STACK_DEPTH <= 2048;

// Inner nodes that lanes begin at, and where they enter them.
struct EntryNodes {
    static constexpr int MOST = 4 * WIDE_SLOTS;

    int nodes[MOST];
    unsigned lanes[MOST];
    Real distances[MOST];
    int count = 0;

    __device__ __forceinline__ void add(int node, unsigned of_lanes, Real distance) {
        check_stack(count, MOST);
        nodes[count] = node;
        lanes[count] = of_lanes;
        distances[count++] = distance;
    }
    // The last takes its place.
    __device__ __forceinline__ void remove(int place) {
        --count;
        nodes[place] = nodes[count];
        lanes[place] = lanes[count];
        distances[place] = distances[count];
    }
};

struct InterleavedRays {
    // A step pops one node, pushes up to eight and writes eight words, whatever is used of them; an odd number of cache
    // lines apart.
    static constexpr int MOST_WAITING = STACK_DEPTH + EntryNodes::MOST + 2 * WIDE_SLOTS;

    alignas(64) int waiting[PACK][MOST_WAITING];
    int waiting_count[PACK];
    int leaves[(PACK + 1) * WIDE_SLOTS], rays_of_leaves[(PACK + 1) * WIDE_SLOTS];
    alignas(64) float origin[3][PACK], direction[3][PACK], inverse[3][PACK], near[3][PACK], far[3][PACK], t_min[PACK],
        t_max[PACK];
    // the near planes' place in a node, the far planes' with bit WIDE_SLOTS changed
    int octants[PACK], near_rows[3][PACK];

    __device__ __forceinline__ InterleavedRays(const Rays& rays, const Slabs& slabs) {
        store(origin[0], rays.ox);
        store(origin[1], rays.oy);
        store(origin[2], rays.oz);
        store(direction[0], rays.dx);
        store(direction[1], rays.dy);
        store(direction[2], rays.dz);
        store(inverse[0], rays.ix);
        store(inverse[1], rays.iy);
        store(inverse[2], rays.iz);
        store(near[0], slabs.near_x);
        store(near[1], slabs.near_y);
        store(near[2], slabs.near_z);
        store(far[0], slabs.far_x);
        store(far[1], slabs.far_y);
        store(far[2], slabs.far_z);
        store(t_min, rays.t_min);
        store(t_max, rays.t_max);
        const Int none = splat_int(0), x = select(slabs.negative_x, splat_int(1), none),
                  y = select(slabs.negative_y, splat_int(1), none);
        const Int z = select(slabs.negative_z, splat_int(1), none);
        store(octants, x | y << 1 | z << 2);
        store(near_rows[0], x << 3);
        store(near_rows[1], y << 3 | splat_int(2 * WIDE_SLOTS));
        store(near_rows[2], z << 3 | splat_int(4 * WIDE_SLOTS));
        store(waiting_count, splat_int(0));
    }

    // Each lane's entries wait, with NEAREST_FIRST its nearest last.
    template <bool NEAREST_FIRST>
    __device__ __forceinline__ void begin_at(const EntryNodes& entries) {
        float distances[PACK][NEAREST_FIRST ? EntryNodes::MOST : 1];
        for (int entry = 0; entry < entries.count; ++entry) {
            for (unsigned rest = entries.lanes[entry]; rest != 0u; rest &= rest - 1u) {
                const int i = __ffs((int)rest) - 1;
                int place = waiting_count[i]++;
                if constexpr (NEAREST_FIRST) {
                    const float distance = lane(entries.distances[entry], i);
                    for (; place > 0 && distances[i][place - 1] < distance; --place) {
                        distances[i][place] = distances[i][place - 1];
                        waiting[i][place] = waiting[i][place - 1];
                    }
                    distances[i][place] = distance;
                }
                waiting[i][place] = entries.nodes[entry];
            }
        }
    }

    // Ray i in every lane.
    __device__ __forceinline__ Rays alone(int i) const {
        Rays ray = {splat(origin[0][i]),    splat(origin[1][i]),    splat(origin[2][i]),
                    splat(direction[0][i]), splat(direction[1][i]), splat(direction[2][i])};
        ray.t_min = splat(t_min[i]);
        ray.t_max = splat(t_max[i]);
        return ray;
    }

    // As enter_planes of slabs.cuh, a child a place. `planes`: rows of eight, as enter_rows has them.
    __device__ __forceinline__ unsigned enter(const float* planes, int i) const {
        Eight entry = splat_eight(t_min[i]), exit = splat_eight(t_max[i]);
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const int row = near_rows[axis][i];
            const Eight factor = splat_eight(inverse[axis][i]);
            entry = max(load_eight(planes + row) * factor - splat_eight(near[axis][i]), entry);
            exit = min(load_eight(planes + (row ^ WIDE_SLOTS)) * factor - splat_eight(far[axis][i]), exit);
        }
        return bits_not_above(entry, exit * splat_eight(SLAB_GROWTH));
    }

    // For events, where ray i enters the box in a slot, as `enter` has it.
    __device__ __forceinline__ float entry_of(const float* planes, int slot, int i) const {
        float entry = t_min[i];
        for (int axis = 0; axis < 3; ++axis)
            entry = max(entry, planes[near_rows[axis][i] + slot] * inverse[axis][i] - near[axis][i]);
        return entry;
    }
    // What a step of ray i does: the node that is popped, and its children.
    template <class Node, class OnNode>
    __device__ __forceinline__ void tell_step(OnNode& on_node, const Node& tree, int node, unsigned entered, int i,
                                              const Rays& rays) const {
        if constexpr (OnNode::HEARS_EVENTS) {
            const Mask itself = mask_from_bits(1u << i);
            tell(on_node, Event::CHILD_POPPED, node, rays.t_min, itself);
            tell_node(on_node, node, 0, itself, rays.t_min, WIDE_SLOTS);
            for (unsigned rest = tree.slots(node); rest != 0u; rest &= rest - 1u) {
                const int slot = __ffs((int)rest) - 1, id = ChildIds::event_id(tree.child(node, slot));
                const Real entry = splat(entry_of(tree.planes(node), slot, i));
                if (entered >> slot & 1u) tell(on_node, Event::CHILD_PUSHED, id, entry, itself);
                else tell_culled(on_node, id, entry, itself, rays);
            }
        }
    }

    // The next node of ray i; its leaves join those of the other rays. True where more nodes wait.
    template <bool NEAREST_FIRST, class Node, class OnNode>
    __device__ __forceinline__ bool step(const Node& tree, int i, int& leaf_count, const Rays& rays, OnNode& on_node) {
        const int last = waiting_count[i] - 1, node = waiting[i][last];
        check_stack(last, MOST_WAITING - WIDE_SLOTS + 1);
        const int* children = tree.children(node);
        const unsigned entered = enter(tree.planes(node), i), leaf_bits = bits_below_zero(children);
        tell_step(on_node, tree, node, entered, i, rays);
        unsigned inner = entered & ~leaf_bits, ends = entered & leaf_bits;
        if constexpr (NEAREST_FIRST) {
            const int turned = octants[i] ^ (WIDE_SLOTS - 1);
            inner = OctantOrders<256>::order(inner, turned);
            ends = OctantOrders<256>::order(ends, turned);
            write_chosen(&waiting[i][last], children, inner, turned);
            write_chosen(&leaves[leaf_count], children, ends, turned);
        } else {
            write_chosen(&waiting[i][last], children, inner);
            write_chosen(&leaves[leaf_count], children, ends);
        }
        for (int s = 0; s < WIDE_SLOTS; ++s) rays_of_leaves[leaf_count + s] = i;
        leaf_count += __popc(ends);
        return (waiting_count[i] = last + __popc(inner)) > 0;
    }
};

// Traverses the lanes of `entries`, of which active ones go on, from inner nodes.
template <class Node, class Primitives, class OnPrimitive, class OnNode>
LONG_ON_PACKS void traverse_interleaved(const Node& tree, const EntryNodes& entries, const Slabs& slabs,
                                        const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                        OnNode& on_node) {
    const unsigned active = mask_bits(rays.active);
    unsigned ended = 0, which = 0;
    for (int entry = 0; entry < entries.count; ++entry) {
        tell(on_node, Event::CHILD_PUSHED, entries.nodes[entry], rays.t_min, mask_from_bits(entries.lanes[entry]));
        which |= entries.lanes[entry];
    }
    if ((which & active) == 0u) return;
    InterleavedRays turns(rays, slabs);
    turns.begin_at<!OnPrimitive::IS_ANY_ENOUGH>(entries);
    for (unsigned going = which & active; going;) {
        unsigned waits = 0;
        int leaf_count = 0;
        for (unsigned turn = going; turn; turn &= turn - 1) {
            const int i = __ffs((int)turn) - 1;
            waits |= (unsigned)turns.step<!OnPrimitive::IS_ANY_ENOUGH>(tree, i, leaf_count, rays, on_node) << i;
        }
        for (int waiting = leaf_count - 1; waiting >= 0; --waiting) {
            const int i = turns.rays_of_leaves[waiting], leaf = turns.leaves[waiting];
            // Unused places are entered where coordinates overflow.
            if (leaf == EMPTY_CHILD || ended >> i & 1) continue;
            rays.active = mask_from_bits(1u << i);
            tell(on_node, Event::CHILD_POPPED, ChildIds::event_id(leaf), rays.t_min, rays.active);
            tell_leaf(on_node, first_reference(leaf), ChildIds::event_id(leaf), 0, rays.active, rays.t_min);
            if (!visit_leaf_alone(leaf, turns.alone(i), primitives, rays, on_primitive, on_node)) ended |= 1u << i;
            turns.t_max[i] = lane(rays.t_max, i);
        }
        going = waits & ~ended;
    }
    rays.active = mask_from_bits(active & ~ended);
}
