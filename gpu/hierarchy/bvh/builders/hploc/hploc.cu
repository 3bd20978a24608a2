// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): the climb of the linear BVH after Apetrei 2014, in which a node over more
// than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF each, and pairs nearest neighbours
// (Meister and Bittner 2017) until HALF are left. At the root it goes on until one is.
//
// build_clusters takes one block a CHUNK of references (block = CHUNK threads on CUDA) and works in shared memory; what found no partner there goes on
// in join_chunks, in global memory (block = JOIN_THREADS). Two kernels, because a block that climbs on would hold what all of its warps had.
//
// In: Primitives in Morton order. Out: nodes, parents, flags and root as clusters.cuh describes them; plant_root and finish_leaves follow. Ids come
// from places, pairs from the boxes alone: no order of arrival shows. Unit constants: CODE_BITS, CHUNK, JOIN_THREADS, RADIUS, MAX_LEAF_SIZE,
// WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int HALF = TILE_ITEMS / 2;
constexpr int CHUNK_WARPS = WARP_LANES == 1 ? 1 : CHUNK / WARP_LANES;
constexpr int JOIN_WARPS = WARP_LANES == 1 ? 1 : JOIN_THREADS / WARP_LANES;

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that come from below stand lower
// than they may: neighbours can always be paired, and the depth is bounded (max_depth in __init__.py).
constexpr int HEADROOM = 8;

// -- one warp's clusters -------------------------------------------------------------------------------------------------

struct Tile {
    float4* slots;  // two tiles of clusters, low halves then high halves: one is read, the other written
    int* keys;      // of each cluster's nearest neighbour
    int* partners;  // the other one of the pair that a cluster is in, or itself
    int at;         // the tile that is read: 0 or 1

    __device__ float4* low(int which) const { return slots + 2 * TILE_ITEMS * which; }
    __device__ float4* high(int which) const { return slots + 2 * TILE_ITEMS * which + TILE_ITEMS; }
    __device__ PackedCluster load(int i) const { return {low(at)[i], high(at)[i]}; }
    __device__ void store(int which, int i, const PackedCluster& cluster) const {
        low(which)[i] = cluster.low;
        high(which)[i] = cluster.high;
    }
    __device__ int height(int i) const { return height_of(low(at)[i].w, high(at)[i].w); }
};

// The area of two clusters' common box, the last bits replaced by those in which their indices differ: equal for both, different for any two
// neighbours of one cluster, and among equal areas (coincident primitives) half of all clusters find a partner at once. A box of inactive primitives
// alone has an infinite area here.
__device__ __forceinline__ int pair_key(const Tile& tile, int i, int j) {
    const float4 low = tile.low(tile.at)[i], high = tile.high(tile.at)[i], other_low = tile.low(tile.at)[j], other_high = tile.high(tile.at)[j];
    const float x = max(high.x, other_high.x) - min(low.x, other_low.x);
    const float y = max(high.y, other_high.y) - min(low.y, other_low.y);
    const float z = max(high.z, other_high.z) - min(low.z, other_low.z);
    return (__float_as_int(min(x * y + y * z + z * x, FLOAT_MAX)) & ~31) | (i ^ j);
}

// Neighbours are a pair when each is the other's nearest, and together they are not too high.
__device__ __forceinline__ void find_pairs(const Tile& tile, int count, int limit) {
    tile_nearest<RADIUS>(count, [&](int i, int j) { return pair_key(tile, i, j); }, [&](int i, int key) { tile.keys[i] = key; });
    warp_sync();
    for (int i : lane_stride(count)) {
        const int key = tile.keys[i], other = i ^ (key & 31);
        tile.partners[i] = ((tile.keys[other] ^ key) & 31) == 0 && max(tile.height(i), tile.height(other)) < limit ? other : i;
    }
    warp_sync();
}

// Where no pair may merge: the clusters that are low enough, two by two in their order.
__device__ __forceinline__ void pair_in_order(const Tile& tile, int count, int limit) {
    const unsigned low = tile_ballot(count, [&](int i) { return tile.height(i) < limit; });
    for (int i : lane_stride(count)) {
        int other = i;
        if (low >> i & 1) {
            const unsigned before = low & ((1u << i) - 1u), after = low & ~before & ~(1u << i);
            if (__popc(before) % 2 == 1) other = 31 - __clz((int)before);
            else if (after != 0) other = __ffs((int)after) - 1;
        }
        tile.partners[i] = other;
    }
    warp_sync();
}

// One round: pairs become nodes, the others stay; returns how many clusters there are now, in their order.
__device__ __forceinline__ int join_pairs(Tile& tile, int count, int limit, const ClusterOutput& out) {
    find_pairs(tile, count, limit);
    unsigned kept = tile_ballot(count, [&](int i) { return tile.partners[i] >= i; });
    if (__popc(kept) == count) {
        pair_in_order(tile, count, limit);
        kept = tile_ballot(count, [&](int i) { return tile.partners[i] >= i; });
    }
    for (int i : lane_stride(count)) {
        if (!(kept >> i & 1)) continue;
        const int other = tile.partners[i];
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
// The range that left `word` at `gap`; of no clusters where nobody did.
__device__ __forceinline__ Range waiting_range(int word, int gap) {
    if (word == NO_ONE) return {0, 0, 0};
    return {min(far_end_of(word), gap + 1), max(far_end_of(word), gap), count_of(word)};
}

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
#pragma unroll 1
    for (int goal = HALF;; goal /= 2, ++limit) {
#pragma unroll 1
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

// What of a chunk found no partner in it: the arrival at each of its gaps goes to `leftovers`, clusters to the slots in global memory. All slots go,
// also those that nobody will read: that is one coalesced copy.
__device__ __forceinline__ void leave_chunk(const LocalMeeting& local, int count, const GlobalMeeting& global, int* leftovers) {
    for (int i : block_stride(CHUNK + 1)) leftovers[i] = i <= count ? local.arrivals[i] : NO_ONE;
    for (int i : block_stride(count)) global.store_cluster(local.first + i, local.load_cluster(local.first + i));
}

// Each block works its own chunk, in shared memory. Both kernels ask for as many warps as their registers allow without spills.
extern "C" __global__ void __launch_bounds__(CHUNK, 768 / CHUNK)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* nodes, int* parent, uint8* flags, int* root, int* leaf_counts,
                   float4* bvh2, float4* slots, int* leftovers) {
    SHARED uint8 chunk_ranks[CHUNK + 1];
    SHARED int chunk_arrivals[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    SHARED float4 tile_slots[CHUNK_WARPS][4 * TILE_ITEMS];
    SHARED int tile_keys[CHUNK_WARPS][2 * TILE_ITEMS];
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES;
    const Tile tile = {tile_slots[warp], tile_keys[warp], tile_keys[warp] + TILE_ITEMS, 0};
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
    if (n == 1 && thread_index() == 0) leave_tree(unpack(local.load_cluster(0)), out);
    for (int i : block_stride(CHUNK)) climb({first + i, first + i, 1}, i < count && n > 1, tile, local, out);
    block_sync();
    leave_chunk(local, count, {keys, slots, nullptr, n}, leftovers + (int64)block_index() * (CHUNK + 1));
}

// The chunks' leftovers go on in global memory. `arrivals`: NO_ONE at every gap, before and after.
extern "C" __global__ void __launch_bounds__(JOIN_THREADS, 640 / JOIN_THREADS)
    join_chunks(int n, int chunk_count, const uint64* keys, const int* leftovers, float4* nodes, int* parent, uint8* flags, int* root, int* leaf_counts,
                float4* bvh2, float4* slots, int* arrivals) {
    SHARED float4 tile_slots[JOIN_WARPS][4 * TILE_ITEMS];
    SHARED int tile_keys[JOIN_WARPS][2 * TILE_ITEMS];
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES, leftover_count = chunk_count * (CHUNK + 1);
    const Tile tile = {tile_slots[warp], tile_keys[warp], tile_keys[warp] + TILE_ITEMS, 0};
    for (int i : grid_stride((leftover_count + WARP_LANES - 1) / WARP_LANES * WARP_LANES)) {
        const int chunk = i / (CHUNK + 1), gap = chunk * CHUNK - 1 + i % (CHUNK + 1);
        const Range waiting = waiting_range(i < leftover_count ? leftovers[i] : NO_ONE, gap);
        climb(waiting, waiting.count > 0, tile, GlobalMeeting{keys, slots, arrivals, n}, out);
    }
}
