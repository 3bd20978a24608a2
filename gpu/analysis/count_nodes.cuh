// Hears a traversal (traversal_events.cuh), a ray a thread at a time, and counts what its rays do by node and by
// primitive.
//
// A slot is a node's number in the layout, or behind `node_space` a leaf's first reference, where leaves are no nodes.
// Counts lie side by side: NodeCount of each slot, then the primitives' tests, then their hits. Of all that there are
// several copies, which blocks take in turn, so that few wait for one another near the root; behind them the rays, and
// the most boxes of an inner node. Unit constant: OWN_COPIES, whether each block has a copy for itself.
// from gpu.analysis.node_counts import NodeCount
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/trace/traversals.cuh"

struct CountNodes {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = true;

    NodeCount* counts;
    uint64* of_primitives;  // tests, then hits
    int node_space, primitive_count;
    // The node that the thread's first ray began at, in trees the root: added up by the block, as all rays come there.
    int root = -1, root_visits = 0;
    int rays_traced = 0, width = 0;  // boxes of an inner node, the most
    // of the node that the ray is in
    int here = -1, tests = 0;
    // the nearest hit until now, and where
    float nearest = FLOAT_MAX;
    int nearest_id = 0, nearest_slot = -1;

    __device__ int slot(int id) const { return id < 0 ? node_space + ~id : id; }
    __device__ static void add(uint64* at, int by) {
        if (by == 0) return;
        if (OWN_COPIES) block_atomic_add(at, (uint64)by);
        else gathered_add(at, (unsigned)by);
    }
    __device__ void leave() {
        if (here < 0) return;
        add(&counts[here].tests, tests);
        tests = 0;
    }
    __device__ void operator()(int, int, bool is_leaf, Mask, int box_count = 0) {
        if (!is_leaf) width = max(width, box_count);
    }
    __device__ void add_boxes(int count, Mask) {
        if (here >= 0) add(&counts[here].more_boxes, count);
    }
    __device__ void on_event(Event event, int id, float entry, int) {
        if (event == Event::NODE_ENTERED || event == Event::LEAF_ENTERED) {
            leave();
            here = slot(id);
            if (root < 0) root = here;
            if (here == root) ++root_visits;
            else add(&counts[here].visits, 1);
        } else if (event == Event::CHILD_MISSED || event == Event::CHILD_BEYOND) {
            add(&counts[slot(id)].culled, 1);
        } else if (event == Event::PRIMITIVE_TESTED) {
            ++tests;
            add(of_primitives + id, 1);
        } else if (event == Event::PRIMITIVE_HIT) {
            add(&counts[here].hits, 1);
            add(of_primitives + primitive_count + id, 1);
            if (entry < nearest || (entry == nearest && id < nearest_id) || nearest_slot < 0) {
                nearest = entry;
                nearest_id = id;
                nearest_slot = here;
            }
        }
    }
    // A ray ends, and the next one may begin.
    __device__ void end() {
        leave();
        if (nearest_slot >= 0) add(&counts[nearest_slot].found, 1);
        here = nearest_slot = -1;
        nearest = FLOAT_MAX;
        ++rays_traced;
    }
    // By all threads of the block, once.
    __device__ void finish(uint64* totals) {
        const int common = block_max(root);
        const int visits = block_sum(root == common ? root_visits : 0);
        const int rays = block_sum(rays_traced), widest = block_max(width);
        if (root >= 0 && root != common) add(&counts[root].visits, root_visits);
        if (thread_index() != 0 || rays == 0) return;
        if (common >= 0) add(&counts[common].visits, visits);
        atomic_add(totals, (uint64)rays);
        if (widest > 0) atomic_max(totals + 1, (uint64)widest);
    }
};

// Of this block's copy.
__device__ __forceinline__ CountNodes counts_of_block(uint64* counts, int64 slot_count, int node_space,
                                                      int primitive_count, int copies) {
    const int64 length = slot_count * (int64)(sizeof(NodeCount) / sizeof(uint64)) + 2 * (int64)primitive_count;
    uint64* mine = counts + block_index() % copies * length;
    CountNodes found = {(NodeCount*)mine, mine + length - 2 * (int64)primitive_count, node_space, primitive_count};
    return found;
}
