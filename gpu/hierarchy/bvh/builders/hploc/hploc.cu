// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): the climb of the linear BVH after Apetrei 2014, in which a node over more
// than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF each, and pairs nearest neighbours
// (Meister and Bittner 2017) until HALF are left.
//
// Here that ends at the borders of chunks: references between the cuts of two windows. A cut is the gap of its window of CHUNK gaps that the highest
// node of the linear BVH parts, so chunks are near its subtrees, and yet known beforehand: at most 2 * CHUNK - 1 references each, one block each, in
// shared memory. What is left of them, at most HALF clusters each, sweep_groups.cu joins from above; where there is one chunk alone, it becomes the
// tree here.
//
// Blocks have THREADS threads, one warp: nobody waits for a neighbour's merges, which take microseconds, one after the other on the way up. So
// clusters stay in registers, too (device/tile.cuh).
//
// In: Primitives in Morton order. Out: records and order, which is that order; nodes, parents, flags and root as clusters.cuh describes them, with
// LEAVES_IN_ORDER; chunks (chunks.cuh), their clusters in `slots` from their first reference on. Ids come from places, pairs from the boxes alone:
// no order of arrival shows. Unit constants: CODE_BITS, CHUNK, THREADS, RADIUS, MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST, WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/builders/hploc/chunks.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int HALF = TILE_ITEMS / 2;

constexpr int MOST = 2 * CHUNK;  // more than a chunk's references

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that come from below stand lower
// than they may: neighbours can always be paired, and the depth is bounded (max_depth in __init__.py).
constexpr int HEADROOM = 8;
// Ranks in a chunk: of a gap between equal codes by the places, below POSITION_RANKS; then by the codes; then a chunk's borders.
constexpr int POSITION_RANKS = 10, BORDER_RANK = POSITION_RANKS + CODE_BITS;
static_assert(MOST <= 1 << POSITION_RANKS, "places in a chunk differ in fewer bits");

// How much the references on both sides of a gap of the chunk differ; `gap` counts from its first reference.
__device__ __forceinline__ int rank_in_chunk(const uint64* keys, int first, int gap, int count) {
    if (gap < 0 || gap >= count - 1) return BORDER_RANK;
    const uint64 difference = code_of(keys[first + gap]) ^ code_of(keys[first + gap + 1]);
    return difference != 0 ? POSITION_RANKS + 63 - __clzll((int64)difference) : 31 - __clz(gap ^ (gap + 1));
}

// -- one warp's clusters -------------------------------------------------------------------------------------------------

using Clusters = TileValues<PackedCluster>;

// How much of its own area a cluster has paid for already when a pair is judged. The area of the common box alone lets large clusters wait for ever.
constexpr float OWN_SHARE = 0.4f;
// How much dearer a pair is for every place that lies between in Morton order: boxes reach over others less often, and more pairs can be leaves.
constexpr float APART = 0.125f;

// What a pair is judged by.
struct Judged {
    Aabb box;
    float paid;
};

__device__ __forceinline__ float span_area(const float3& span) { return min(span.x * span.y + span.y * span.z + span.z * span.x, FLOAT_MAX); }
// Inactive primitives alone, whose box is infinite here, have paid nothing.
__device__ __forceinline__ Judged judged(const PackedCluster& cluster) {
    const Aabb box = box_of(cluster);
    return {box, box.upper.x < box.lower.x ? 0.0f : OWN_SHARE * span_area(box.upper - box.lower)};
}

// The area of two clusters' common box less what both have paid, times how far they are apart. The last bits are replaced by those in which their
// indices differ: equal for both, different for any two neighbours of one cluster, and among equal areas (coincident primitives) half of all clusters
// find a partner at once.
struct PairKey {
    __device__ __forceinline__ int operator()(const Judged& mine, const Judged& other, int i, int j) const {
        const Aabb box = merge(mine.box, other.box);
        const float unpaid = max(span_area(box.upper - box.lower) - (mine.paid + other.paid), 0.0f);
        return (__float_as_int(unpaid * (1.0f + APART * (float)(j - i))) & ~31) | (i ^ j);
    }
};

// Where no pair may merge: the clusters that are low enough, two by two in their order. The other one's index, or the own.
__device__ __forceinline__ int partner_in_order(unsigned low, int i) {
    if (!(low >> i & 1)) return i;
    const unsigned before = low & ((1u << i) - 1u), after = low & ~before & ~(1u << i);
    if (__popc(before) % 2 == 1) return 31 - __clz((int)before);
    return after != 0 ? __ffs((int)after) - 1 : i;
}

// One round: pairs become nodes, the others stay; returns how many clusters there are now, in their order. Neighbours are a pair when each is the
// other's nearest, and both are low enough. What is moved is indices: both clusters of a pair are fetched once, by the lane that keeps their node.
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

// -- where subtrees meet ---------------------------------------------------------------------------------------------------

// References [first, last] of the chunk on their way up: `count` clusters, at most HALF, in the slots from `first` on.
struct Range {
    int first, last, count;
};

// An arrival in one word: how far the references reach, and the number of clusters. Never NO_ONE.
__device__ __forceinline__ int arrival_word(int far_end, int count) { return far_end | (count - 1) << REFERENCE_BITS; }
__device__ __forceinline__ int far_end_of(int word) { return word & ((1 << REFERENCE_BITS) - 1); }
__device__ __forceinline__ int count_of(int word) { return (word >> REFERENCE_BITS) + 1; }

// A chunk on its way; places count from its first reference. Index 0 of ranks and arrivals is the gap before it. The exchange at a gap tells the
// second arriver what the first one brings.
struct Chunk {
    uint8 ranks[MOST + 1];
    int arrivals[MOST + 1];
    float4 low[MOST], high[MOST];
    int first, count, clusters_left;  // the first reference, how many there are, the clusters that are left in the end
    bool is_tree;

    __device__ void store(int slot, const PackedCluster& cluster) {
        low[slot] = cluster.low;
        high[slot] = cluster.high;
    }
    __device__ PackedCluster load(int slot) const { return {low[slot], high[slot]}; }
    __device__ int rank(int gap) const { return ranks[gap + 1]; }
    __device__ bool is_all(const Range& range) const { return range.first == 0 && range.last == count - 1; }
    __device__ bool is_root(const Range& range) const { return is_tree && is_all(range); }
};

// The clusters of two neighbouring ranges become at most HALF, or the tree; returns their number. The whole warp works on it.
__device__ __forceinline__ int merge_ranges(Chunk& chunk, int first, int left_count, int gap, int right_count, int limit, bool is_root,
                                            const ClusterOutput& out) {
    int count = left_count + right_count;
    warp_sync();
    Clusters clusters;
    for (int i : lane_stride(count)) clusters[i] = chunk.load(i < left_count ? first + i : gap + 1 + i - left_count);
    warp_sync();
    // At the root in halves, so that each may stand one higher than the one before.
#pragma unroll 1
    for (int goal = HALF;; goal /= 2, ++limit) {
#pragma unroll 1
        while (count > goal) count = join_pairs(clusters, count, limit, out);
        if (!is_root || goal == 1) break;
    }
    if (is_root) {
        for (int i : lane_stride(1)) leave_tree(unpack(clusters[i]), out);
    } else {
        for (int i : lane_stride(count)) chunk.store(first + i, clusters[i]);
    }
    warp_sync();
    return count;
}

// What a lane knows of its range lies in shared memory while its warp merges, so that registers are free for the clusters, and more warps find room.
struct Waiting {
    int first[THREADS], last[THREADS], gap[THREADS];
    int counts[THREADS];  // clusters on the left and in all
    int limits[THREADS];  // how high clusters may stand

    __device__ void keep(const Range& range, int left_count, int between, int limit) {
        const int lane = thread_index();
        first[lane] = range.first;
        last[lane] = range.last;
        gap[lane] = between;
        counts[lane] = left_count | range.count << 8;
        limits[lane] = limit;
    }
    __device__ Range range(int lane) const { return {first[lane], last[lane], counts[lane] >> 8}; }
};

// Carry each lane's range up until it has to wait for its other half, or is the whole chunk.
__device__ __forceinline__ void climb(Chunk& chunk, Range mine, bool is_active, const ClusterOutput& out) {
    SHARED Waiting kept;
    while (warp_any(is_active)) {
        bool needs_merge = false;
        if (is_active) {
            const int before = chunk.rank(mine.first - 1), after = chunk.rank(mine.last);
            const bool is_left = after < before;
            const int gap = is_left ? mine.last : mine.first - 1;
            const int other = block_atomic_exchange(chunk.arrivals + gap + 1, arrival_word(is_left ? mine.first : mine.last, mine.count));
            is_active = other != NO_ONE;
            if (is_active) {
                const int left_count = is_left ? mine.count : count_of(other);
                mine = {min(mine.first, far_end_of(other)), max(mine.last, far_end_of(other)), mine.count + count_of(other)};
                needs_merge = mine.last - mine.first >= HALF || chunk.is_root(mine);
                kept.keep(mine, left_count, gap, min(before, after) + HEADROOM);
            }
        }
        warp_sync();
        const int first_lane = thread_index() - warp_lane();
        for (unsigned waiting = warp_ballot(needs_merge); waiting != 0; waiting &= waiting - 1) {
            const int lane = first_lane + __ffs((int)waiting) - 1, left = kept.counts[lane] & 255;
            const Range range = kept.range(lane);
            const int count = merge_ranges(chunk, range.first, left, kept.gap[lane], range.count - left, kept.limits[lane], chunk.is_root(range), out);
            if (thread_index() == lane) kept.counts[lane] = left | count << 8;
        }
        warp_sync();
        if (is_active) {
            mine = kept.range(thread_index());
            is_active = !chunk.is_all(mine);
            if (!is_active) chunk.clusters_left = mine.count;
        }
    }
}

// The last gap of the chunk that ends in a window of gaps: of those that the highest node parts the first. All lanes have it.
__device__ __forceinline__ int cut_of_window(const uint64* keys, int n, int window) {
    unsigned best = 0;
    for (int i : lane_stride(CHUNK)) {
        const int gap = window * CHUNK + i;
        if (gap < n) best = max(best, cut_word(rank_of_gap(keys, n, gap), i));
    }
    return window * CHUNK + cut_index(warp_max(best));
}

// The chunk of this block: its references, which are single clusters, their order and records, and the ranks of its gaps.
__device__ __forceinline__ void begin_chunk(Chunk& chunk, const Primitives& primitives, const uint64* keys, const int* prim_ids, int* order,
                                            const Records& records) {
    const int n = primitives.count, window = block_index();
    const int first = window == 0 ? 0 : cut_of_window(keys, n, window - 1) + 1, count = cut_of_window(keys, n, window) + 1 - first;
    if (thread_index() == 0) {
        chunk.first = first;
        chunk.count = count;
        chunk.clusters_left = 1;
        chunk.is_tree = count == n;
    }
    for (int i : block_stride(count + 1)) {
        chunk.ranks[i] = (uint8)rank_in_chunk(keys, first, i - 1, count);
        chunk.arrivals[i] = NO_ONE;
    }
    for (int i : block_stride(count)) {
        const int reference = first + i, prim_id = prim_id_of(keys, prim_ids, reference);
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(reference + PREFETCH_INDICES_AHEAD, n - 1)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(reference + PREFETCH_POINTS_AHEAD, n - 1)));
        order[reference] = prim_id;
        chunk.store(i, pack(single_cluster(records.write(reference, primitives, prim_id), reference)));
    }
}

// One block a chunk. As many warps a multiprocessor as find registers without spills: 24.
extern "C" __global__ void __launch_bounds__(THREADS, 768 / THREADS)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, int* order, float4* record_data, float4* nodes, int* parent,
                   uint8* flags, int* root, float4* bvh2, float4* slots, int2* chunks) {
    SHARED Chunk chunk;
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    begin_chunk(chunk, primitives, keys, prim_ids, order, {record_data});
    block_sync();
    if (primitives.count == 1 && thread_index() == 0) leave_tree(unpack(chunk.load(0)), out);
#pragma unroll 1
    for (int start = 0; start < chunk.count; start += block_threads()) {
        const int i = start + thread_index();
        climb(chunk, {i, i, 1}, i < chunk.count && chunk.count > 1, out);
    }
    block_sync();
    for (int i : block_stride(chunk.clusters_left)) {
        slots[2 * (int64)(chunk.first + i)] = chunk.low[i];
        slots[2 * (int64)(chunk.first + i) + 1] = chunk.high[i];
    }
    const int last = chunk.first + chunk.count - 1;
    if (thread_index() == 0) chunks[block_index()] = chunk_entry(last, chunk.clusters_left, rank_of_gap(keys, primitives.count, last));
}
