// The rays of a host's pack that go each their own way through a layout of eight children a node: a step of each in turn. What one ray waits for, a
// node's fetch and what follows from it, is hidden behind the steps of the others, since a step has no branch that depends on the ray: the children it
// enters are written side by side behind those that wait, and how many there are moves the end. The leaves among them wait in one list, tested once all
// rays have taken their step; so a leaf comes before nodes that lie nearer, which costs a closest hit less than a misprediction.
//
// Any hit: children in the order of their slots; closest hit: nearest last, which is the next one (octant_slots.cuh).
#pragma once
#include "gpu/device/eight.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

// Why not for single rays: a compiled unit of them is CUDA's, and there a warp does the same by itself.
constexpr bool GOES_IN_TURN = PACK >= WIDE_SLOTS && STACK_DEPTH <= 2048;

struct RaysInTurn {
    // A step pops one node, pushes up to eight and writes eight words, whatever is used of them; an odd number of cache lines apart.
    static constexpr int MOST_WAITING = STACK_DEPTH + 2 * WIDE_SLOTS;

    alignas(64) int waiting[PACK][MOST_WAITING];
    int waiting_count[PACK];
    int leaves[(PACK + 1) * WIDE_SLOTS], rays_of_leaves[(PACK + 1) * WIDE_SLOTS];
    alignas(64) float origin[3][PACK], direction[3][PACK], inverse[3][PACK], near[3][PACK], far[3][PACK], t_min[PACK], t_max[PACK];
    int octants[PACK], near_rows[3][PACK];  // the near planes' place in a node, the far planes' with bit WIDE_SLOTS changed

    __device__ __forceinline__ RaysInTurn(const Rays& rays, const Slabs& slabs, int start) {
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
        const Int none = splat_int(0), x = select(slabs.negative_x, splat_int(1), none), y = select(slabs.negative_y, splat_int(1), none);
        const Int z = select(slabs.negative_z, splat_int(1), none);
        store(octants, x | y << 1 | z << 2);
        store(near_rows[0], x << 3);
        store(near_rows[1], y << 3 | splat_int(2 * WIDE_SLOTS));
        store(near_rows[2], z << 3 | splat_int(4 * WIDE_SLOTS));
        store(waiting_count, splat_int(1));
        for (int i = 0; i < PACK; ++i) waiting[i][0] = start;
    }

    // Ray i in every lane.
    __device__ __forceinline__ Rays alone(int i) const {
        Rays ray = {splat(origin[0][i]), splat(origin[1][i]), splat(origin[2][i]), splat(direction[0][i]), splat(direction[1][i]), splat(direction[2][i])};
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
        return bits_not_above(entry, exit * splat_eight(1.0000005f));
    }

    // The next node of ray i; its leaves join those of the other rays. True where more nodes wait.
    template <bool NEAREST_FIRST, class Node> __device__ __forceinline__ bool step(const Node& tree, int i, int& leaf_count) {
        const int last = waiting_count[i] - 1, node = waiting[i][last];
        const int* children = tree.children(node);
        const unsigned entered = enter(tree.planes(node), i), leaf_bits = bits_below_zero(children);
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

// Walks the lanes of `which`, all active, from an inner node.
template <class Node, class Primitives, class OnPrimitive>
LONG_ON_PACKS void walk_in_turn(const Node& tree, int start, unsigned which, const Slabs& slabs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive) {
    RaysInTurn turns(rays, slabs, start);
    const unsigned active = mask_bits(rays.active);
    unsigned ended = 0;
    for (unsigned going = which; going;) {
        unsigned waits = 0;
        int leaf_count = 0;
        for (unsigned turn = going; turn; turn &= turn - 1) {
            const int i = __ffs((int)turn) - 1;
            waits |= (unsigned)turns.step<!OnPrimitive::IS_ANY_ENOUGH>(tree, i, leaf_count) << i;
        }
        for (int waiting = leaf_count - 1; waiting >= 0; --waiting) {
            const int i = turns.rays_of_leaves[waiting], leaf = turns.leaves[waiting];
            // Unused places are entered where coordinates overflow.
            if (leaf == EMPTY_CHILD || ended >> i & 1) continue;
            rays.active = mask_from_bits(1u << i);
            if (!visit_leaf_alone(leaf, turns.alone(i), primitives, rays, on_primitive)) ended |= 1u << i;
            turns.t_max[i] = lane(rays.t_max, i);
        }
        going = waits & ~ended;
    }
    rays.active = mask_from_bits(active & ~ended);
}
