// How the 8-wide layouts are written: a block takes a CHUNK of ids, gathers the wide nodes among them, and works on a
// tile of those at a time: its children by a thread per node, their boxes by a thread per child, their slots by a
// thread per node, what is written of a slot a thread a slot. So most threads have something to do, boxes of leaves are
// fetched side by side, and nothing is kept in local memory.
//
// A layout gives `Write`: head(i, node_id, box, used) for the i-th node of the tile, whose slots in `used` (a bit each)
// hold something that a ray may hit; slot(i, WideSlot) for each of its slots; then store(size) for the tile, by all
// threads together.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/layouts/octant_slots.cuh"

constexpr int WIDE_TILE = 64;

// One slot of a wide node as a layout writes it. `rank` counts the inner children before this one; `is_used` where a
// ray may hit something.
struct WideSlot {
    int node_id, slot, child, rank;
    bool is_used;
    Aabb box;
};

// The children of `size` wide nodes, `wide`, the tile's: from the lists that were left, or from the tree.
__device__ __forceinline__ void gather_children(const float4* nodes, const uint8* is_wide, const WideLists& lists,
                                                bool is_listed, int tile, int size, const int* wide, int* kids,
                                                int* kid_counts) {
    const int64 at = (int64)block_index() * lists.room + tile;
    if (is_listed) {
        for (int i : block_stride(2 * size)) ((int4*)kids)[i] = lists.children[2 * at + i];
        for (int i : block_stride(size)) kid_counts[i] = (int)(lists.ids[at + i] >> REFERENCE_BITS);
        return;
    }
    for (int i : block_stride(size)) {
        const WideChildren<SLOTS> found = children_of_wide<SLOTS>(nodes, is_wide, wide[tile + i]);
#pragma unroll
        for (int k = 0; k < SLOTS; ++k) kids[SLOTS * i + k] = found.child[k];
        kid_counts[i] = found.count;
    }
}

// Calls `write` for every wide node among the block's ids.
template <class References, class Write>
__device__ __forceinline__ void write_wide_tiles(const float4* nodes, const References& references,
                                                 const uint8* is_wide, const WideLists& lists, int node_capacity,
                                                 const Write& write) {
    SHARED int wide[CHUNK];
    SHARED int wide_count;
    SHARED int4 kids_data[WIDE_TILE * SLOTS / 4];
    SHARED int kid_counts[WIDE_TILE];
    SHARED unsigned slots[WIDE_TILE];
    SHARED Aabb boxes[WIDE_TILE * SLOTS];
    SHARED float4 places[WIDE_TILE * SLOTS];
    const int first = block_index() * CHUNK, count = min(node_capacity - first, CHUNK);
    int* kids = (int*)kids_data;
    const bool is_listed = lists.has(block_index());
    if (thread_index() == 0) wide_count = is_listed ? lists.counts[block_index()] : 0;
    block_sync();
    for (int i : block_stride(is_listed ? wide_count : 0))
        wide[i] = (int)(lists.ids[(int64)block_index() * lists.room + i] & ((1u << REFERENCE_BITS) - 1u));
    for (int i : block_stride(is_listed ? 0 : count)) {
        // in any order: a node's place is known
        if (is_wide[first + i]) wide[block_atomic_add(&wide_count, 1)] = first + i;
    }
    block_sync();
    const int all = wide_count;
    for (int tile = 0; tile < all; tile += WIDE_TILE) {
        const int size = min(all - tile, WIDE_TILE);
        gather_children(nodes, is_wide, lists, is_listed, tile, size, wide, kids, kid_counts);
        block_sync();
        for (int i : block_stride(size * SLOTS)) {
            if (i % SLOTS >= kid_counts[i / SLOTS]) continue;
            boxes[i] = child_aabb(nodes, references, kids[i]);
            places[i] = place_from(boxes[i], centre(load_node(nodes, wide[tile + i / SLOTS]).aabb()));
        }
        block_sync();
        for (int i : block_stride(size)) {
            slots[i] = assign_slots(places + SLOTS * i, kid_counts[i]);
            int used = 0;
            for (int s = 0; s < SLOTS; ++s) {
                const int place = child_in(slots[i], s);
                used |= (place != NO_CHILD && !is_empty(boxes[SLOTS * i + min(place, SLOTS - 1)])) << s;
            }
            write.head(i, wide[tile + i], load_node(nodes, wide[tile + i]).aabb(), used);
        }
        block_sync();
        for (int i : block_stride(size * SLOTS)) {
            const int node = i / SLOTS, slot = i % SLOTS, place = child_in(slots[node], slot);
            const bool is_child = place != NO_CHILD;
            int rank = 0;
            for (int k = 0; is_child && k < place; ++k) rank += !is_leaf(kids[SLOTS * node + k]);
            const Aabb box = is_child ? boxes[SLOTS * node + place] : empty_aabb();
            write.slot(node, WideSlot{wide[tile + node], slot, is_child ? kids[SLOTS * node + place] : EMPTY_CHILD,
                                      rank, !is_empty(box), box});
        }
        block_sync();
        write.store(size);
        block_sync();
    }
}
