// How the 8-wide layouts are written: a block takes a CHUNK of ids, gathers the wide nodes among them, and works on a tile of those at a time, first
// a thread a node, then a thread a child, so that most threads have something to do and boxes of leaves are fetched side by side.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/layouts/octant_slots.cuh"

constexpr int WIDE_TILE = 32;

// One slot of a wide node as a layout writes it. `rank` counts the inner children before this one, `used` has bit s set where slot s holds
// something that a ray may hit.
struct WideSlot {
    int node_id, slot, child, rank, used;
    Aabb box;
};

// Calls write(slot) for all eight slots of every wide node among the block's ids.
template <class References, class Write>
__device__ __forceinline__ void write_wide_tiles(const float4* nodes, const References& references, const uint8* is_wide, int node_capacity, const Write& write) {
    SHARED int wide[CHUNK];
    SHARED int wide_count;
    SHARED int kids[WIDE_TILE * SLOTS];
    SHARED int kid_counts[WIDE_TILE];
    SHARED int slot_places[WIDE_TILE * SLOTS];
    SHARED int used[WIDE_TILE];
    SHARED Aabb boxes[WIDE_TILE * SLOTS];
    const int first = block_index() * CHUNK, count = min(node_capacity - first, CHUNK);
    if (thread_index() == 0) wide_count = 0;
    block_sync();
    for (int i : block_stride(count)) {
        if (is_wide[first + i]) wide[block_atomic_add(&wide_count, 1)] = first + i;  // in any order: a node's place is known
    }
    block_sync();
    const int all = wide_count;
    for (int tile = 0; tile < all; tile += WIDE_TILE) {
        const int size = min(all - tile, WIDE_TILE);
        for (int i : block_stride(size)) {
            const WideChildren<SLOTS> found = children_of_wide<SLOTS>(nodes, is_wide, wide[tile + i]);
            for (int k = 0; k < found.count; ++k) kids[SLOTS * i + k] = found.child[k];
            kid_counts[i] = found.count;
        }
        block_sync();
        for (int i : block_stride(size * SLOTS)) {
            if (i % SLOTS < kid_counts[i / SLOTS]) boxes[i] = child_aabb(nodes, references, kids[i]);
        }
        block_sync();
        for (int i : block_stride(size)) {
            const OctantSlots slots = assign_slots(boxes + SLOTS * i, kid_counts[i], centre(load_node(nodes, wide[tile + i]).aabb()));
            int mask = 0;
            for (int s = 0; s < SLOTS; ++s) {
                slot_places[SLOTS * i + s] = slots.place[s];
                mask |= (slots.place[s] != NO_CHILD && !is_empty(boxes[SLOTS * i + slots.place[s]])) << s;
            }
            used[i] = mask;
        }
        block_sync();
        for (int i : block_stride(size * SLOTS)) {
            const int node = i / SLOTS, place = slot_places[i];
            int rank = 0;
            for (int k = 0; k < place; ++k) rank += !is_leaf(kids[SLOTS * node + k]);
            const bool is_child = place != NO_CHILD;
            write(WideSlot{wide[tile + node], i % SLOTS, is_child ? kids[SLOTS * node + place] : EMPTY_CHILD, rank, used[node],
                           is_child ? boxes[SLOTS * node + place] : empty_aabb()});
        }
        block_sync();
    }
}
