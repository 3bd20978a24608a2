// A stable radix sort, least significant digit first, by count, scan and scatter: no block waits for another, same
// input, same bytes.
//
// Constants of the unit: TILE (keys of a tile), THREADS (of a block), RESIDENT (threads of a processor that registers
// are left for), MOST_RUN (keys that order_runs puts in order), HAS_VALUES. Alias: Key (unsigned or uint64). A digit
// has up to 8 bits. A pass with a `flag` does nothing where that is not the one that is wanted. One pass is
//     count_digits    how often each digit occurs in each tile        -> counts[digit][tile]
//     scan_digits     a block a digit: prefix sums over its tiles      -> counts in place; the last block to arrive
//                     sums up the digits before each                   -> digit_first[digit]
//     scatter_digits  rank the keys of a tile, write them in order
// order_runs orders keys that are in order by their upper bits by the lower ones, too.
// from gpu.target.own_sort import DIGIT_BITS, DIGITS
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"

typedef unsigned short uint16;  // a place in a tile

constexpr int WARPS = RUNS_SERIAL ? 1 : THREADS / 32;
constexpr int ITEMS = TILE / (WARPS * WARP_LANES);  // keys of a thread
static_assert(ITEMS * WARPS * WARP_LANES == TILE && TILE < 65536, "a tile is whole rows of a block");

__device__ __forceinline__ int digit_of(Key key, int shift, int mask) { return (int)(key >> shift) & mask; }

__device__ __forceinline__ bool is_idle(const int* flag, int wanted) { return flag != nullptr && *flag != wanted; }

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

// All loads are under way before the first key is looked at; places past the end hold ones, which stay behind all else.
__device__ __forceinline__ void load_keys(const Key* keys, int count, int first, int step, Key (&mine)[ITEMS]) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int i = first + item * step;
        mine[item] = i < count ? keys[i] : ~Key(0);
    }
}

// Where all lanes hold one digit, as they do in sorted keys, one of them adds for all.
extern "C" __global__ void __launch_bounds__(THREADS)
    count_digits(const Key* keys, int n, int shift, int mask, int tile_count, int* counts, int* arrived,
                 const int* flag, int wanted) {
    SHARED int of_digit[DIGITS];
    if (is_idle(flag, wanted)) return;
    if (block_index() == 0 && thread_index() == 0) *arrived = 0;
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        Key mine[ITEMS];
        const int count = min(TILE, n - tile * TILE);
        load_keys(keys + (int64)tile * TILE, count, thread_index(), block_threads(), mine);
        for (int digit : block_stride(DIGITS)) of_digit[digit] = 0;
        block_sync();
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int digit = digit_of(mine[item], shift, mask);
            if (warp_all(digit == warp_broadcast(digit, 0))) {
                if (warp_lane() == 0) block_atomic_add(of_digit + digit, WARP_LANES);
            } else {
                block_atomic_add(of_digit + digit, 1);
            }
        }
        block_sync();
        const int past_the_end = TILE - count;
        for (int digit : block_stride(DIGITS))
            counts[digit * tile_count + tile] = of_digit[digit] - (digit == mask ? past_the_end : 0);
        block_sync();
    }
}

extern "C" __global__ void scan_digits(int* counts, int tile_count, int* digit_first, int* arrived, const int* flag,
                                       int wanted) {
    SHARED int is_last;
    if (is_idle(flag, wanted)) return;
    for (int digit = block_index(); digit < DIGITS; digit += block_count()) {
        const int total = scan_in_block(counts + digit * tile_count, tile_count);
        if (thread_index() == 0) {
            digit_first[digit] = total;
            is_last = atomic_arrive_last(arrived, DIGITS - 1) ? 1 : 0;
        }
        block_sync();
        if (is_last != 0) scan_in_block(digit_first, DIGITS);
        block_sync();
    }
}

// The lanes, as bits, that hold the same digit as this one: by a ballot a bit, faster than the instruction for it.
__device__ __forceinline__ unsigned lanes_alike(int digit) {
    unsigned alike = warp_ballot(true);
#pragma unroll
    for (int bit = 0; bit < DIGIT_BITS; ++bit) {
        const bool is_set = (digit >> bit & 1) != 0;
        const unsigned set = warp_ballot(is_set);
        alike &= is_set ? set : ~set;
    }
    return alike;
}

// Rank each key among those of its digit in its warp, in the order of the input. `seen`: how many keys of each digit
// the warp has had.
__device__ __forceinline__ void rank_in_warp(const Key (&mine)[ITEMS], int shift, int mask, uint16* seen,
                                             int (&rank)[ITEMS]) {
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int digit = digit_of(mine[item], shift, mask);
        const unsigned alike = lanes_alike(digit), before = alike & ((1u << warp_lane()) - 1u);
        const int first = seen[digit];
        rank[item] = first + __popc(before);
        warp_sync();
        if (before == 0) seen[digit] = (uint16)(first + __popc(alike));
        warp_sync();
    }
}

// From how many keys of each digit each warp has to where they begin in the tile, and where each digit does.
__device__ __forceinline__ void place_warps(uint16 (*of_warp)[DIGITS], int* first_in_tile) {
    for (int digit : block_stride(DIGITS)) {
        int sum = 0;
        for (int warp = 0; warp < WARPS; ++warp) sum += of_warp[warp][digit];
        first_in_tile[digit] = sum;
    }
    block_sync();
    scan_in_block(first_in_tile, DIGITS);
    for (int digit : block_stride(DIGITS)) {
        int sum = first_in_tile[digit];
        for (int warp = 0; warp < WARPS; ++warp) {
            const int of_this = of_warp[warp][digit];
            of_warp[warp][digit] = (uint16)sum;
            sum += of_this;
        }
    }
    block_sync();
}

// A tile is put in order in shared memory, keys first and then their values in the same place, so that neighbours of a
// digit are written side by side.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT / THREADS)
    scatter_digits(const Key* keys, const unsigned* values, int n, int shift, int mask, int tile_count,
                   const int* counts, const int* digit_first, Key* keys_out, unsigned* values_out, const int* flag,
                   int wanted) {
    SHARED uint16 of_warp[WARPS][DIGITS];
    SHARED int first_in_tile[DIGITS];
    SHARED int place[DIGITS];  // where the first key of a digit goes, less its place in the tile
    SHARED Key staged[TILE];
    if (is_idle(flag, wanted)) return;
    const int warp = thread_index() / WARP_LANES, first_of_warp = warp * ITEMS * WARP_LANES + warp_lane();
    for (int tile = block_index(); tile < tile_count; tile += block_count()) {
        const int count = min(TILE, n - tile * TILE);
        Key mine[ITEMS];
        int to[ITEMS], out[ITEMS];
        load_keys(keys + (int64)tile * TILE, count, first_of_warp, WARP_LANES, mine);
        for (int digit : block_stride(DIGITS)) place[digit] = digit_first[digit] + counts[digit * tile_count + tile];
        for (int i : block_stride(WARPS * DIGITS)) of_warp[0][i] = 0;
        block_sync();
        rank_in_warp(mine, shift, mask, of_warp[warp], to);
        block_sync();
        place_warps(of_warp, first_in_tile);
        for (int digit : block_stride(DIGITS)) place[digit] -= first_in_tile[digit];
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            to[item] += of_warp[warp][digit_of(mine[item], shift, mask)];
            staged[to[item]] = mine[item];
        }
        block_sync();
        unsigned payload[HAS_VALUES ? ITEMS : 1];
        if (HAS_VALUES) {
#pragma unroll
            for (int item = 0; item < ITEMS; ++item) {
                const int i = first_of_warp + item * WARP_LANES;
                payload[item] = i < count ? values[(int64)tile * TILE + i] : 0u;
            }
        }
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int i = thread_index() + item * block_threads();
            const Key key = staged[i];
            out[item] = place[digit_of(key, shift, mask)] + i;
            if (i < count) keys_out[out[item]] = key;
        }
        block_sync();
        if (!HAS_VALUES) continue;
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) staged[to[item]] = payload[item];
        block_sync();
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int i = thread_index() + item * block_threads();
            if (i < count) values_out[out[item]] = (unsigned)staged[i];
        }
        block_sync();
    }
}

constexpr int FEW = 8;  // keys of a run that are looked at before it is asked whether it is a long one

// -- keys alike in their upper bits --------------------------------------------------------------------------------
// Upper: the 32 bits from `upper` on. Lower: those of the mask from `lower` on.
struct LongKeys {
    Pointer<const Key> keys;
    int n, upper, lower;
    unsigned lower_mask;

    __device__ bool are_alike(int i, int j) const {
        return j >= 0 && j < n && (unsigned)(keys[i] >> upper) == (unsigned)(keys[j] >> upper);
    }
    __device__ bool is_far_alike(int i) const { return are_alike(i, i - MOST_RUN) || are_alike(i, i + MOST_RUN); }
    __device__ unsigned lower_bits(int i) const { return (unsigned)(keys[i] >> lower) & lower_mask; }
};

// Where a key goes in its run: as many of it come before it. A run of more than MOST_RUN keys stays as it is; whether
// it is out of order is told by neighbours.
__device__ __forceinline__ int place_in_run(const LongKeys& all, int i, int* unordered) {
    const unsigned mine = all.lower_bits(i);
    int before = 0, behind = 0, place = i;
    bool is_long = false;
    for (; !is_long && all.are_alike(i, i - before - 1); ++before) {
        if (all.lower_bits(i - before - 1) > mine) --place;
        is_long = before == FEW && all.is_far_alike(i);
    }
    for (; !is_long && all.are_alike(i, i + behind + 1); ++behind) {
        if (all.lower_bits(i + behind + 1) < mine) ++place;
        is_long = behind == FEW && all.is_far_alike(i);
    }
    if (!is_long && before + behind < MOST_RUN) return place;
    if (all.are_alike(i, i - 1) && all.lower_bits(i - 1) > mine) atomic_or(unordered, 1);
    return i;
}

// A thread a key. Where keys were `crowded` all stay, and none is looked at.
extern "C" __global__ void order_runs(const Key* keys, const unsigned* values, int n, int upper, int lower,
                                      unsigned lower_mask, const int* crowded, Key* keys_out, unsigned* values_out,
                                      int* unordered) {
    const LongKeys all = {keys, n, upper, lower, lower_mask};
    const bool do_stay = *crowded != 0;
    if (do_stay && block_index() == 0 && thread_index() == 0) atomic_or(unordered, 1);
    for (int i : grid_stride(n)) {
        const int place = do_stay ? i : place_in_run(all, i, unordered);
        keys_out[place] = keys[i];
        if (HAS_VALUES) values_out[place] = values[i];
    }
}

// After a sort by all bits: whether the next one had better be by all at once, too, as there are long runs.
extern "C" __global__ void look_for_runs(const Key* keys, int n, int upper, int lower, unsigned lower_mask,
                                         const int* unordered, int* crowded) {
    if (*unordered == 0) return;
    const LongKeys all = {keys, n, upper, lower, lower_mask};
    for (int i : grid_stride(n))
        if (all.are_alike(i, i + MOST_RUN) && all.lower_bits(i) != all.lower_bits(i + MOST_RUN)) atomic_or(crowded, 1);
}
