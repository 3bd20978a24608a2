// Leaves of more references than a small node has are written in the order of arrival: a block puts each of them in the
// order of prim_ids.
#include "gpu/device/block_radix.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/large.cuh"

constexpr int DIGIT_BITS = 4, DIGITS = 1 << DIGIT_BITS;
constexpr int TILE = RUNS_SERIAL ? 256 : 2048;

__device__ __forceinline__ int digit_of(int key, int shift) { return key >> shift & (DIGITS - 1); }

__device__ bool is_in_order(const int* keys, int count) {
    int falls = 0;
    for (int i : block_stride(count - 1)) falls += keys[i] > keys[i + 1] ? 1 : 0;
    return block_max(falls) == 0;
}

// One pass over a leaf, stable, from one array to another.
__device__ void sort_by_digit(const int* keys, int count, int shift, RadixTile<DIGIT_BITS, TILE>& tile,
                              int* first_of_digit, int* sorted) {
    for (int digit : block_stride(DIGITS)) first_of_digit[digit] = 0;
    block_sync();
    for (int i : block_stride(count)) block_atomic_add(first_of_digit + digit_of(keys[i], shift), 1);
    block_sync();
    if (thread_index() == 0) {
        int before = 0;
        for (int digit = 0; digit < DIGITS; ++digit) {
            const int here = first_of_digit[digit];
            first_of_digit[digit] = before;
            before += here;
        }
    }
    block_sync();
    for (int first = 0; first < count; first += TILE) {
        const int here = min(TILE, count - first);
        tile.rank(
            here, [&](int i) { return digit_of(keys[first + i], shift); },
            [&](int i, int place) {
                const int digit = digit_of(keys[first + i], shift);
                sorted[first_of_digit[digit] + place - tile.first_of_digit[digit]] = keys[first + i];
            });
        for (int digit : block_stride(DIGITS))
            first_of_digit[digit] += tile.first_of_digit[digit + 1] - tile.first_of_digit[digit];
        block_sync();
    }
}

// `references` of a leaf are not read any more: they are the room that the sort needs.
extern "C" __global__ void sort_large_leaves(const int* totals, const int* counts, int n, const int4* ranges,
                                             const int2* places, float4* references, int* draft_references) {
    SHARED RadixTile<DIGIT_BITS, TILE> tile;
    SHARED int first_of_digit[DIGITS];
    if (counts[STATUS_NOW] != 0) return;
    const int roots = totals[SMALL_ROOTS];
    for (int index = block_index(); index < roots; index += block_count()) {
        const int4 range = ranges[index];
        if (range.y <= SMALL) continue;
        int* keys = draft_references + places[index].y;
        int* other = (int*)(references + 2 * (int64)range.x);
        if (is_in_order(keys, range.y)) continue;
        // two passes end where they began
        for (int shift = 0; shift == 0 || n - 1 >> shift > 0; shift += 2 * DIGIT_BITS) {
            sort_by_digit(keys, range.y, shift, tile, first_of_digit, other);
            sort_by_digit(other, range.y, shift + DIGIT_BITS, tile, first_of_digit, keys);
        }
    }
}
