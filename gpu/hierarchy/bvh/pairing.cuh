// Nearest neighbours paired along the climb of a linear BVH: what H-PLOC's builders have in common (Benthin, Meister,
// Barczak, Mehalwal, Tsakok and Kensler 2024). Subtrees meet at the gaps between references as Apetrei's (2014) do, but
// a node over more than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF
// each, and pairs nearest neighbours (Meister and Bittner 2017) until HALF are left. At the root it goes on until one
// is.
//
// A block takes one chunk of references, at most MOST, and works in shared memory (pair_chunk); what becomes of a chunk
// is its builder's matter, and so is how many clusters are left of one that has been joined as a whole: KEPT, HALF or
// fewer. Blocks have THREADS threads, one warp: nobody waits for a neighbour's merges, which take microseconds, one
// after the other on the way to the root. So clusters stay in registers, too (device/tile.cuh).
//
// Ids come from places, pairs from the boxes alone: no order of arrival shows. Unit constants: CODE_BITS, MOST, KEPT,
// THREADS, RADIUS, and those of clusters.cuh, with LEAVES_IN_ORDER.
// from gpu.hierarchy.bvh.pairing import HALF
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int TREE = 1;  // one cluster, of all references
static_assert(HALF == TILE_ITEMS / 2, "two halves meet in one warp");
static_assert(KEPT <= HALF, "a chunk's clusters meet those of another in one warp");

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that
// come from below stand lower than they may: neighbours can always be paired, and the depth is bounded (max_depth of
// the builders).
constexpr int HEADROOM = 8;

// -- one warp's clusters ---------------------------------------------------------------------------------

using Clusters = TileValues<PackedCluster>;

// How much of its own area a cluster has paid for already when a pair is judged. The area of the common box alone lets
// large clusters wait for ever.
constexpr float OWN_SHARE = 0.4f;
// How much dearer a pair is for every place that lies between in Morton order: boxes reach over others less often, and
// more pairs can be leaves.
constexpr float APART = 0.125f;

// What a pair is judged by.
struct Judged {
    Aabb box;
    float paid;
};

__device__ __forceinline__ float span_area(const float3& span) {
    return min(span.x * span.y + span.y * span.z + span.z * span.x, FLOAT_MAX);
}
// Inactive primitives alone, whose box is infinite here, have paid nothing.
__device__ __forceinline__ Judged judged(const PackedCluster& cluster) {
    const Aabb box = box_of(cluster);
    return {box, box.upper.x < box.lower.x ? 0.0f : OWN_SHARE * span_area(box.upper - box.lower)};
}

// The area of two clusters' common box less what both have paid, times how far they are apart. The last bits are
// replaced by those in which their indices differ: equal for both, different for any two neighbours of one cluster, and
// among equal areas (coincident primitives) half of all clusters find a partner at once.
struct PairKey {
    __device__ __forceinline__ int operator()(const Judged& mine, const Judged& other, int i, int j) const {
        const Aabb box = merge(mine.box, other.box);
        const float unpaid = max(span_area(box.upper - box.lower) - (mine.paid + other.paid), 0.0f);
        return (__float_as_int(unpaid * (1.0f + APART * (float)(j - i))) & ~31) | (i ^ j);
    }
};

// Where no pair may merge: the clusters that are low enough, two by two in their order. The other one's index, or the
// own.
__device__ __forceinline__ int partner_in_order(unsigned low, int i) {
    if (!(low >> i & 1)) return i;
    const unsigned before = low & ((1u << i) - 1u), after = low & ~before & ~(1u << i);
    if (__popc(before) % 2 == 1) return 31 - __clz((int)before);
    return after != 0 ? __ffs((int)after) - 1 : i;
}

// One round: pairs become nodes, the others stay; returns how many clusters there are now, in their order. Neighbours
// are a pair when each is the other's nearest, and both are low enough. What is moved is indices: both clusters of a
// pair are fetched once, by the lane that keeps their node.
__device__ __forceinline__ int join_pairs(Clusters& clusters, int count, int limit, const ClusterOutput& out) {
    TileValues<Judged> candidates;
    TileValues<int> partners;
    for (int i : lane_stride(count)) candidates[i] = judged(clusters[i]);
    const TileValues<int> keys = tile_nearest<RADIUS>(count, candidates, PairKey());
    for (int i : lane_stride(count)) partners[i] = i ^ (keys[i] & 31);
    const TileValues<int> other_keys = tile_read(count, keys, partners);
    const unsigned low = tile_ballot(count, [&](int i) { return height_of(clusters[i]) < limit; });
    for (int i : lane_stride(count)) {
        const bool is_pair = ((other_keys[i] ^ keys[i]) & 31) == 0 && (low >> i & low >> partners[i] & 1);
        if (!is_pair) partners[i] = i;
    }
    unsigned kept = tile_ballot(count, [&](int i) { return partners[i] >= i; });
    if (__popc(kept) == count) {
        for (int i : lane_stride(count)) partners[i] = partner_in_order(low, i);
        kept = tile_ballot(count, [&](int i) { return partners[i] >= i; });
    }
    for (int i : lane_stride(count)) partners[i] = partners[i] << 8 | i;
    const int left = __popc(kept);
    TileValues<int> from = tile_compact<THREADS>(count, partners, kept), with;
    for (int i : lane_stride(left)) {
        with[i] = from[i] >> 8;
        from[i] &= 31;
    }
    const Clusters others = tile_read(left, clusters, with);
    clusters = tile_read(left, clusters, from);
    for (int i : lane_stride(left)) {
        if (with[i] != from[i]) clusters[i] = pack(join_clusters(unpack(clusters[i]), unpack(others[i]), out));
    }
    return left;
}

// -- where subtrees meet ---------------------------------------------------------------------------------

// References [first, last] on their way up: `count` clusters, at most HALF, in the slots from `first` on.
struct Range {
    int first, last, count;
};

// An arrival in one word: how far the references reach, and the number of clusters. Never NO_ONE.
__device__ __forceinline__ int arrival_word(int far_end, int count) { return far_end | (count - 1) << REFERENCE_BITS; }
__device__ __forceinline__ int far_end_of(int word) { return word & ((1 << REFERENCE_BITS) - 1); }
__device__ __forceinline__ int count_of(int word) { return (word >> REFERENCE_BITS) + 1; }

// Where clusters wait in global memory.
__device__ __forceinline__ void store_slot(float4* slots, int slot, const PackedCluster& cluster) {
    slots[2 * (int64)slot] = cluster.low;
    slots[2 * (int64)slot + 1] = cluster.high;
}

// A gap is looked at before a merge, and its rank is known after it: so nobody waits for keys from global memory. The
// exchange at a gap tells the second arriver what the first one brings; it leaves the gap as it was found.
struct LocalMeeting {
    Pointer<const uint8> ranks;
    Pointer<float4> slots;
    Pointer<int> arrivals;
    int first, last;  // the chunk's references; gap `first` - 1 has index 0
    int n;

    using Look = int;
    __device__ bool is_chunk(const Range& range) const {
        return KEPT < HALF && range.first == first && range.last == last;
    }
    __device__ int look(int gap) const { return ranks[gap - first + 1]; }
    __device__ int rank(int, int seen) const { return seen; }
    __device__ void store_cluster(int slot, const PackedCluster& cluster) const {
        slots[slot - first] = cluster.low;
        slots[slot - first + MOST] = cluster.high;
    }
    __device__ PackedCluster load_cluster(int slot) const { return {slots[slot - first], slots[slot - first + MOST]}; }
    __device__ int arrive(int gap, int word) const { return block_atomic_exchange(arrivals + (gap - first + 1), word); }
    __device__ void leave(int gap) const { arrivals[gap - first + 1] = NO_ONE; }
};

// The clusters of two neighbouring ranges become at most `least`, or the TREE; returns their number. The whole warp
// works on it.
template <class Meeting>
__device__ __forceinline__ int merge_ranges(const Meeting& meeting, int first, int left_count, int gap, int right_count,
                                            int limit, int least, const ClusterOutput& out) {
    int count = left_count + right_count;
    warp_sync();
    Clusters clusters;
    for (int i : lane_stride(count))
        clusters[i] = meeting.load_cluster(i < left_count ? first + i : gap + 1 + i - left_count);
    warp_sync();
    // Below HALF in halves, so that each may stand one higher than the one before.
#pragma unroll 1
    for (int goal = HALF;; goal /= 2, ++limit) {
#pragma unroll 1
        while (count > goal) count = join_pairs(clusters, count, limit, out);
        if (goal == least) break;
    }
    if (least == TREE) {
        for (int i : lane_stride(1)) leave_tree(unpack(clusters[i]), out);
    } else {
        for (int i : lane_stride(count)) meeting.store_cluster(first + i, clusters[i]);
    }
    warp_sync();
    return count;
}

// What a lane knows of its range lies in shared memory while its warp merges, so that registers are free for the
// clusters, and more warps find room.
struct Waiting {
    int first[THREADS], last[THREADS], gap[THREADS];
    int counts[THREADS];  // clusters on the left and in all, and at most afterwards
    int ranks[THREADS];  // of the gaps before and after, and how high clusters may stand

    __device__ void keep(const Range& range, int left_count, int between, int before, int after, int least) {
        const int lane = thread_index();
        first[lane] = range.first;
        last[lane] = range.last;
        gap[lane] = between;
        counts[lane] = left_count | range.count << 8 | least << 16;
        ranks[lane] = before | after << 8 | (min(before, after) + HEADROOM) << 16;
    }
    __device__ int least(int lane) const { return counts[lane] >> 16; }
    __device__ int before(int lane) const { return ranks[lane] & 255; }
    __device__ int after(int lane) const { return ranks[lane] >> 8 & 255; }
    __device__ int limit(int lane) const { return ranks[lane] >> 16; }
    __device__ Range range(int lane) const { return {first[lane], last[lane], counts[lane] >> 8 & 255}; }
};

// Carry each lane's range up until it has to wait for its other half, or is the whole tree.
template <class Meeting>
__device__ __forceinline__ void climb(Range mine, bool is_active, const Meeting& meeting, const ClusterOutput& out) {
    SHARED Waiting kept;
    int before = OUTSIDE_RANK, after = OUTSIDE_RANK;
    if (is_active) {
        before = meeting.rank(mine.first - 1, meeting.look(mine.first - 1));
        after = meeting.rank(mine.last, meeting.look(mine.last));
    }
    while (warp_any(is_active)) {
        bool needs_merge = false, is_left = false;
        typename Meeting::Look seen = {};
        if (is_active) {
            is_left = after < before;
            const int gap = is_left ? mine.last : mine.first - 1;
            const int other = meeting.arrive(gap, arrival_word(is_left ? mine.first : mine.last, mine.count));
            is_active = other != NO_ONE;
            if (is_active) {
                meeting.leave(gap);
                const int left_count = is_left ? mine.count : count_of(other);
                mine = {min(mine.first, far_end_of(other)), max(mine.last, far_end_of(other)),
                        mine.count + count_of(other)};
                seen = meeting.look(is_left ? mine.last : mine.first - 1);
                const int least = mine.first == 0 && mine.last == meeting.n - 1 ? TREE
                                  : meeting.is_chunk(mine)                      ? KEPT
                                                                                : HALF;
                needs_merge = least < HALF || mine.last - mine.first >= HALF;
                kept.keep(mine, left_count, gap, before, after, least);
            }
        }
        warp_sync();
        const int first_lane = thread_index() - warp_lane();
        for (unsigned waiting = warp_ballot(needs_merge); waiting != 0; waiting &= waiting - 1) {
            const int lane = first_lane + __ffs((int)waiting) - 1, left = kept.counts[lane] & 255;
            const Range range = kept.range(lane);
            const int count = merge_ranges(meeting, range.first, left, kept.gap[lane], range.count - left,
                                           kept.limit(lane), kept.least(lane), out);
            if (thread_index() == lane) kept.counts[lane] = (kept.counts[lane] & ~(255 << 8)) | count << 8;
        }
        warp_sync();
        if (is_active) {
            const int lane = thread_index();
            mine = kept.range(lane);
            before = is_left ? kept.before(lane) : meeting.rank(mine.first - 1, seen);
            after = is_left ? meeting.rank(mine.last, seen) : kept.after(lane);
            is_active = kept.least(lane) != TREE;
        }
    }
}

// Records and order of the references of this block's chunk, and all that can be joined within it. `rank(gap)`: of the
// gap behind the chunk's reference `gap`; -1 is the one before its first.
template <class Rank>
__device__ __forceinline__ void pair_chunk(const Primitives& primitives, const uint64* keys, const int* prim_ids,
                                           int* order, const Records& records, const LocalMeeting& local, uint8* ranks,
                                           int count, const ClusterOutput& out, const Rank& rank) {
    const int n = primitives.count, first = local.first;
    for (int i : block_stride(count + 1)) {
        ranks[i] = (uint8)rank(i - 1);
        local.arrivals[i] = NO_ONE;
    }
    for (int i : block_stride(count)) {
        const int prim_id = prim_id_of(keys, prim_ids, first + i), last = n - 1;
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_INDICES_AHEAD, last)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_POINTS_AHEAD, last)));
        order[first + i] = prim_id;
        local.store_cluster(first + i, pack(single_cluster(records.write(first + i, primitives, prim_id), first + i)));
    }
    block_sync();
    if (n == 1 && thread_index() == 0) leave_tree(unpack(local.load_cluster(0)), out);
#pragma unroll 1
    for (int start = 0; start < count; start += block_threads()) {
        const int i = start + thread_index();
        climb({first + i, first + i, 1}, i < count && n > 1, local, out);
    }
    block_sync();
}
