// The radix sort of Meister's thesis (2.4.3, 6.1.3) after Merrill and Grimshaw 2010: three kernels a digit of 4 or 5
// bits, least significant first, over a fixed number of chunks of tiles. Stable; no block waits for another; the bytes
// do not depend on the number of blocks.
//     count_buckets    how many keys of each digit each chunk has             -> counts[digit][chunk]
//     scan_buckets     prefix sums over all of counts, by one block            -> counts in place
//     scatter_buckets  rank the chunk's keys again, tile by tile, write them
//
// Constants of the unit: DIGIT_BITS, TILE (keys of a tile), HAS_VALUES. Alias: Key (unsigned or uint64). `counted`,
// where given, holds the number of keys on the device; n bounds it. Blocks of count and scatter have RADIX_THREADS
// threads.
#include "gpu/device/block_radix.cuh"

typedef RadixTile<DIGIT_BITS, TILE> Ranking;
constexpr int DIGITS = Ranking::DIGITS;
constexpr int WARPS = RADIX_THREADS / WARP_LANES;

__device__ __forceinline__ int key_count(int n, const int* counted) { return counted ? min(n, *counted) : n; }
__device__ __forceinline__ int first_tile(int count, int chunk, int chunk_count) {
    return (int)(((int64)(count + TILE - 1) / TILE) * chunk / chunk_count);
}

extern "C" __global__ void count_buckets(const Key* keys, int n, const int* counted, int shift, int mask,
                                         int chunk_count, int* counts) {
    SHARED int of_thread[DIGITS * RADIX_THREADS];
    const int count = key_count(n, counted), column = thread_index();
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        for (int digit = 0; digit < DIGITS; ++digit) of_thread[digit * RADIX_THREADS + column] = 0;
        const int first = first_tile(count, chunk, chunk_count) * TILE;
        const int last = min(first_tile(count, chunk + 1, chunk_count) * TILE, count);
        for (int i : block_stride(max(last - first, 0)))
            ++of_thread[((int)(keys[first + i] >> shift) & mask) * RADIX_THREADS + column];
        block_sync();
        for (int digit = thread_index() / WARP_LANES; digit < DIGITS; digit += WARPS) {
            int sum = 0;
            for (int i : lane_stride(RADIX_THREADS)) sum += of_thread[digit * RADIX_THREADS + i];
            sum = warp_sum(sum);
            if (warp_lane() == 0) counts[digit * chunk_count + chunk] = sum;
        }
        block_sync();
    }
}

extern "C" __global__ void scan_buckets(int total, int* counts) {
    if (block_index() != 0) return;
    const int items = (total + block_threads() - 1) / block_threads();
    const int first = thread_index() * items, last = min(first + items, total);
    int sum = 0, all;
    for (int i = first; i < last; ++i) sum += counts[i];
    int before = block_exclusive_scan(sum, all);
    for (int i = first; i < last; ++i) {
        const int here = counts[i];
        counts[i] = before;
        before += here;
    }
}

extern "C" __global__ void scatter_buckets(const Key* keys, const unsigned* values, int n, const int* counted,
                                           int shift, int mask, int chunk_count, const int* counts, Key* keys_out,
                                           unsigned* values_out) {
    SHARED Ranking ranking;
    SHARED int place[DIGITS];  // where the next key of a digit goes
    SHARED Key sorted_keys[TILE];
    SHARED unsigned sorted_values[HAS_VALUES ? TILE : 1];
    const int count = key_count(n, counted);
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        for (int digit : block_stride(DIGITS)) place[digit] = counts[digit * chunk_count + chunk];
        const int last_tile = first_tile(count, chunk + 1, chunk_count);
        for (int tile = first_tile(count, chunk, chunk_count); tile < last_tile; ++tile) {
            const int first = tile * TILE, here = min(TILE, count - first);
            ranking.rank(
                here, [&](int i) { return (int)(keys[first + i] >> shift) & mask; },
                [&](int i, int to) {
                    sorted_keys[to] = keys[first + i];
                    if (HAS_VALUES) sorted_values[to] = values[first + i];
                });
            for (int i : block_stride(here)) {
                const int digit = (int)(sorted_keys[i] >> shift) & mask;
                const int to = place[digit] + i - ranking.first_of_digit[digit];
                keys_out[to] = sorted_keys[i];
                if (HAS_VALUES) values_out[to] = sorted_values[i];
            }
            block_sync();
            for (int digit : block_stride(DIGITS))
                place[digit] += ranking.first_of_digit[digit + 1] - ranking.first_of_digit[digit];
            block_sync();
        }
        block_sync();
    }
}
