// Sums of counted rays over a tree, and its dearest rows (hot_lists.py), from the counts of slots and the rows' links
// from below (tree_links.py): kind, parent and references of each row, which is its slot, too.
//
// Shares of all cost are whole numbers of 1 / SHARE_ONE, so that sums do not depend on the order of what is added.
// from gpu.analysis.hot_lists import BelowRow, DEPTH_FIELDS, MOST_DEPTH, OWNER_FIELDS, SHARE_BITS, TOP_FIELDS
// from gpu.analysis.node_counts import NodeCount
// from gpu.hierarchy.tree_links import INNER_ROW, LEAF_ROW
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

constexpr double SHARE_ONE = (double)((uint64)1 << SHARE_BITS);

// What all cost; `totals` are visits, visits of inner nodes, tests.
__device__ __forceinline__ double total_cost(const uint64* totals, float traversal_cost, float intersection_cost) {
    const double all = traversal_cost * (double)totals[1] + intersection_cost * (double)totals[2];
    return all > 0.0 ? all : 1.0;
}

// How many children each row has, and what there is in all. `below` is 0 before.
extern "C" __global__ void count_children(const uint8* kinds, const int* parents, const NodeCount* counts,
                                          int row_count, BelowRow* below, uint64* totals) {
    int64 visits = 0, inner_visits = 0, tests = 0;
    for (int row : grid_stride(row_count)) {
        if (kinds[row] == 0) continue;
        const NodeCount here = counts[row];
        visits += here.visits;
        inner_visits += kinds[row] == INNER_ROW ? here.visits : 0;
        tests += here.tests;
        if (parents[row] >= 0) atomic_add(&below[parents[row]].children, 1);
    }
    visits = block_sum(visits);
    inner_visits = block_sum(inner_visits);
    tests = block_sum(tests);
    if (thread_index() != 0) return;
    atomic_add(totals, (uint64)visits);
    atomic_add(totals + 1, (uint64)inner_visits);
    atomic_add(totals + 2, (uint64)tests);
}

// From the rows that have no children upwards, the last child of each going on: references and found hits below each
// row, and the visits that it bears, those of children under which nothing lies among them.
extern "C" __global__ void sum_up(const uint8* kinds, const int* parents, const int* reference_counts,
                                  const NodeCount* counts, int row_count, BelowRow* below) {
    for (int row : grid_stride(row_count)) {
        if (kinds[row] == 0 || below[row].children > 0) continue;
        int at = row;
        while (true) {
            const NodeCount here = counts[at];
            BelowRow* mine = below + at;
            const uint64 references = atomic_load(&mine->references) + (uint64)reference_counts[at];
            const uint64 found = atomic_load(&mine->found) + here.found;
            const uint64 borne = atomic_load(&mine->borne) + (kinds[at] == INNER_ROW ? here.visits : 0);
            mine->references = references;
            mine->found = found;
            mine->borne = borne;
            const int above = parents[at];
            if (above < 0) break;
            atomic_add(&below[above].references, references);
            atomic_add(&below[above].found, found);
            if (references == 0) atomic_add(&below[above].borne, borne);
            if (!atomic_arrive_last(&below[above].arrived, below[above].children - 1)) break;
            at = above;
        }
    }
}

__device__ __forceinline__ int depth_of(const int* parents, int row) {
    int depth = 0;
    for (int above = parents[row]; above >= 0; above = parents[above]) ++depth;
    return depth;
}
__device__ __forceinline__ uint64 box_hits_of(const NodeCount& here, const BelowRow& below) {
    return (uint64)below.children * here.visits - here.culled;
}

// -- by depth --------------------------------------------------------------------------------------------------------
// Visits, those of inner nodes, their box hits, further boxes, tests, hits, visits by rays that found nothing there,
// references.
extern "C" __global__ void sum_depths(const uint8* kinds, const int* parents, const int* reference_counts,
                                      const NodeCount* counts, const BelowRow* below, int row_count, uint64* depths) {
    for (int row : grid_stride(row_count)) {
        if (kinds[row] == 0) continue;
        const NodeCount here = counts[row];
        if (here.visits == 0 && reference_counts[row] == 0) continue;
        uint64* at = depths + DEPTH_FIELDS * min(depth_of(parents, row), MOST_DEPTH - 1);
        if (reference_counts[row] > 0) gathered_add(at + 7, (unsigned)reference_counts[row]);
        if (here.visits == 0) continue;
        atomic_add(at, here.visits);
        if (kinds[row] == INNER_ROW) {
            atomic_add(at + 1, here.visits);
            atomic_add(at + 2, box_hits_of(here, below[row]));
        }
        if (here.more_boxes > 0) atomic_add(at + 3, here.more_boxes);
        if (here.tests > 0) atomic_add(at + 4, here.tests);
        if (here.hits > 0) atomic_add(at + 5, here.hits);
        if (here.visits > below[row].found) atomic_add(at + 6, here.visits - below[row].found);
    }
}

// -- by primitive ----------------------------------------------------------------------------------------------------
extern "C" __global__ void share_tests(const uint64* primitive_tests, int primitive_count, const uint64* totals,
                                       float traversal_cost, float intersection_cost, uint64* shares) {
    const double unit = SHARE_ONE / total_cost(totals, traversal_cost, intersection_cost);
    for (int at : grid_stride(primitive_count))
        shares[at] = (uint64)(intersection_cost * (double)primitive_tests[at] * unit + 0.5);
}
// Each reference bears an even part of every node above it. `scene_ids`: the scene's numbers of primitives; null:
// theirs.
extern "C" __global__ void share_nodes(const uint8* kinds, const int* parents, const int* firsts,
                                       const int* reference_counts, const BelowRow* below, int row_count,
                                       const int* references, const int* scene_ids, const uint64* totals,
                                       float traversal_cost, float intersection_cost, uint64* shares) {
    const double unit = SHARE_ONE / total_cost(totals, traversal_cost, intersection_cost);
    for (int row : grid_stride(row_count)) {
        if (kinds[row] != LEAF_ROW || reference_counts[row] == 0) continue;
        double each = 0.0;
        for (int above = parents[row]; above >= 0; above = parents[above])
            each += (double)below[above].borne / (double)below[above].references;
        const uint64 share = (uint64)(each * traversal_cost * unit + 0.5);
        for (int at = firsts[row]; share > 0 && at < firsts[row] + reference_counts[row]; ++at) {
            const int primitive = references[at];
            atomic_add(shares + (scene_ids == nullptr ? primitive : scene_ids[primitive]), share);
        }
    }
}
// Share, tests, hits and number of primitives of each owner; the first row is nobody's. `owners` is -1 of nobody.
// Neighbours mostly have one owner, so a thread adds up several first.
extern "C" __global__ void sum_owners(const int* owners, int primitive_count, const uint64* shares,
                                      const uint64* primitive_tests, const uint64* primitive_hits, int owner_rows,
                                      uint64* sums) {
    constexpr int RUN = 16;
    for (int run : grid_stride((primitive_count + RUN - 1) / RUN)) {
        const int last = min(primitive_count, (run + 1) * RUN);
        uint64 mine[OWNER_FIELDS] = {};
        for (int at = run * RUN; at < last; ++at) {
            mine[0] += shares[at];
            mine[1] += primitive_tests[at];
            mine[2] += primitive_hits[at];
            mine[3] += 1;
            if (at + 1 < last && owners[at + 1] == owners[at]) continue;
            for (int field = 0; field < OWNER_FIELDS; ++field) {
                const int owner = min(max(owners[at] + 1, 0), owner_rows - 1);
                if (mine[field] > 0) atomic_add(sums + OWNER_FIELDS * (int64)owner + field, mine[field]);
                mine[field] = 0;
            }
        }
    }
}

// -- the dearest -----------------------------------------------------------------------------------------------------
// Sorted upwards, the dearest come first; equal ones by number.
extern "C" __global__ void node_keys(const uint8* kinds, const NodeCount* counts, int row_count, const uint64* totals,
                                     float traversal_cost, float intersection_cost, uint64* keys, int* numbers) {
    const double unit = SHARE_ONE / total_cost(totals, traversal_cost, intersection_cost);
    for (int row : grid_stride(row_count)) {
        numbers[row] = row;
        keys[row] = ((uint64)1 << SHARE_BITS) + 1u;
        const NodeCount here = counts[row];
        if (kinds[row] == 0 || here.visits == 0) continue;
        const double cost = (kinds[row] == INNER_ROW ? traversal_cost * (double)here.visits : 0.0) +
                            intersection_cost * (double)here.tests;
        keys[row] -= (uint64)(cost * unit + 0.5) + 1u;
    }
}
extern "C" __global__ void primitive_keys(const uint64* shares, int primitive_count, uint64* keys, int* numbers) {
    for (int at : grid_stride(primitive_count)) {
        keys[at] = ((uint64)2 << SHARE_BITS) - shares[at];
        numbers[at] = at;
    }
}
// Row, kind, depth, visits, further boxes, box hits, tests, hits, references and found hits below it.
extern "C" __global__ void take_nodes(const int* numbers, int count, const uint8* kinds, const int* parents,
                                      const NodeCount* counts, const BelowRow* below, int64* taken) {
    for (int place : grid_stride(count)) {
        const int row = numbers[place];
        int64* to = taken + TOP_FIELDS * (int64)place;
        to[0] = row;
        to[1] = kinds[row];
        if (kinds[row] == 0) continue;
        const NodeCount here = counts[row];
        to[2] = depth_of(parents, row);
        to[3] = (int64)here.visits;
        to[4] = (int64)here.more_boxes;
        to[5] = kinds[row] == INNER_ROW ? (int64)box_hits_of(here, below[row]) : 0;
        to[6] = (int64)here.tests;
        to[7] = (int64)here.hits;
        to[8] = (int64)below[row].references;
        to[9] = (int64)below[row].found;
    }
}
extern "C" __global__ void take_primitives(const int* numbers, int count, const uint64* shares,
                                           const uint64* primitive_tests, const uint64* primitive_hits, int64* taken) {
    for (int place : grid_stride(count)) {
        const int at = numbers[place];
        int64* to = taken + TOP_FIELDS * (int64)place;
        to[0] = at;
        to[1] = (int64)shares[at];
        to[2] = (int64)primitive_tests[at];
        to[3] = (int64)primitive_hits[at];
    }
}
