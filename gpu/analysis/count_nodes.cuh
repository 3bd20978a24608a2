// Hears a traversal (traversal_events.cuh), and counts what its rays do by node and by primitive: of single rays, or of
// packs whose lanes go as each ray would alone, so that both count the same.
//
// A slot is a node's number in the layout, or behind `node_space` a leaf's first reference, where leaves are no nodes.
// Counts lie side by side: those of each slot, then of each primitive. Of all that there are several copies, which
// blocks take in turn, so that few wait for one another near the root; behind them the rays, and the most boxes of an
// inner node. Unit constants: OWN_COPIES, whether each block has a copy for itself; PACKED, whether two counts share a
// word (below).
// from gpu.analysis.node_counts import COUNT_BITS, NodeCount, PRIMITIVE_BITS
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/trace/traversals.cuh"

//  packed, of a slot      word 0: visits, and from bit COUNT_BITS on the children that were culled, or in a leaf tests
//                         word 1: rays that found their hit there, and from bit COUNT_BITS on hits
//          of a primitive tests, and from bit PRIMITIVE_BITS on hits
//  else    of a slot      a NodeCount
//          of a primitive tests; the hits of all primitives lie behind the tests of all
constexpr int SLOT_WORDS = PACKED ? 2 : (int)(sizeof(NodeCount) / sizeof(uint64));
constexpr int PRIMITIVE_WORDS = PACKED ? 1 : 2;

struct CountNodes : HearsNoPops {
    static constexpr bool IS_ASKED = true, HEARS_EVENTS = true;

    uint64* counts;
    uint64* of_primitives;
    int node_space, primitive_count;
    // The node that the thread's first ray began at, in trees the root: added up by the block, as all rays come there.
    int root = -1, root_visits = 0;
    int64 root_culled = 0, root_tests = 0;
    int rays_traced = 0, width = 0;  // boxes of an inner node, the most
    // of the node that the ray is in
    int here = -1, culled = 0, tests = 0, hits = 0;
    // the nearest hit until now, and where
    float nearest = FLOAT_MAX;
    int nearest_id = 0, nearest_slot = -1;

    __device__ int slot(int id) const { return id < 0 ? node_space + ~id : id; }
    __device__ NodeCount* whole(int at) const { return (NodeCount*)counts + at; }
    __device__ uint64* packed(int at) const { return counts + 2 * (int64)at; }
    __device__ static void add(uint64* at, uint64 by) {
        if (by == 0) return;
        if (OWN_COPIES) block_atomic_add(at, by);
        else gathered_add(at, (unsigned)by);
    }
    // `low`, and `high` from bit `shift` on.
    __device__ static void add_both(uint64* at, unsigned low, unsigned high, int shift) {
        if (OWN_COPIES) block_atomic_add(at, low | (uint64)high << shift);
        else gathered_add_both(at, low, high, shift);
    }
    // All is told that `visits` rays do in this node: of an inner one when its children were looked at.
    __device__ void leave(unsigned visits = 1u) {
        if (here < 0) return;
        if (here == root) {
            root_visits += (int)visits;
            root_culled += culled;
            root_tests += tests;
        } else if (PACKED) {
            add_both(packed(here), visits, (unsigned)(culled + tests), COUNT_BITS);
        } else {
            add(&whole(here)->visits, visits);
            add(&whole(here)->culled, culled);
            add(&whole(here)->tests, tests);
        }
        if (hits > 0) {
            if (PACKED) add_both(packed(here) + 1, 0u, (unsigned)hits, COUNT_BITS);
            else add(&whole(here)->hits, hits);
        }
        culled = tests = hits = 0;
        here = -1;
    }
    __device__ void on_children_told() { leave(); }
    __device__ void operator()(int, int, bool is_leaf, Mask, int box_count = 0) {
        if (!is_leaf) width = max(width, box_count);
    }
    __device__ void add_boxes(int count, Mask) {
        if (!PACKED && here >= 0) add(&whole(here)->more_boxes, count);
    }
    __device__ void on_event(Event event, int id, float entry, int) {
        if (event == Event::NODE_ENTERED || event == Event::LEAF_ENTERED) {
            leave();
            here = slot(id);
            if (root < 0) root = here;
        } else if (event == Event::CHILD_MISSED || event == Event::CHILD_BEYOND) {
            ++culled;
        } else if (event == Event::PRIMITIVE_TESTED) {
            ++tests;
            add(of_primitives + id, 1);
        } else if (event == Event::PRIMITIVE_HIT) {
            ++hits;
            if (PACKED) add_both(of_primitives + id, 0u, 1u, PRIMITIVE_BITS);
            else add(of_primitives + primitive_count + id, 1);
            if (entry < nearest || (entry == nearest && id < nearest_id) || nearest_slot < 0) {
                nearest = entry;
                nearest_id = id;
                nearest_slot = here;
            }
        }
    }
    // A ray that was active ends, and the next one may begin.
    __device__ void end(Mask) {
        leave();
        if (nearest_slot >= 0) {
            if (PACKED) add(packed(nearest_slot) + 1, 1);
            else add(&whole(nearest_slot)->found, 1);
        }
        nearest_slot = -1;
        nearest = FLOAT_MAX;
        ++rays_traced;
    }
    __device__ void add_root(int64 visits, int64 culled_there, int64 tested_there) {
        if (PACKED) {
            atomic_add(packed(root), (uint64)visits | (uint64)(culled_there + tested_there) << COUNT_BITS);
            return;
        }
        atomic_add(&whole(root)->visits, (uint64)visits);
        atomic_add(&whole(root)->culled, (uint64)culled_there);
        atomic_add(&whole(root)->tests, (uint64)tested_there);
    }
    // By all threads of the block, once.
    __device__ void finish(uint64* totals) {
        const int common = block_max(root);
        const bool is_mine = root == common;
        const int visits = block_sum(is_mine ? root_visits : 0);
        const int64 culled_there = block_sum(is_mine ? root_culled : (int64)0);
        const int64 tested_there = block_sum(is_mine ? root_tests : (int64)0);
        const int rays = block_sum(rays_traced), widest = block_max(width);
        if (root >= 0 && !is_mine) add_root(root_visits, root_culled, root_tests);
        if (thread_index() != 0 || rays == 0) return;
        root = common;
        if (common >= 0) add_root(visits, culled_there, tested_there);
        atomic_add(totals, (uint64)rays);
        if (widest > 0) atomic_max(totals + 1, (uint64)widest);
    }
};

// The same of packs.
struct CountPacks : CountNodes, HearsLanesAlone {
    unsigned visits = 0;  // of the node that `here` is
    Real pack_nearest = splat(FLOAT_MAX);
    Int pack_nearest_id = splat_int(0), pack_nearest_slot = splat_int(-1);

    __device__ void on_children_told() {}
    __device__ void add_boxes(int count, Mask lanes) {
        if (!PACKED && here >= 0) add(&whole(here)->more_boxes, (uint64)count * __popc(mask_bits(lanes)));
    }
    __device__ void on_events(Event event, int id, Real entry, Mask lanes) {
        const int count = __popc(mask_bits(lanes));
        if (count == 0) return;
        if (event == Event::NODE_ENTERED || event == Event::LEAF_ENTERED) {
            leave(visits);
            here = slot(id);
            visits = (unsigned)count;
            if (root < 0) root = here;
        } else if (event == Event::CHILD_MISSED || event == Event::CHILD_BEYOND) {
            culled += count;
        } else if (event == Event::PRIMITIVE_TESTED) {
            tests += count;
            add(of_primitives + id, count);
        } else if (event == Event::PRIMITIVE_HIT) {
            hits += count;
            if (PACKED) add_both(of_primitives + id, 0u, (unsigned)count, PRIMITIVE_BITS);
            else add(of_primitives + primitive_count + id, count);
            const Mask comes_first = (entry == pack_nearest) & (splat_int(id) < pack_nearest_id);
            const Mask is_first = pack_nearest_slot < splat_int(0);
            const Mask nearer = lanes & ((entry < pack_nearest) | comes_first | is_first);
            pack_nearest = select(nearer, entry, pack_nearest);
            pack_nearest_id = select(nearer, splat_int(id), pack_nearest_id);
            pack_nearest_slot = select(nearer, splat_int(here), pack_nearest_slot);
        }
    }
    // Rays that were active end; neighbours have mostly found their hit in one leaf.
    __device__ void end(Mask ended) {
        leave(visits);
        for (Mask rest = !(pack_nearest_slot < splat_int(0)); any(rest);) {
            const int at = lane(pack_nearest_slot, __ffs((int)mask_bits(rest)) - 1);
            const Mask here_too = rest & (pack_nearest_slot == splat_int(at));
            const unsigned count = (unsigned)__popc(mask_bits(here_too));
            if (PACKED) add(packed(at) + 1, count);
            else add(&whole(at)->found, count);
            rest = rest & !here_too;
        }
        pack_nearest_slot = splat_int(-1);
        pack_nearest = splat(FLOAT_MAX);
        rays_traced += __popc(mask_bits(ended));
    }
};

template <bool IS_SINGLE, class Traversed>
struct CounterOf {
    using Type = CountNodes;
};
template <class Traversed>
struct CounterOf<false, Traversed> {
    static_assert(Traversed::LANES_GO_ALONE, "counts are those of single rays");
    using Type = CountPacks;
};
using Counter = CounterOf<IS_SINGLE_RAY, Tree>::Type;

// Of this block's copy.
__device__ __forceinline__ Counter counts_of_block(uint64* counts, int64 slot_count, int node_space,
                                                   int primitive_count, int copies) {
    const int64 of_slots = slot_count * SLOT_WORDS;
    uint64* mine = counts + block_index() % copies * (of_slots + PRIMITIVE_WORDS * (int64)primitive_count);
    Counter found = {};
    found.counts = mine;
    found.of_primitives = mine + of_slots;
    found.node_space = node_space;
    found.primitive_count = primitive_count;
    return found;
}
