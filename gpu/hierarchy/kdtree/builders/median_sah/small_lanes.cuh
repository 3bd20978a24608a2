// Small nodes where a thread has packs of lanes, as on the host: a plane is laid beside so many references at once, and
// so many planes of a node are judged at once. Sets, choices and their order are those of small.cuh.
#pragma once
#include "gpu/device/lanes.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/small.cuh"

// Manku's sums are asked for where the two ways of counting bits are compared: one by one, then.
constexpr bool IN_LANES = !IS_SINGLE_RAY && !MANKU;
static_assert(!IN_LANES || SMALL % PACK == 0, "packs of planes end where a side ends");

// Words of 32 references of all planes' sets.
constexpr int LEFT_WORDS = 0, RIGHT_WORDS = 2, SET_WORDS = 4, LANE_CANDIDATES = IN_LANES ? CANDIDATES : 1;

// A small root's planes and sets, in the order of their candidates.
struct LanePlanes {
    const float* planes;
    int (*words)[LANE_CANDIDATES];

    __device__ __forceinline__ float plane(int candidate) const { return planes[candidate]; }
    __device__ __forceinline__ uint4 both_sets(int candidate) const {
        return make_uint4((unsigned)words[LEFT_WORDS][candidate], (unsigned)words[LEFT_WORDS + 1][candidate],
                          (unsigned)words[RIGHT_WORDS][candidate], (unsigned)words[RIGHT_WORDS + 1][candidate]);
    }

    // A pack of planes at a time, reference by reference, so that a set's bits never leave their lane.
    __device__ __forceinline__ void make_sets(int count) const {
        for (int axis = 0; axis < 3; ++axis) {
            const uint64 flat = flat_along(axis, count);
            for (int side = axis; side < SIDES; side += 3) {
                for (int i = 0; i < count; i += PACK) {
                    for (int half = 0; half < 2; ++half) make_words(side, i, half, flat, count);
                }
            }
        }
    }
    // As sets_of of small.cuh.
    __device__ __forceinline__ uint4 sets_of(int candidate, int count) const {
        uint64 left, right;
        find_sets(candidate, flat_along(candidate / SMALL % 3, count), count, left, right);
        return make_uint4((unsigned)left, (unsigned)(left >> 32), (unsigned)right, (unsigned)(right >> 32));
    }

private:
    // The words of a pack of planes that 32 of the references have bits in.
    __device__ __forceinline__ void make_words(int side, int i, int half, uint64 flat, int count) const {
        const int first = side * SMALL + i, begin = 32 * half, end = min(count, begin + 32);
        const float *lows = planes + side % 3 * SMALL, *highs = lows + 3 * SMALL;
        const Real at = load(planes + first);
        Int left = splat_int(0), right = splat_int(0), bit = splat_int(1);
        for (int other = begin; other < end; ++other, bit = bit << 1) {
            left = select(splat(lows[other]) < at, left | bit, left);
            right = select(splat(highs[other]) > at, right | bit, right);
        }
        Int& of_flat = side >= 3 ? left : right;
        for (unsigned rest = (unsigned)(flat >> begin); rest != 0; rest &= rest - 1) {
            const int place = __ffs((int)rest) - 1;
            const Int with_flat = of_flat | splat_int((int)(1u << place));
            of_flat = select(splat(lows[begin + place]) == at, with_flat, of_flat);
        }
        store(words[LEFT_WORDS + half] + first, left);
        store(words[RIGHT_WORDS + half] + first, right);
    }
    // Which references are flat along an axis.
    __device__ __forceinline__ uint64 flat_along(int axis, int count) const {
        const float *lows = planes + axis * SMALL, *highs = planes + (3 + axis) * SMALL;
        uint64 flat = 0;
        for (int i = 0; i < count; i += PACK) flat |= (uint64)mask_bits(load(lows + i) == load(highs + i)) << i;
        return flat & all_of(count);
    }
    // What is flat in the plane lies on one of its sides.
    __device__ __forceinline__ void find_sets(int candidate, uint64 flat, int count, uint64& left,
                                              uint64& right) const {
        const int axis = candidate / SMALL % 3;
        const float *lows = planes + axis * SMALL, *highs = planes + (3 + axis) * SMALL;
        const Real at = splat(planes[candidate]);
        uint64 in_plane = 0;
        left = right = 0;
        for (int i = 0; i < count; i += PACK) {
            left |= (uint64)mask_bits(load(lows + i) < at) << i;
            right |= (uint64)mask_bits(load(highs + i) > at) << i;
        }
        for (int i = 0; flat != 0 && i < count; i += PACK) in_plane |= (uint64)mask_bits(load(lows + i) == at) << i;
        (candidate >= 3 * SMALL ? left : right) |= in_plane & flat;
        left &= all_of(count);
        right &= all_of(count);
    }
};

// A node's references on one side of a pack of planes.
__device__ __forceinline__ Int counts_of(const LanePlanes& all, int words, int candidate, uint64 set) {
    const Int low = load(all.words[words] + candidate), high = load(all.words[words + 1] + candidate);
    return lanes_popcount(low & (int)set) + lanes_popcount(high & (int)(set >> 32));
}

// As best_candidate of small.cuh.
__device__ __forceinline__ uint64 best_candidate(const LanePlanes& all, const SmallNode& node, int node_count,
                                                 const SplitCosts& costs) {
    Real least = splat(__int_as_float(0x7f800000));
    Int chosen = splat_int(NO_CANDIDATE);
    for (int side = 0; side < SIDES; ++side) {
        const AxisCosts along_axis = costs_along(node.cell.lower, node.cell.upper, side % 3);
        const float low = along_axis.low, high = along_axis.high, face = side >= 3 ? low : high;
        for (int i = 0; i < SMALL; i += PACK) {
            const unsigned mine = (unsigned)(node.set >> i) & PACK_BITS;
            if (mine == 0) continue;
            const int first = side * SMALL + i;
            const Real plane = load(all.planes + first);
            Mask may_split = (plane > low) & (plane < high);
            if (low < high) may_split = may_split | plane == face;
            may_split = may_split & mask_from_bits(mine);
            if (!any(may_split)) continue;
            const Int left = counts_of(all, LEFT_WORDS, first, node.set),
                      right = counts_of(all, RIGHT_WORDS, first, node.set);
            const Real whole = along_axis.cost_of_both(costs, plane, to_real(left), to_real(right));
            const Mask is_empty = left == splat_int(0) | right == splat_int(0),
                       divides = left < splat_int(node_count) | right < splat_int(node_count);
            const Real cost = select(is_empty, whole * costs.empty_factor, whole);
            const Mask is_less = may_split & divides & cost < least;
            least = select(is_less, cost, least);
            chosen = select(is_less, lane_index() + first, chosen);
        }
    }
    const float cost = horizontal_min(least, splat_mask(true));
    const Mask cheapest = least == splat(cost) & splat_int(NO_CANDIDATE) < chosen;
    if (!any(cheapest)) return 0;
    return ~((uint64)__float_as_uint(cost) << 32 | (unsigned)(int)horizontal_min(to_real(chosen), cheapest));
}
