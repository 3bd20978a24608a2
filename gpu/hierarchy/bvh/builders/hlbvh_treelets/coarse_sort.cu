// Morton order in two stages after Pantaleoni and Luebke, HLBVH (2010), section 3: neighbours of the scene's order
// mostly lie in one cell of the coarse grid, so runs of them are sorted by the COARSE_BITS highest bits instead of
// primitives (3.1.1), spread out again, and each cell is sorted by the bits that are left, by one block (3.1.2).
//
// Launch order is the file's, with a scan after mark_runs, a sort of runs after write_runs, a scan after measure_runs,
// and mark_runs and a compaction again before sort_cells. Unit constants: CODE_BITS, COARSE_BITS, TILE (references of a
// cell that a block sorts in shared memory).
// from gpu.hierarchy.bvh.builders.hlbvh_treelets import DIGIT_BITS
#include "gpu/device/atomics.cuh"
#include "gpu/device/block_radix.cuh"
#include "gpu/hierarchy/morton_order.cuh"

constexpr int FINE_BITS = CODE_BITS - COARSE_BITS;
constexpr bool HAS_IDS = CODE_BITS == 60;  // of 30 bits per key holds its primitive
constexpr int FIRST_BIT = HAS_IDS ? 0 : 32;

__device__ __forceinline__ unsigned coarse_code(uint64 key) { return (unsigned)(code_of(key) >> FINE_BITS); }

// Where a run begins: equal coarse codes one after the other.
extern "C" __global__ void mark_runs(int n, const uint64* keys, int* heads) {
    for (int i : grid_stride(n)) heads[i] = i == 0 || coarse_code(keys[i]) != coarse_code(keys[i - 1]);
}

// `before`: prefix sums of `heads`.
extern "C" __global__ void write_runs(int n, const uint64* keys, const int* heads, const int* before,
                                      unsigned* run_codes, int* run_ids, int* run_first, int* run_count) {
    for (int i : grid_stride(n)) {
        const int run = before[i];
        if (heads[i]) {
            run_codes[run] = coarse_code(keys[i]);
            run_ids[run] = run;
            run_first[run] = i;
        }
        if (i == n - 1) *run_count = run + heads[i];
    }
}

// The lengths of the sorted runs; 0 past their number.
extern "C" __global__ void measure_runs(int n, const int* run_ids, const int* run_first, const int* run_count,
                                        int* lengths) {
    const int count = *run_count;
    for (int i : grid_stride(n)) {
        const int run = i < count ? run_ids[i] : -1;
        lengths[i] = run < 0 ? 0 : (run + 1 < count ? run_first[run + 1] : n) - run_first[run];
    }
}

extern "C" __global__ void place_runs(const int* run_ids, const int* run_count, const int* places, int* place_of_run) {
    for (int i : grid_stride(*run_count)) place_of_run[run_ids[i]] = places[i];
}

extern "C" __global__ void spread_runs(int n, const uint64* keys, const int* prim_ids, const int* heads,
                                       const int* before, const int* run_first, const int* place_of_run,
                                       uint64* keys_out, int* prim_ids_out) {
    for (int i : grid_stride(n)) {
        const int run = before[i] + heads[i] - 1, to = place_of_run[run] + i - run_first[run];
        keys_out[to] = keys[i];
        if (HAS_IDS) prim_ids_out[to] = prim_ids[i];
    }
}

// -- cells -----------------------------------------------------------------------------------------------

typedef RadixTile<DIGIT_BITS, TILE> Ranking;
constexpr int DIGITS = Ranking::DIGITS;

__device__ __forceinline__ int digit_of(uint64 key, int pass) {
    const int mask = (1 << min(DIGIT_BITS, FINE_BITS - pass * DIGIT_BITS)) - 1;
    return (int)(key >> (FIRST_BIT + pass * DIGIT_BITS)) & mask;
}
constexpr int PASSES = (FINE_BITS + DIGIT_BITS - 1) / DIGIT_BITS;

// A cell that one tile holds: every pass in shared memory.
struct SmallCell {
    Ranking& ranking;
    uint64 (*keys)[TILE];
    int (*ids)[HAS_IDS ? TILE : 1];

    __device__ void sort(int count, uint64* cell_keys, int* cell_ids) const {
        for (int i : block_stride(count)) {
            keys[0][i] = cell_keys[i];
            if (HAS_IDS) ids[0][i] = cell_ids[i];
        }
        block_sync();
        for (int pass = 0; pass < PASSES; ++pass) {
            const int from = pass % 2, to = 1 - from;
            ranking.rank(
                count, [&](int i) { return digit_of(keys[from][i], pass); },
                [&](int i, int place) {
                    keys[to][place] = keys[from][i];
                    if (HAS_IDS) ids[to][place] = ids[from][i];
                });
        }
        for (int i : block_stride(count)) {
            cell_keys[i] = keys[PASSES % 2][i];
            if (HAS_IDS) cell_ids[i] = ids[PASSES % 2][i];
        }
        block_sync();
    }
};

// A larger cell: tile by tile between two pieces of global memory. A pass in which all keys have the same digit is left
// out.
struct LargeCell {
    Ranking& ranking;
    Pointer<int> place;

    __device__ void sort(int count, uint64* keys, int* ids, uint64* other_keys, int* other_ids) const {
        uint64 *from = keys, *to = other_keys;
        int *ids_from = ids, *ids_to = other_ids;
        for (int pass = 0; pass < PASSES; ++pass) {
            if (!find_places(count, from, pass)) continue;
            for (int first = 0; first < count; first += TILE) {
                const int here = min(TILE, count - first);
                ranking.rank(
                    here, [&](int i) { return digit_of(from[first + i], pass); },
                    [&](int i, int rank) {
                        const int digit = digit_of(from[first + i], pass);
                        const int at = place[digit] + rank - ranking.first_of_digit[digit];
                        to[at] = from[first + i];
                        if (HAS_IDS) ids_to[at] = ids_from[first + i];
                    });
                for (int digit : block_stride(DIGITS))
                    place[digit] += ranking.first_of_digit[digit + 1] - ranking.first_of_digit[digit];
                block_sync();
            }
            uint64* const keys_swapped = from;
            from = to;
            to = keys_swapped;
            int* const ids_swapped = ids_from;
            ids_from = ids_to;
            ids_to = ids_swapped;
        }
        if (from == keys) return;
        for (int i : block_stride(count)) {
            keys[i] = from[i];
            if (HAS_IDS) ids[i] = ids_from[i];
        }
        block_sync();
    }

    // Where each digit's keys begin; whether there are two digits at all.
    __device__ bool find_places(int count, const uint64* keys, int pass) const {
        for (int digit : block_stride(DIGITS)) place[digit] = 0;
        block_sync();
        for (int i : block_stride(count)) block_atomic_add(&place[digit_of(keys[i], pass)], 1);
        block_sync();
        const bool is_mixed = place[digit_of(keys[0], pass)] != count;
        block_sync();
        for (int sum = 0, digit = 0; digit < (thread_index() == 0 ? DIGITS : 0); ++digit) {
            const int here = place[digit];
            place[digit] = sum;
            sum += here;
        }
        block_sync();
        return is_mixed;
    }
};

extern "C" __global__ void sort_cells(int n, const int* cell_first, const int* cell_count, uint64* keys, int* prim_ids,
                                      uint64* other_keys, int* other_ids) {
    SHARED Ranking ranking;
    SHARED int place[DIGITS];
    SHARED uint64 tile_keys[2][TILE];
    SHARED int tile_ids[2][HAS_IDS ? TILE : 1];
    const int cells = *cell_count;
    for (int cell = block_index(); cell < cells; cell += block_count()) {
        const int first = cell_first[cell], count = (cell + 1 < cells ? cell_first[cell + 1] : n) - first;
        int* const ids = HAS_IDS ? prim_ids + first : prim_ids;
        int* const ids_beside = HAS_IDS ? other_ids + first : other_ids;
        if (count == 1) continue;
        if (count <= TILE) SmallCell{ranking, tile_keys, tile_ids}.sort(count, keys + first, ids);
        else LargeCell{ranking, place}.sort(count, keys + first, ids, other_keys + first, ids_beside);
    }
}
