// The splits of small nodes, on boxes that are cut along all axes. A warp or a block takes a node: it bounds what was
// cut anew by the part of its primitive in the node's cell, leaves out what has none there, and finds for each end of a
// box how many boxes lie below and above it. So these nodes need no events, and nothing is kept in order while boxes
// shrink.
#include "gpu/device/block_sort.cuh"
#include "gpu/hierarchy/kdtree/builders/sah_events/event_keys.cuh"

// references of a node that a warp takes, by comparing all with all; larger ones are sorted by a block
constexpr int WARP_NODE = RUNS_SERIAL ? 128 : 64;
constexpr int WARPS = THREADS / WARP_LANES;
constexpr int WARP_ROW = WARP_NODE + 8;  // rows of different axes begin in different banks
__device__ constexpr int power_of_two_from(int count) {
    int power = 1;
    while (power < count) power *= 2;
    return power;
}
constexpr int BLOCK_ROW = power_of_two_from(SMALL_NODE);
constexpr int ROWS = 9, WORDS = ROWS * (WARPS * WARP_ROW > BLOCK_ROW ? WARPS * WARP_ROW : BLOCK_ROW);

// The ends of a node's boxes along each axis: rows of lower ones, of upper ones, and of those that are both. What is
// not there is beyond all planes.
struct Ends {
    Pointer<float> words;
    int row_length, length;

    __device__ __forceinline__ float* lowers(int axis) const { return words + axis * row_length; }
    __device__ __forceinline__ float* uppers(int axis) const { return words + (3 + axis) * row_length; }
    __device__ __forceinline__ float* flats(int axis) const { return words + (6 + axis) * row_length; }
    __device__ __forceinline__ void store(int i, const Aabb& box) const {
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float low = along(box.lower, axis), high = along(box.upper, axis);
            lowers(axis)[i] = low;
            uppers(axis)[i] = high;
            flats(axis)[i] = low == high ? low : FLOAT_MAX;
        }
    }
};

// The best plane so far: of equal costs the first axis, the lowest plane, and what lies in it on the right.
struct Best {
    SplitCosts costs;
    CellCosts cell;
    float cost;
    uint64 key;

    __device__ __forceinline__ void offer(const AxisCosts& along_axis, int axis, float plane, int left, int right,
                                          bool flat_right) {
        const float found = along_axis.cost(costs, plane, left, right);
        const uint64 place = (uint64)axis << 33 | (uint64)ordered_plane(plane) << 1 | (flat_right ? 0 : 1);
        if (!(found < cost || (found == cost && place < key))) return;
        cost = found;
        key = place;
    }
    // A plane: how many boxes have a part below it, have one above it, and lie in it.
    __device__ __forceinline__ void judge(const AxisCosts& along_axis, int axis, float plane, int below, int above,
                                          int flat) {
        const bool is_inside = along_axis.is_inside(plane), can_flat = flat > 0 && along_axis.low < along_axis.high;
        if (is_inside || (can_flat && plane == along_axis.low))
            offer(along_axis, axis, plane, below + flat, above, false);
        if (can_flat && (is_inside || plane == along_axis.high))
            offer(along_axis, axis, plane, below, above + flat, true);
    }
    __device__ __forceinline__ Split split() const {
        const int axis = (int)(key >> 33);
        return {axis, ordered_float((int)((unsigned)(key >> 1) ^ 0x80000000u)), (key & 1) == 0};
    }
};

// Those who take a node together, and how they look at its planes. `with_flats`: whether any box is flat.
struct OfWarp {
    static constexpr int SIZE = WARP_LANES;
    __device__ __forceinline__ static int mine() { return warp_lane(); }
    __device__ __forceinline__ static int sum(int value) { return warp_sum(value); }
    __device__ __forceinline__ static uint64 least(uint64 value) { return warp_min(value); }
    __device__ __forceinline__ static int length_for(int count) { return (count + 7) / 8 * 8; }

    // The ends of each box against all others.
    __device__ __forceinline__ static void judge(int count, const Ends& ends, bool with_flats, Best& best) {
        for (int item = warp_lane(); item < 3 * count; item += WARP_LANES) {
            const int axis = (item >= count ? 1 : 0) + (item >= 2 * count ? 1 : 0), i = item - axis * count;
            const float *lowers = ends.lowers(axis), *uppers = ends.uppers(axis), *flats = ends.flats(axis);
            const float low = lowers[i], high = uppers[i];
            const AxisCosts along_axis = best.cell.along_axis(axis);
            if (low > high || !(with_flats || along_axis.is_inside(low) || along_axis.is_inside(high))) continue;
            int below_low = 0, above_low = 0, below_high = 0, above_high = 0, flat_low = 0, flat_high = 0;
#pragma unroll 4
            for (int other = 0; other < ends.length; ++other) {
                const float lower = lowers[other], upper = uppers[other];
                below_low += lower < low ? 1 : 0;
                above_low += upper > low ? 1 : 0;
                below_high += lower < high ? 1 : 0;
                above_high += upper > high ? 1 : 0;
            }
            for (int other = 0; with_flats && other < ends.length; ++other) {
                flat_low += flats[other] == low ? 1 : 0;
                flat_high += flats[other] == high ? 1 : 0;
            }
            best.judge(along_axis, axis, low, below_low, above_low, flat_low);
            best.judge(along_axis, axis, high, below_high, above_high, flat_high);
        }
    }
};

// How many of sorted values are below a value; their number is a power of two.
__device__ __forceinline__ int count_below(const float* sorted, int length, float value) {
    int count = 0;
    for (int step = length; step > 0; step >>= 1)
        count += count + step <= length && sorted[count + step - 1] < value ? step : 0;
    return count;
}
__device__ __forceinline__ int count_up_to(const float* sorted, int length, float value) {
    int count = 0;
    for (int step = length; step > 0; step >>= 1)
        count += count + step <= length && sorted[count + step - 1] <= value ? step : 0;
    return count;
}

struct OfBlock {
    static constexpr int SIZE = THREADS;
    __device__ __forceinline__ static int mine() { return thread_index(); }
    __device__ __forceinline__ static int sum(int value) { return block_sum(value); }
    __device__ __forceinline__ static uint64 least(uint64 value) { return block_min(value); }
    __device__ __forceinline__ static int length_for(int count) { return power_of_two_from(count); }

    // Each row sorted by itself, and of equal planes one looked up in the other one.
    __device__ __forceinline__ static void judge(int, const Ends& ends, bool with_flats, Best& best) {
        const int length = ends.length, bits = 31 - __clz(length);
        block_sort_rows<THREADS>(ends.words, with_flats ? ROWS : 6, ends.row_length, length);
        for (int item : block_stride(6 * length)) {
            const int row = item >> bits, axis = row < 3 ? row : row - 3, i = item & (length - 1);
            const float* mine = ends.words + row * ends.row_length;
            const float plane = mine[i];
            const AxisCosts along_axis = best.cell.along_axis(axis);
            if (!(with_flats || along_axis.is_inside(plane))) continue;
            if (row < 3 ? plane == FLOAT_MAX || (i > 0 && mine[i - 1] == plane)
                        : plane == -FLOAT_MAX || (i + 1 < length && mine[i + 1] == plane))
                continue;
            const int below = row < 3 ? i : count_below(ends.lowers(axis), length, plane);
            const int above = length - (row < 3 ? count_up_to(ends.uppers(axis), length, plane) : i + 1);
            const int flat = with_flats ? count_up_to(ends.flats(axis), length, plane) -
                                              count_below(ends.flats(axis), length, plane)
                                        : 0;
            best.judge(along_axis, axis, plane, below, above, flat);
        }
    }
};

// Boxes of a block's nodes that were cut since they were bounded last. Few are, so that the block gathers them and then
// takes one per thread.
struct Cuts {
    int count;
    // of a warp's node: its reference, and above that the warp
    unsigned short places[WARPS * WARP_NODE > BLOCK_ROW ? WARPS * WARP_NODE : BLOCK_ROW];
    int firsts[WARPS];
};
constexpr int PLACE_BITS = 11;
static_assert(BLOCK_ROW < 1 << PLACE_BITS && WARPS <= 1 << (16 - PLACE_BITS), "a place is a number of 16 bits");

// Of a node: its boxes as they are, and places of those to be bounded anew.
template <class Workers>
__device__ __forceinline__ void load_boxes(const References& references, const int4& range, const Ends& ends,
                                           Cuts& cuts, int warp) {
    if (Workers::mine() == 0) cuts.firsts[warp] = range.x;
    for (int i = Workers::mine(); i < ends.length; i += Workers::SIZE) {
        Aabb box = empty_aabb();
        if (i < range.y) {
            const Reference reference = references.load(range.x + i);
            box = {reference.lower, reference.upper};
            if ((reference.prim_id & CUT) != 0)
                cuts.places[block_atomic_add(&cuts.count, 1)] = (unsigned short)(warp << PLACE_BITS | i);
        }
        ends.store(i, box);
    }
}

// Bounds them by the parts of their primitives; a box is empty, and so on neither side of any plane, where the
// primitive has no part in it. `row_length`: of the ends of each warp's node.
__device__ __forceinline__ void bound_anew(const Primitives& primitives, const References& references, const Cuts& cuts,
                                           float* words, int row_length) {
    for (int item : block_stride(cuts.count)) {
        const int place = cuts.places[item], warp = place >> PLACE_BITS, i = place & ((1 << PLACE_BITS) - 1),
                  at = cuts.firsts[warp] + i;
        const Reference reference = references.load(at);
        const int prim_id = reference.prim_id & ~CUT;
        Aabb box = {reference.lower, reference.upper};
        if (!bound_inside(primitives.shape(primitives.corners(prim_id)), box)) box = empty_aabb();
        references.store(at, box.lower, box.upper, prim_id, reference.slot);
        const Ends ends = {words + warp * ROWS * row_length, row_length, 0};
        ends.store(i, box);
    }
}

template <class Workers>
__device__ __forceinline__ void split_node(const LevelNode& node, const Ends& ends, const SplitCosts& costs,
                                           const LeafRule& rule, int4* split) {
    int found = 0;  // how many boxes there are, and above them how many are flat
    for (int i = Workers::mine(); i < node.count; i += Workers::SIZE) {
        if (ends.lowers(0)[i] > ends.uppers(0)[i]) continue;
        found += ends.flats(0)[i] != FLOAT_MAX || ends.flats(1)[i] != FLOAT_MAX || ends.flats(2)[i] != FLOAT_MAX
                     ? 0x10001
                     : 1;
    }
    found = Workers::sum(found);
    Best best = {costs, costs_of(node.lower, node.upper), FLOAT_MAX, ~0ull};
    Workers::judge(node.count, ends, found >> 16 != 0, best);
    const unsigned mine = __float_as_uint(best.cost), least = (unsigned)Workers::least((uint64)mine);
    best.key = Workers::least(mine == least ? best.key : ~0ull);
    const bool is_leaf = best.key == ~0ull || rule.makes_leaf(node, found & 0xffff, __uint_as_float(least));
    if (Workers::mine() == 0) store_split(split, 0, is_leaf ? Split{NO_SPLIT, 0.0f, false} : best.split());
}

extern "C" __global__ void __launch_bounds__(TILE_THREADS, 4)
    split_small_nodes(Primitives primitives, const int* level, int room, float* reference_words, const float4* cells,
                      const int4* ranges, float traversal_cost, float intersection_cost, float empty_factor,
                      int by_cost, int max_leaf_size, int4* splits) {
    SHARED float words[WORDS];
    SHARED Cuts cuts;
    SHARED unsigned larger[WARPS];
    const References references = {reference_words, room};
    const SplitCosts costs = {traversal_cost, intersection_cost, empty_factor};
    const LeafRule rule = {intersection_cost, by_cost, max_leaf_size};
    const int first = level[LARGE_NODES], end = level[LEVEL_NODES], warp = thread_index() / WARP_LANES;
    for (int group = first + block_index() * WARPS; group < end; group += block_count() * WARPS) {
        const int slot = group + warp;
        const int4 range = slot < end ? ranges[slot] : make_int4(0, WARP_NODE + 1, 0, 0);
        const bool is_mine = range.y <= WARP_NODE;
        const Ends ends = {words + warp * ROWS * WARP_ROW, WARP_ROW, OfWarp::length_for(range.y)};
        block_sync();
        if (thread_index() == 0) cuts.count = 0;
        block_sync();
        if (is_mine) load_boxes<OfWarp>(references, range, ends, cuts, warp);
        block_sync();
        bound_anew(primitives, references, cuts, words, WARP_ROW);
        block_sync();
        if (is_mine) split_node<OfWarp>(load_level_node(cells, ranges, slot), ends, costs, rule, splits + slot);
    }
    for (int start = first + block_index(); start < end; start += block_count() * THREADS) {
        block_sync();
        const int slot = start + thread_index() * block_count();
        const unsigned of_warp = warp_ballot(slot < end && ranges[slot].y > WARP_NODE);
        if (warp_lane() == 0) larger[warp] = of_warp;
        block_sync();
        for (int row = 0; row < WARPS; ++row) {
            for (unsigned left = larger[row]; left != 0; left &= left - 1) {
                const int chosen = start + (row * WARP_LANES + __ffs((int)left) - 1) * block_count();
                const int4 range = ranges[chosen];
                const Ends ends = {words, BLOCK_ROW, OfBlock::length_for(range.y)};
                if (thread_index() == 0) cuts.count = 0;
                block_sync();
                load_boxes<OfBlock>(references, range, ends, cuts, 0);
                block_sync();
                bound_anew(primitives, references, cuts, words, BLOCK_ROW);
                block_sync();
                split_node<OfBlock>(load_level_node(cells, ranges, chosen), ends, costs, rule, splits + chosen);
                block_sync();
            }
        }
    }
}
