// A stable radix sort, least significant digit first, by count, scan and scatter: no block waits for another, same
// input, same bytes.
//
// Constants of the unit: TILE (keys of a tile), HAS_VALUES. Alias: Key (unsigned or uint64). A digit has up to 8 bits.
// One pass is
//     count_digits    how often each digit occurs in each tile       -> counts[digit][tile]
//     scan_digits     a block a digit: prefix sums over its tiles     -> counts in place, digit_totals[digit]
//     scatter_digits  rank the keys of a tile, write them in order
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

constexpr int DIGITS = 256;
constexpr int WARPS = RUNS_SERIAL ? 1 : 8;
constexpr int ITEMS = TILE / (WARPS * WARP_LANES);  // keys of a thread

__device__ __forceinline__ int digit_of(Key key, int shift, int mask) { return (int)(key >> shift) & mask; }

// Exclusive prefix sums of numbers that the block shares, in place; returns their sum.
__device__ __forceinline__ int scan_in_block(int* numbers, int count) {
    int sum = 0;
    for (int first = 0; first < count; first += block_threads()) {
        const int i = first + thread_index();
        int part;
        const int before = block_exclusive_scan(i < count ? numbers[i] : 0, part);
        if (i < count) numbers[i] = sum + before;
        sum += part;
    }
    block_sync();
    return sum;
}

extern "C" __global__ void count_digits(const Key* keys, int n, int shift, int mask, int tile_count, int* counts) {
    SHARED int of_digit[DIGITS];
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        for (int digit : block_stride(DIGITS)) of_digit[digit] = 0;
        block_sync();
        const int first = tile * TILE;
        for (int i : block_stride(min(TILE, n - first)))
            block_atomic_add(&of_digit[digit_of(keys[first + i], shift, mask)], 1);
        block_sync();
        for (int digit : block_stride(DIGITS)) counts[digit * tile_count + tile] = of_digit[digit];
        block_sync();
    }
}

extern "C" __global__ void scan_digits(int* counts, int tile_count, int* digit_totals) {
    for (int digit = block_index(); digit < DIGITS; digit += block_count()) {
        const int total = scan_in_block(counts + digit * tile_count, tile_count);
        if (thread_index() == 0) digit_totals[digit] = total;
    }
}

// Prefix sums over the warps of each digit, in place, and each digit's sum.
__device__ __forceinline__ void count_in_warps(int (*of_warp)[DIGITS + 1], int* sums) {
    for (int digit : block_stride(DIGITS)) {
        int sum = 0;
        for (int warp = 0; warp < WARPS; ++warp) {
            const int of_this = of_warp[warp][digit];
            of_warp[warp][digit] = sum;
            sum += of_this;
        }
        sums[digit] = sum;
    }
}

extern "C" __global__ void scatter_digits(const Key* keys, const unsigned* values, int n, int shift, int mask,
                                          int tile_count, const int* counts, const int* digit_totals, Key* keys_out,
                                          unsigned* values_out) {
    // how many keys of a digit each warp has; the last column is for places past the end
    SHARED int of_warp[WARPS][DIGITS + 1];
    SHARED int first_in_tile[DIGITS];
    SHARED int place[DIGITS];  // where the first key of a digit goes, less its place in the tile
    SHARED Key sorted_keys[TILE];
    SHARED unsigned sorted_values[HAS_VALUES ? TILE : 1];
    const int warp = thread_index() / WARP_LANES;
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int first = tile * TILE, count = min(TILE, n - first);
        for (int digit : block_stride(DIGITS)) place[digit] = digit_totals[digit];
        for (int i : block_stride(WARPS * (DIGITS + 1))) of_warp[0][i] = 0;
        block_sync();
        scan_in_block(place, DIGITS);

        // Rank each key among those of its digit in its warp, in the order of the input.
        Key mine[ITEMS];
        int rank[ITEMS];
        const int first_of_warp = warp * ITEMS * WARP_LANES + warp_lane();
        for (int item = 0; item < ITEMS; ++item) {
            const int i = first_of_warp + item * WARP_LANES;
            mine[item] = i < count ? keys[first + i] : Key(0);
            const int digit = i < count ? digit_of(mine[item], shift, mask) : DIGITS;
            const unsigned alike = warp_match((unsigned)digit);
            const int leader = __ffs((int)alike) - 1;
            int before = 0;
            if (warp_lane() == leader) before = block_atomic_add(&of_warp[warp][digit], __popc(alike));
            rank[item] = warp_broadcast(before, leader) + __popc(alike & ((1u << warp_lane()) - 1u));
        }
        block_sync();

        count_in_warps(of_warp, first_in_tile);
        block_sync();
        scan_in_block(first_in_tile, DIGITS);
        for (int digit : block_stride(DIGITS)) place[digit] += counts[digit * tile_count + tile] - first_in_tile[digit];

        // Sort the tile in shared memory, then write runs of neighbours.
        for (int item = 0; item < ITEMS; ++item) {
            const int i = first_of_warp + item * WARP_LANES;
            if (i < count) {
                const int digit = digit_of(mine[item], shift, mask);
                const int to = first_in_tile[digit] + of_warp[warp][digit] + rank[item];
                sorted_keys[to] = mine[item];
                if (HAS_VALUES) sorted_values[to] = values[first + i];
            }
        }
        block_sync();
        for (int i : block_stride(count)) {
            const int to = place[digit_of(sorted_keys[i], shift, mask)] + i;
            keys_out[to] = sorted_keys[i];
            if (HAS_VALUES) values_out[to] = sorted_values[i];
        }
        block_sync();
    }
}
