// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): the climb of the linear BVH after Apetrei 2014, in which a node over more
// than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF each, and pairs nearest neighbours
// (Meister and Bittner 2017) until HALF are left. At the root it goes on until one is.
//
// build_clusters takes one block a CHUNK of references and works in shared memory; what found no partner there goes on in join_chunks, in global
// memory. Two kernels, because a block that climbs on would hold what it had. Blocks have THREADS threads, one warp: nobody waits for a neighbour's
// merges, which take microseconds, one after the other on the way to the root. So clusters stay in registers, too (device/tile.cuh).
//
// With CUTS nothing goes on: chunks end at cuts (chunks.cuh), are joined within themselves until KEPT clusters are left, and sweep_groups.cu makes the
// nodes above them.
//
// In: Primitives in Morton order. Out: records and order, which is that order; nodes, parents, flags and root as clusters.cuh describes them, with
// LEAVES_IN_ORDER; plant_root follows, or sweep_groups. Ids come from places, pairs from the boxes alone: no order of arrival shows. Unit constants: CODE_BITS,
// CHUNK, THREADS, RADIUS, CUTS, KEPT, MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST, WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/builders/hploc/chunks.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int TREE = 1;  // one cluster, of all references
constexpr int HALF = TILE_ITEMS / 2;
constexpr int MOST = CUTS ? 2 * CHUNK : CHUNK;  // references of a chunk

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that come from below stand lower
// than they may: neighbours can always be paired, and the depth is bounded (max_depth in __init__.py).
constexpr int HEADROOM = 8;
// Ranks in a chunk that ends at cuts: of a gap between equal codes by the places in it, below POSITION_RANKS; then by the codes; then its borders.
constexpr int POSITION_RANKS = 10, BORDER_RANK = POSITION_RANKS + CODE_BITS;
static_assert(MOST <= 1 << POSITION_RANKS, "places in a chunk differ in fewer bits");

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

// A gap is looked at before a merge, and its rank is known after it: so nobody waits for keys from global memory. The exchange at a gap tells the
// second arriver what the first one brings; it leaves the gap as it was found.
struct LocalMeeting {
    const uint8* ranks;
    float4* slots;
    int* arrivals;
    int first, last;  // the chunk's references; gap `first` - 1 has index 0
    int n;

    using Look = int;
    __device__ bool is_chunk(const Range& range) const { return CUTS && range.first == first && range.last == last; }
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
struct GapKeys {
    uint64 left, right;
};
struct GlobalMeeting {
    const uint64* keys;
    float4* slots;
    int* arrivals;
    int n;

    using Look = GapKeys;
    __device__ bool is_chunk(const Range&) const { return false; }
    __device__ GapKeys look(int gap) const { return {keys[max(gap, 0)], keys[min(gap + 1, n - 1)]}; }
    __device__ int rank(int gap, const GapKeys& seen) const {
        return gap < 0 || gap >= n - 1 ? OUTSIDE_RANK : rank_of_keys(seen.left, seen.right, gap);
    }
    __device__ void store_cluster(int slot, const PackedCluster& cluster) const {
        slots[2 * (int64)slot] = cluster.low;
        slots[2 * (int64)slot + 1] = cluster.high;
    }
    __device__ PackedCluster load_cluster(int slot) const { return {slots[2 * (int64)slot], slots[2 * (int64)slot + 1]}; }
    __device__ int arrive(int gap, int word) const { return atomic_exchange(arrivals + gap, word); }
    __device__ void leave(int gap) const { arrivals[gap] = NO_ONE; }
};

// The clusters of two neighbouring ranges become at most `least`, or the TREE; returns their number. The whole warp works on it.
template <class Meeting>
__device__ __forceinline__ int merge_ranges(const Meeting& meeting, int first, int left_count, int gap, int right_count, int limit, int least,
                                            const ClusterOutput& out) {
    int count = left_count + right_count;
    warp_sync();
    Clusters clusters;
    for (int i : lane_stride(count)) clusters[i] = meeting.load_cluster(i < left_count ? first + i : gap + 1 + i - left_count);
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

// What a lane knows of its range lies in shared memory while its warp merges, so that registers are free for the clusters, and more warps find room.
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
template <class Meeting> __device__ __forceinline__ void climb(Range mine, bool is_active, const Meeting& meeting, const ClusterOutput& out) {
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
                mine = {min(mine.first, far_end_of(other)), max(mine.last, far_end_of(other)), mine.count + count_of(other)};
                seen = meeting.look(is_left ? mine.last : mine.first - 1);
                const int least = mine.first == 0 && mine.last == meeting.n - 1 ? TREE : meeting.is_chunk(mine) ? KEPT : HALF;
                needs_merge = least < HALF || mine.last - mine.first >= HALF;
                kept.keep(mine, left_count, gap, before, after, least);
            }
        }
        warp_sync();
        const int first_lane = thread_index() - warp_lane();
        for (unsigned waiting = warp_ballot(needs_merge); waiting != 0; waiting &= waiting - 1) {
            const int lane = first_lane + __ffs((int)waiting) - 1, left = kept.counts[lane] & 255;
            const Range range = kept.range(lane);
            const int count = merge_ranges(meeting, range.first, left, kept.gap[lane], range.count - left, kept.limit(lane), kept.least(lane), out);
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

// What of a chunk found no partner in it: the arrival at each of its gaps goes to `leftovers`, clusters to the slots in global memory. All slots go,
// also those that nobody will read: that is one coalesced copy.
__device__ __forceinline__ void leave_chunk(const LocalMeeting& local, int count, const GlobalMeeting& global, int* leftovers) {
    for (int i : block_stride(CHUNK + 1)) leftovers[i] = i <= count ? local.arrivals[i] : NO_ONE;
    for (int i : block_stride(count)) global.store_cluster(local.first + i, local.load_cluster(local.first + i));
}

// With CUTS the chunk waits before its first reference in the end, one range, for nobody.
__device__ __forceinline__ void end_chunk(const LocalMeeting& local, int count, const GlobalMeeting& global, int2* chunks) {
    const int left = count == global.n ? 0 : count_of(local.arrivals[0]), last = local.first + count - 1;
    for (int i : block_stride(left)) global.store_cluster(local.first + i, local.load_cluster(local.first + i));
    if (thread_index() == 0) chunks[block_index()] = chunk_entry(last, left, rank_of_gap(global.keys, global.n, last));
}

// The references of this block's chunk: the first and the last.
__device__ __forceinline__ int2 chunk_of_block(const uint64* keys, int n) {
    const int index = block_index();
    if (!CUTS) return make_int2(index * CHUNK, min(n, (index + 1) * CHUNK) - 1);
    return make_int2(index == 0 ? 0 : cut_of_window(keys, n, CHUNK, index - 1) + 1, cut_of_window(keys, n, CHUNK, index));
}

// How much the references on both sides of a gap of such a chunk differ; `gap` counts from its first reference.
__device__ __forceinline__ int rank_in_chunk(const uint64* keys, int first, int gap, int count) {
    if (gap < 0 || gap >= count - 1) return BORDER_RANK;
    const uint64 difference = code_of(keys[first + gap]) ^ code_of(keys[first + gap + 1]);
    return difference != 0 ? POSITION_RANKS + 63 - __clzll((int64)difference) : 31 - __clz(gap ^ (gap + 1));
}

// Each block works its own chunk, in shared memory. Both kernels ask for as many warps a multiprocessor as find registers without spills: 24.
// `leftovers`: with CUTS the chunks.
extern "C" __global__ void __launch_bounds__(THREADS, 768 / THREADS)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, int* order, float4* record_data, float4* nodes, int* parent,
                   uint8* flags, int* root, float4* bvh2, float4* slots, int* leftovers) {
    SHARED uint8 chunk_ranks[MOST + 1];
    SHARED int chunk_arrivals[MOST + 1];
    SHARED float4 chunk_slots[2 * MOST];
    const int n = primitives.count;
    const int2 ends = chunk_of_block(keys, n);
    const int first = ends.x, count = ends.y + 1 - first;
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const Records records = {record_data};
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_arrivals, first, ends.y, n};
    for (int i : block_stride(count + 1)) {
        chunk_ranks[i] = (uint8)(CUTS ? rank_in_chunk(keys, first, i - 1, count) : rank_of_gap(keys, n, first - 1 + i));
        chunk_arrivals[i] = NO_ONE;
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
    for (int start = 0; start < (CUTS ? count : CHUNK); start += block_threads()) {
        const int i = start + thread_index();
        climb({first + i, first + i, 1}, i < count && n > 1, local, out);
    }
    block_sync();
    if (CUTS) end_chunk(local, count, {keys, slots, nullptr, n}, (int2*)leftovers);
    else leave_chunk(local, count, {keys, slots, nullptr, n}, leftovers + (int64)block_index() * (CHUNK + 1));
}

// The chunks' leftovers go on in global memory. `arrivals`: NO_ONE at every gap, before and after.
extern "C" __global__ void __launch_bounds__(THREADS, 768 / THREADS)
    join_chunks(int n, int chunk_count, const uint64* keys, const int* leftovers, float4* nodes, int* parent, uint8* flags, int* root,
                float4* bvh2, float4* slots, int* arrivals) {
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const int leftover_count = chunk_count * (CHUNK + 1);
    for (int i : grid_stride((leftover_count + WARP_LANES - 1) / WARP_LANES * WARP_LANES)) {
        const int chunk = i / (CHUNK + 1), gap = chunk * CHUNK - 1 + i % (CHUNK + 1);
        const Range waiting = waiting_range(i < leftover_count ? leftovers[i] : NO_ONE, gap);
        climb(waiting, waiting.count > 0, GlobalMeeting{keys, slots, arrivals, n}, out);
    }
}
