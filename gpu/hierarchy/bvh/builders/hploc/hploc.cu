// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): the climb of the linear BVH after Apetrei 2014, in which a node over more
// than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF each, and pairs nearest neighbours
// (Meister and Bittner 2017) until HALF are left. At the root it goes on until one is.
//
// In: Primitives in Morton order. Out: nodes, parents, flags and root as clusters.cuh describes them; plant_root and finish_leaves follow. build_clusters takes one
// block a CHUNK of references (block = CHUNK threads on CUDA). Ids come from places, pairs from the boxes alone: no order of arrival shows.
// Unit constants: CODE_BITS, CHUNK, RESIDENT (blocks a multiprocessor must have room for), RADIUS, MAX_LEAF_SIZE, WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int HALF = TILE_ITEMS / 2;
constexpr int WARPS = WARP_LANES == 1 ? 1 : CHUNK / WARP_LANES;
constexpr int NO_KEY = 0x7fffffff;

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that come from below stand lower
// than they may: neighbours can always be paired, and the depth is bounded (max_depth in __init__.py).
constexpr int HEADROOM = 8;

// -- one warp's clusters -------------------------------------------------------------------------------------------------

struct Tile {
    float4* slots;  // two tiles of clusters, low halves then high halves: one is read, the other written
    int* keys;      // of each cluster's nearest neighbour
    int at;         // the one that is read: 0 or 1

    __device__ float4* low(int which) const { return slots + 2 * TILE_ITEMS * which; }
    __device__ float4* high(int which) const { return slots + 2 * TILE_ITEMS * which + TILE_ITEMS; }
    __device__ PackedCluster load(int i) const { return {low(at)[i], high(at)[i]}; }
    __device__ void store(int which, int i, const PackedCluster& cluster) const {
        low(which)[i] = cluster.low;
        high(which)[i] = cluster.high;
    }
    __device__ int height(int i) const { return height_of(low(at)[i].w, high(at)[i].w); }

    // The other one of the pair that `i` is in, or `i`: neighbours are a pair when each is the other's nearest, and together not too high.
    __device__ int partner(int i, int limit) const {
        const int other = i ^ (keys[i] & 31);
        return (keys[other] & 31) == (keys[i] & 31) && max(height(i), height(other)) < limit ? other : i;
    }
};

// Each cluster's nearest neighbour: the one in reach with which it makes the smallest box. A key is the area, its last bits replaced by those in
// which the two indices differ: equal for both, different for any two neighbours of one cluster, and among equal areas (coincident primitives)
// half of all clusters find a partner at once.
__device__ __forceinline__ void find_nearest(const Tile& tile, int count) {
    for (int i : lane_stride(count)) tile.keys[i] = NO_KEY;
    warp_sync();
    for (int i : lane_stride(count)) {
        const Aabb mine = box_of(tile.load(i));
        const int last = min(i + RADIUS, count - 1);
        int nearest = NO_KEY;
        for (int j = i + 1; j <= last; ++j) {
            const float area = min(half_area(merge(mine, box_of(tile.load(j)))), FLOAT_MAX);
            const int key = (__float_as_int(area) & ~31) | (i ^ j);
            nearest = min(nearest, key);
            block_atomic_min(tile.keys + j, key);
        }
        block_atomic_min(tile.keys + i, nearest);
    }
    warp_sync();
}

// Where no pair may merge: the clusters that are low enough, two by two in their order.
__device__ __forceinline__ void pair_in_order(const Tile& tile, int count, int limit) {
    const unsigned low = tile_ballot(count, [&](int i) { return tile.height(i) < limit; });
    warp_sync();
    for (int i : lane_stride(count)) {
        int other = i;
        if (low >> i & 1) {
            const unsigned before = low & ((1u << i) - 1u), after = low & ~before & ~(1u << i);
            if (__popc(before) % 2 == 1) other = 31 - __clz((int)before);
            else if (after != 0) other = __ffs((int)after) - 1;
        }
        tile.keys[i] = i ^ other;
    }
    warp_sync();
}

// One round: pairs become nodes, the others stay; returns how many clusters there are now, in their order.
__device__ __forceinline__ int join_pairs(Tile& tile, int count, int limit, const ClusterOutput& out) {
    find_nearest(tile, count);
    unsigned kept = tile_ballot(count, [&](int i) { return tile.partner(i, limit) >= i; });
    if (__popc(kept) == count) {
        pair_in_order(tile, count, limit);
        kept = tile_ballot(count, [&](int i) { return tile.partner(i, limit) >= i; });
    }
    for (int i : lane_stride(count)) {
        if (!(kept >> i & 1)) continue;
        const int other = tile.partner(i, limit);
        PackedCluster cluster = tile.load(i);
        if (other != i) cluster = pack(join_clusters(unpack(cluster), unpack(tile.load(other)), out));
        tile.store(1 - tile.at, tile_place(kept, i), cluster);
    }
    warp_sync();
    tile.at = 1 - tile.at;
    return __popc(kept);
}

// -- where subtrees meet ---------------------------------------------------------------------------------------------------

// References [first, last] on their way up: `count` clusters, at most HALF, in the slots from `first` on.
struct Range {
    int first, last, count;
};

// An arrival in one word: how far the references reach, and the number of clusters. Never NO_ONE.
__device__ __forceinline__ int arrival_word(int far_end, int count) { return far_end | (count - 1) << REFERENCE_BITS; }
__device__ __forceinline__ int far_end_of(int word) { return word & ((1 << REFERENCE_BITS) - 1); }
__device__ __forceinline__ int count_of(int word) { return (word >> REFERENCE_BITS) + 1; }

// The exchange at a gap tells the second arriver what the first one brings; it leaves the gap as it was found.
struct LocalMeeting {
    const uint8* ranks;
    float4* slots;
    int* arrivals;
    int first;  // the chunk's first reference; gap `first` - 1 has index 0

    __device__ int rank(int gap) const { return ranks[gap - first + 1]; }
    __device__ void store_cluster(int slot, const PackedCluster& cluster) const {
        slots[slot - first] = cluster.low;
        slots[slot - first + CHUNK] = cluster.high;
    }
    __device__ PackedCluster load_cluster(int slot) const { return {slots[slot - first], slots[slot - first + CHUNK]}; }
    __device__ int arrive(int gap, int word) const { return block_atomic_exchange(arrivals + (gap - first + 1), word); }
    __device__ void leave(int gap) const { arrivals[gap - first + 1] = NO_ONE; }
};
struct GlobalMeeting {
    const uint64* keys;
    float4* slots;
    int* arrivals;
    int n;

    __device__ int rank(int gap) const { return rank_of_gap(keys, n, gap); }
    __device__ void store_cluster(int slot, const PackedCluster& cluster) const {
        slots[2 * (int64)slot] = cluster.low;
        slots[2 * (int64)slot + 1] = cluster.high;
    }
    __device__ PackedCluster load_cluster(int slot) const { return {slots[2 * (int64)slot], slots[2 * (int64)slot + 1]}; }
    __device__ int arrive(int gap, int word) const { return atomic_exchange(arrivals + gap, word); }
    __device__ void leave(int gap) const { arrivals[gap] = NO_ONE; }
};

// The clusters of two neighbouring ranges become at most HALF, or the tree; returns their number. The whole warp works on it.
template <class Meeting>
__device__ __forceinline__ int merge_ranges(Tile tile, const Meeting& meeting, int first, int left_count, int gap, int right_count, int limit, bool is_root,
                                            const ClusterOutput& out) {
    int count = left_count + right_count;
    warp_sync();
    for (int i : lane_stride(count)) tile.store(tile.at, i, meeting.load_cluster(i < left_count ? first + i : gap + 1 + i - left_count));
    warp_sync();
    // At the root in halves, so that each may stand one higher than the one before.
    for (int goal = HALF;; goal /= 2, ++limit) {
        while (count > goal) count = join_pairs(tile, count, limit, out);
        if (!is_root || goal == 1) break;
    }
    if (is_root) {
        if (warp_lane() == 0) leave_tree(unpack(tile.load(0)), out);
    } else {
        for (int i : lane_stride(count)) meeting.store_cluster(first + i, tile.load(i));
    }
    warp_sync();
    return count;
}

// Carry each lane's range up until it has to wait for its other half, or is the whole tree.
template <class Meeting> __device__ __forceinline__ void climb(Range mine, bool is_active, const Tile& tile, const Meeting& meeting, const ClusterOutput& out) {
    int before = is_active ? meeting.rank(mine.first - 1) : OUTSIDE_RANK, after = is_active ? meeting.rank(mine.last) : OUTSIDE_RANK;
    while (warp_any(is_active)) {
        int left_count = 0, gap = 0, limit = 0;
        bool needs_merge = false, is_root = false;
        if (is_active) {
            const bool is_left = after < before;
            gap = is_left ? mine.last : mine.first - 1;
            limit = min(before, after) + HEADROOM;
            const int other = meeting.arrive(gap, arrival_word(is_left ? mine.first : mine.last, mine.count));
            is_active = other != NO_ONE;
            if (is_active) {
                meeting.leave(gap);
                left_count = is_left ? mine.count : count_of(other);
                mine = {min(mine.first, far_end_of(other)), max(mine.last, far_end_of(other)), mine.count + count_of(other)};
                if (is_left) after = meeting.rank(mine.last); else before = meeting.rank(mine.first - 1);
                is_root = before == OUTSIDE_RANK && after == OUTSIDE_RANK;
                needs_merge = is_root || mine.last - mine.first >= HALF;
            }
        }
        for (unsigned waiting = warp_ballot(needs_merge); waiting != 0; waiting &= waiting - 1) {
            const int lane = __ffs((int)waiting) - 1;
            const int left = warp_broadcast(left_count, lane), right = warp_broadcast(mine.count, lane) - left;
            const bool at_root = warp_broadcast((int)is_root, lane) != 0;
            const int count = merge_ranges(tile, meeting, warp_broadcast(mine.first, lane), left, warp_broadcast(gap, lane), right,
                                           warp_broadcast(limit, lane), at_root, out);
            if (warp_lane() == lane) mine.count = count;
        }
        is_active = is_active && !is_root;
    }
}

// What of a chunk found no partner in it goes on in global memory, its clusters with it.
__device__ __forceinline__ void climb_out(const LocalMeeting& local, int count, const Tile& tile, const GlobalMeeting& global, const ClusterOutput& out) {
    const int rounds = (count + WARP_LANES) / WARP_LANES * WARP_LANES;
    for (int i : block_stride(rounds)) {
        const int gap = local.first - 1 + i, word = i <= count ? local.arrivals[i] : NO_ONE;
        Range waiting = {0, 0, 0};
        if (word != NO_ONE) waiting = {min(far_end_of(word), gap + 1), max(far_end_of(word), gap), count_of(word)};
        for (unsigned owners = warp_ballot(word != NO_ONE); owners != 0; owners &= owners - 1) {
            const int lane = __ffs((int)owners) - 1, first = warp_broadcast(waiting.first, lane);
            for (int slot : lane_stride(warp_broadcast(waiting.count, lane))) global.store_cluster(first + slot, local.load_cluster(first + slot));
        }
        warp_sync();
        climb(waiting, word != NO_ONE, tile, global, out);
    }
}

// Each block works its own chunk first, in shared memory. `deposits`: two float4 a reference; `arrivals`: NO_ONE at every gap, before and after.
extern "C" __global__ void __launch_bounds__(CHUNK, RESIDENT)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* nodes, int* parent, uint8* flags, int* root, int* leaf_counts,
                   float4* bvh2, float4* deposits, int* arrivals) {
    SHARED uint8 chunk_ranks[CHUNK + 1];
    SHARED int chunk_arrivals[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    SHARED float4 tile_slots[WARPS][4 * TILE_ITEMS];
    SHARED int tile_keys[WARPS][TILE_ITEMS];
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES;
    const Tile tile = {tile_slots[warp], tile_keys[warp], 0};
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_arrivals, first};
    for (int i : block_stride(count + 1)) {
        chunk_ranks[i] = (uint8)rank_of_gap(keys, n, first - 1 + i);
        chunk_arrivals[i] = NO_ONE;
    }
    for (int i : block_stride(count)) {
        const int prim_id = prim_id_of(keys, prim_ids, first + i), last = n - 1;
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_INDICES_AHEAD, last)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_POINTS_AHEAD, last)));
        local.store_cluster(first + i, pack(single_cluster(primitives.aabb(prim_id), first + i)));
        if (MAX_LEAF_SIZE > 1) leaf_counts[first + i] = 0;
    }
    block_sync();
    if (n == 1) {
        if (thread_index() == 0) leave_tree(unpack(local.load_cluster(0)), out);
        return;
    }
    for (int i : block_stride(CHUNK)) climb({first + i, first + i, 1}, i < count, tile, local, out);
    block_sync();
    climb_out(local, count, tile, {keys, deposits, arrivals, n}, out);
}
