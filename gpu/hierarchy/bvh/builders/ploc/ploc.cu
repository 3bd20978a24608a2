// PLOC (Meister and Bittner 2017; searching from shared neighbourhoods as PLOC++, Benthin et al. 2022): all clusters
// lie in one list in Morton order; each round every cluster finds its nearest neighbour in a radius, those that find
// each other become a node, and the list is compacted in its order.
//
// A round is three launches: pair_clusters, scan_segments, join_clusters_of_pairs. Their number is fixed beforehand by
// a schedule (__init__.py), which nearest neighbours keep ahead of; where they do not, others are paired in Morton
// order. When FINAL clusters or fewer are left, rounds do nothing, and merge_rest takes one block to the root. In:
// Primitives in Morton order. Out: nodes, parents, flags and root as clusters.cuh describes them. Unit constants:
// CODE_BITS, CHUNK (clusters of a segment, a multiple of 32), FINAL, RADIUS, MAX_LEAF_SIZE, TRAVERSAL_COST,
// WRITES_BVH2.
// from gpu.hierarchy.bvh.builders.ploc import FREE_ROUNDS
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/morton_order.cuh"

constexpr int IS_REMOVED = -1;
constexpr uint64 NO_KEY = ~0ull;

// What the rounds hand on. `count` clusters lie in list `which`; `old_count` and `is_active` tell
// join_clusters_of_pairs what its round started from.
struct Rounds {
    int count, which, old_count, is_active;
};

// Two lists of clusters, one behind the other.
struct Lists {
    Pointer<float4> slots;
    int capacity;

    __device__ PackedCluster load(int which, int i) const {
        const float4* at = slots + 2 * ((int64)which * capacity + i);
        return {at[0], at[1]};
    }
    __device__ void store(int which, int i, const PackedCluster& cluster) const {
        float4* at = slots + 2 * ((int64)which * capacity + i);
        at[0] = cluster.low;
        at[1] = cluster.high;
    }
};

extern "C" __global__ void start_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* slots,
                                          int* rounds, int2* leaves) {
    const int n = primitives.count;
    const Lists lists = {slots, n};
    for (int i : grid_stride(n)) {
        if (i == 0) *(Rounds*)rounds = {n, 0, n, 0};
        lists.store(0, i, pack(single_cluster(primitives.aabb(prim_id_of(keys, prim_ids, i)), i)));
        if (MAX_LEAF_SIZE > 1) leaves[i] = make_int2(0, 0);
    }
}

// -- pairs -----------------------------------------------------------------------------------------------

// The area of the box with the nearest neighbour, then the bits in which their indices differ: one number for both
// sides, and a different one for any two neighbours of one cluster. Among equal areas half of all clusters find a
// partner at once.
__device__ __forceinline__ uint64 nearest_key(const Lists& lists, int which, int i, int count) {
    const Aabb mine = box_of(lists.load(which, i));
    const int last = min(i + RADIUS, count - 1);
    uint64 nearest = NO_KEY;
    for (int j = max(i - RADIUS, 0); j <= last; ++j) {
        if (j == i) continue;
        const float area = min(half_area(merge(mine, box_of(lists.load(which, j)))), FLOAT_MAX);
        const uint64 key = (uint64)(unsigned)__float_as_int(area) << 32 | (unsigned)(i ^ j);
        nearest = key < nearest ? key : nearest;
    }
    return nearest;
}

// Who is paired among clusters [first, last), a warp's 32 at a time: `partners` holds the higher one's index, the own
// one for who stays alone, and IS_REMOVED for the higher one. `keys[i - origin]` are those of the clusters and of
// RADIUS neighbours. Of `wanted` and any more of 32 clusters, and in proportion of fewer, at least that many vanish: 8
// can always be had. Returns how many of this thread's stay.
__device__ __forceinline__ int choose_pairs(const uint64* keys, int origin, int first, int last, int wanted,
                                            int* partners) {
    const int warps = max(block_threads() / WARP_LANES, 1);
    int kept = 0;
    for (int start = first + thread_index() / WARP_LANES * TILE_ITEMS; start < last; start += warps * TILE_ITEMS) {
        const int count = min(last - start, TILE_ITEMS);
        const auto partner = [&](int i) {
            const uint64 key = keys[start + i - origin];
            const int other = (start + i) ^ (int)(unsigned)key;
            return keys[other - origin] == key ? other : start + i;
        };
        const unsigned heads = tile_ballot(count, [&](int i) { return partner(i) > start + i; });
        const unsigned tails = tile_ballot(count, [&](int i) { return partner(i) < start + i; });

        // Where too few vanish, those that stay alone are paired two by two in their order.
        const int missing = max(count * wanted / TILE_ITEMS - __popc(tails), 0);
        const unsigned alone = ~(heads | tails) & (count == TILE_ITEMS ? ~0u : (1u << count) - 1u);
        for (int i : lane_stride(count)) {
            int other = partner(i);
            const int place = tile_place(alone, i);
            if ((alone >> i & 1) && place / 2 < missing) {
                const unsigned after = i == TILE_ITEMS - 1 ? 0u : alone >> (i + 1);
                if (place % 2 == 1) other = IS_REMOVED;
                else if (after != 0) other = start + i + __ffs((int)after);
            }
            if (other >= 0 && other < start + i) other = IS_REMOVED;
            partners[start + i] = other;
            kept += other != IS_REMOVED;
        }
    }
    return kept;
}

// `most_left`: how many clusters there may be after this round.
extern "C" __global__ void pair_clusters(int n, float4* slots, const int* rounds, int most_left, int* partners,
                                         int* segment_counts) {
    SHARED uint64 keys[CHUNK + 2 * RADIUS];
    const Rounds now = *(const Rounds*)rounds;
    if (now.count <= FINAL) return;
    const Lists lists = {slots, n};
    const int segment_count = (now.count + CHUNK - 1) / CHUNK;
    // The last clusters, fewer than 32, may all stay.
    const int wanted = max(TILE_ITEMS - (int)((int64)TILE_ITEMS * (most_left - (TILE_ITEMS - 1)) / now.count), 0);
    for (int segment = block_index(); segment < segment_count; segment += block_count()) {
        const int first = segment * CHUNK, last = min(first + CHUNK, now.count), origin = first - RADIUS;
        for (int i : block_stride(CHUNK + 2 * RADIUS)) {
            const int cluster = origin + i;
            keys[i] = cluster >= 0 && cluster < now.count ? nearest_key(lists, now.which, cluster, now.count) : NO_KEY;
        }
        block_sync();
        const int kept = block_sum(choose_pairs(keys, origin, first, last, wanted, partners));
        if (thread_index() == 0) segment_counts[segment] = kept;
        block_sync();
    }
}

// One block: where each segment's clusters go, and what the next round starts from.
extern "C" __global__ void scan_segments(int* rounds, int* segment_counts) {
    Rounds now = *(const Rounds*)rounds;
    const bool is_active = now.count > FINAL;
    int before = 0;
    const int segment_count = is_active ? (now.count + CHUNK - 1) / CHUNK : 0;
    for (int first = 0; first < segment_count; first += block_threads()) {
        const int segment = first + thread_index();
        int part;
        const int here = block_exclusive_scan(segment < segment_count ? segment_counts[segment] : 0, part);
        if (segment < segment_count) segment_counts[segment] = before + here;
        before += part;
    }
    block_sync();
    if (thread_index() != 0) return;
    if (is_active) now = {before, 1 - now.which, now.count, 1};
    else now.is_active = 0;
    *(Rounds*)rounds = now;
}

// -- joining ---------------------------------------------------------------------------------------------

// Clusters [first, last) of one list go to the other from `to` on, pairs as their nodes; returns the place behind the
// last.
__device__ __forceinline__ int join_in_order(const Lists& lists, int from, int first, int last, int to,
                                             const int* partners, const ClusterOutput& out) {
    for (int start = first; start < last; start += block_threads()) {
        const int i = start + thread_index(), other = i < last ? partners[i] : IS_REMOVED;
        int kept;
        const int place = to + block_exclusive_scan(other != IS_REMOVED ? 1 : 0, kept);
        if (other != IS_REMOVED) {
            PackedCluster cluster = lists.load(from, i);
            if (other != i) cluster = pack(join_clusters(unpack(cluster), unpack(lists.load(from, other)), out));
            lists.store(1 - from, place, cluster);
        }
        to += kept;
    }
    return to;
}

extern "C" __global__ void join_clusters_of_pairs(int n, float4* slots, const int* rounds, const int* partners,
                                                  const int* segment_starts, float4* nodes, int* parent, uint8* flags,
                                                  int* root, int2* leaves, float4* bvh2) {
    const Rounds now = *(const Rounds*)rounds;
    if (!now.is_active) return;
    const Lists lists = {slots, n};
    const ClusterOutput out = {nodes, parent, flags, root, (PlacedLeaf*)leaves, bvh2};
    const int segment_count = (now.old_count + CHUNK - 1) / CHUNK;
    for (int segment = block_index(); segment < segment_count; segment += block_count()) {
        const int first = segment * CHUNK;
        join_in_order(lists, 1 - now.which, first, min(first + CHUNK, now.old_count), segment_starts[segment], partners,
                      out);
    }
}

// One block goes on to the root, round by round: the barriers between them are its own. Room for two blocks is 64
// registers per thread: without that word an assembler takes 40 and spills.
extern "C" __global__ void __launch_bounds__(512, 2)
    merge_rest(int n, float4* slots, const int* rounds, int* partners, float4* nodes, int* parent, uint8* flags,
               int* root, int2* leaves, float4* bvh2) {
    SHARED uint64 keys[FINAL];
    const Lists lists = {slots, n};
    const ClusterOutput out = {nodes, parent, flags, root, (PlacedLeaf*)leaves, bvh2};
    int count = ((const Rounds*)rounds)->count, which = ((const Rounds*)rounds)->which;
    for (int round = 0; count > 1; ++round) {
        for (int i : block_stride(count)) keys[i] = nearest_key(lists, which, i, count);
        block_sync();
        choose_pairs(keys, 0, 0, count, round < FREE_ROUNDS ? 0 : 6, partners);
        block_sync();
        count = join_in_order(lists, which, 0, count, 0, partners, out);
        which = 1 - which;
        block_sync();
    }
    if (thread_index() == 0) leave_tree(unpack(lists.load(which, 0)), out);
}
