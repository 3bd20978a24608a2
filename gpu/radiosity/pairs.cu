// The dual traversal of the points' octree with itself: from the pair (root, root), each pair is left out, listed, or
// split into pairs of children; what it does either way is decided together, and listed side by side. All pairs of a
// round side by side; where each writes is counted first, so that lists do not depend on who comes first.
// from gpu.radiosity.pairs import PairTotals
#include "gpu/device/atomics.cuh"
#include "gpu/radiosity/pairs.cuh"

extern "C" __global__ void begin_pairs(PointTreeView tree, int2* pairs, int* totals) {
    for (int i : grid_stride(PairTotals::WORDS)) {
        totals[i] = i == PairTotals::frontier ? tree.counts[TREE_COUNTS::nodes] > 0 : 0;
        if (i == PairTotals::depths) totals[i] = tree.counts[TREE_COUNTS::depths];
        if (i == 0) pairs[0] = stored_couple(0, 0, false);
    }
}

extern "C" __global__ void sort_out_pairs(PointTreeView tree, const float4* shapes, const int2* pairs,
                                          const int* totals, float angle, int least_pairs, int2* kinds, float* shares) {
    for (int i : grid_stride(totals[PairTotals::frontier])) {
        const Couple couple = couple_of(pairs[i]);
        const int kind = kind_of(tree, shapes, couple.nodes, angle, least_pairs);
        kinds[i] = int2{kind, couple.is_mutual ? other_way(kind) : KINDS::none};
        shares[i] = 1.0f;
    }
}

// A row of `counts` for each kind of list and one for the next round's pairs; a column for each chunk.
extern "C" __global__ void count_pairs(PointTreeView tree, const float4* shapes, const int2* pairs, const int* totals,
                                       const int2* kinds, int chunk_count, int* counts) {
    for (int chunk : grid_stride(chunk_count)) {
        const int first = chunk * CHUNK, last = min(first + CHUNK, totals[PairTotals::frontier]);
        int found[KINDS::split + 1] = {};
        for (int i = first; i < last; ++i) {
            const int2 kind = kinds[i];
#pragma unroll
            for (int k = 0; k < KINDS::split; ++k) found[k] += (kind.x == k ? 1 : 0) + (kind.y == k ? 1 : 0);
            found[KINDS::split] += children_of(tree, shapes, couple_of(pairs[i]), kind).count();
        }
#pragma unroll
        for (int k = 0; k <= KINDS::split; ++k) counts[(int64)k * chunk_count + chunk] = found[k];
    }
}

// Of a row of `begins`, the exclusive sums of all rows one after the other: how many of its kind come before a chunk.
// Past 2^31 it is negative for some chunk.
__device__ __forceinline__ int before_chunk(const int* begins, int row, int chunk_count, int chunk) {
    const int* of_row = begins + (int64)row * chunk_count;
    return (int)((unsigned)of_row[chunk] - (unsigned)of_row[0]);
}

// Lists are of `room` pairs a kind, one after the other; `listed_shares` are
// theirs. Sums past 2^31 are negative for some chunk: nothing is written there, and more pairs are said to be asked for
// than there is room.
extern "C" __global__ void list_pairs(PointTreeView tree, const float4* shapes, const int2* pairs, int* totals,
                                      const int2* kinds, const float* shares, int chunk_count, const int* begins,
                                      int room, int2* listed, float* listed_shares, int pair_room, int2* next) {
    for (int chunk : grid_stride(chunk_count)) {
        const int first = chunk * CHUNK, last = min(first + CHUNK, totals[PairTotals::frontier]);
        int at[KINDS::split + 1];
#pragma unroll
        for (int k = 0; k <= KINDS::split; ++k)
            at[k] = before_chunk(begins, k, chunk_count, chunk) +
                    (k < KINDS::split ? totals[PairTotals::listed + k] : 0);
        bool is_too_long = false;
        for (int k = 0; k <= KINDS::split; ++k) is_too_long |= at[k] < 0;
        if (is_too_long) {
            atomic_max(totals + PairTotals::most_pairs, 0x7fffffff);
            continue;
        }
        for (int i = first; i < last; ++i) {
            const Couple couple = couple_of(pairs[i]);
#pragma unroll
            for (int way = 0; way < 2; ++way) {
                const int kind = way == 0 ? kinds[i].x : kinds[i].y;
#pragma unroll
                for (int k = 0; k < KINDS::split; ++k) {
                    if (kind != k) continue;
                    if (at[k] < room) {
                        listed[(int64)k * room + at[k]] = couple.way(way);
                        listed_shares[(int64)k * room + at[k]] = is_expanded(kind) ? shares[i] : 1.0f;
                    }
                    ++at[k];
                }
            }
            const Children children = children_of(tree, shapes, couple, kinds[i]);
            for (int a = 0; a < children.count_a; ++a) {
                for (int b = children.is_self ? a : 0; b < children.count_b; ++b) {
                    const int place = at[KINDS::split]++;
                    if (place < pair_room) next[place] = children.pair(a, b);
                }
            }
        }
    }
}

// After a round: how long the lists are by now, how many pairs the next one has, and what there was no room for.
extern "C" __global__ void end_round(const int* counts, const int* begins, int chunk_count, int room, int pair_room,
                                     int* totals) {
    for (int k : grid_stride(KINDS::split + 1)) {
        const int last = chunk_count - 1;
        const int found = before_chunk(begins, k, chunk_count, last) + counts[(int64)k * chunk_count + last];
        if (k < KINDS::split) {
            totals[PairTotals::listed + k] += found;
        } else {
            totals[PairTotals::most_pairs] = max(totals[PairTotals::most_pairs], found);
            totals[PairTotals::rounds] += found > 0 ? 1 : 0;
            // without room for all there is no next round: whoever reads the totals makes room first
            totals[PairTotals::frontier] = found <= pair_room ? found : 0;
        }
    }
}

// Keys of a list's pairs to sort by, the receiver; past the end of the list the largest.
extern "C" __global__ void key_pairs(const int2* listed, const int* totals, int kind, int room, unsigned* keys,
                                     int* places) {
    for (int i : grid_stride(room)) {
        const bool is_there = i < totals[PairTotals::listed + kind];
        keys[i] = is_there ? (unsigned)listed[(int64)kind * room + i].x : 0xffffffffu;
        places[i] = i;
    }
}

// Where each node's part of a sorted list begins, and where the last one ends: the first key not below it.
extern "C" __global__ void find_lists(const int2* listed, const float* listed_shares, const int* totals, int kind,
                                      const unsigned* keys, const int* sorted, int room, int capacity, int* first,
                                      int* senders, float* shares) {
    const int count = min(totals[PairTotals::listed + kind], room);
    for (int node : grid_stride(max(capacity + 1, room))) {
        if (node < count) {
            const int64 from = (int64)kind * room + sorted[node];
            senders[node] = listed[from].y;
            shares[node] = listed_shares[from];
        }
        if (node > capacity) continue;
        int low = 0, high = count;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (keys[middle] < (unsigned)node) low = middle + 1;
            else high = middle;
        }
        first[node] = low;
    }
}
