// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): the climb of the linear BVH after Apetrei 2014, in which a node over more
// than HALF references does not become a node: a warp gathers the clusters of both sides, at most HALF each, and pairs nearest neighbours
// (Meister and Bittner 2017) until HALF are left. At the root it goes on until one is.
//
// build_clusters takes one block a CHUNK of references (block = CHUNK threads on CUDA). What found no partner there goes on in join_spans, where
// one block takes GROUP neighbouring chunks; then GROUP of those, until one block has all. So subtrees meet within one block only, by its own
// barriers and atomics, whatever level they are on: a meeting between blocks costs microseconds, and a tree has some twenty levels of them.
//
// In: Primitives in Morton order. Out: nodes, parents, flags and root as clusters.cuh describes them; plant_root and finish_leaves follow. Ids come
// from places, pairs from the boxes alone: no order of arrival shows. Unit constants: CODE_BITS, CHUNK, GROUP, JOIN_THREADS, RADIUS, MAX_LEAF_SIZE,
// TRAVERSAL_COST, WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

constexpr int NO_ONE = -1;
constexpr int HALF = TILE_ITEMS / 2;
constexpr int JOIN_WARPS = WARP_LANES == 1 ? 1 : JOIN_THREADS / WARP_LANES;

// How far the highest cluster may stand above the rank of its gap. Ranks grow on the way to the root, so clusters that come from below stand lower
// than they may: neighbours can always be paired, and the depth is bounded (max_depth in __init__.py).
constexpr int HEADROOM = 8;

// The ranges that any stretch of references leaves: the gaps between them rise in rank, then fall, each time by different ranks.
constexpr int MOST_LEFT = 2 * (CODE_BITS + REFERENCE_BITS) + 1;
constexpr int MOST_JOINED = GROUP * MOST_LEFT;

// -- one warp's clusters -------------------------------------------------------------------------------------------------

using Clusters = TileValues<PackedCluster>;

// How much of its own area a cluster has paid for already when a pair is judged. The area of the common box alone lets large clusters wait for ever.
constexpr float OWN_SHARE = 0.4f;

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

// The area of two clusters' common box less what both have paid, the last bits replaced by those in which their indices differ: equal for both,
// different for any two neighbours of one cluster, and among equal areas (coincident primitives) half of all clusters find a partner at once.
__device__ __forceinline__ int pair_key(const Judged& mine, const Judged& other, int i, int j) {
    const Aabb box = merge(mine.box, other.box);
    return (__float_as_int(max(span_area(box.upper - box.lower) - (mine.paid + other.paid), 0.0f)) & ~31) | (i ^ j);
}

// Where no pair may merge: the clusters that are low enough, two by two in their order. The other one's index, or the own.
__device__ __forceinline__ int partner_in_order(unsigned low, int i) {
    if (!(low >> i & 1)) return i;
    const unsigned before = low & ((1u << i) - 1u), after = low & ~before & ~(1u << i);
    if (__popc(before) % 2 == 1) return 31 - __clz((int)before);
    return after != 0 ? __ffs((int)after) - 1 : i;
}

// One round: pairs become nodes, the others stay; returns how many clusters there are now, in their order. Neighbours are a pair when each is the
// other's nearest, and together they are not too high.
__device__ __forceinline__ int join_pairs(Clusters& clusters, int count, int limit, const ClusterOutput& out) {
    TileValues<Judged> candidates;
    TileValues<int> partners;
    for (int i : lane_stride(count)) candidates[i] = judged(clusters[i]);
    const TileValues<int> keys = tile_nearest<RADIUS>(count, candidates, pair_key);
    for (int i : lane_stride(count)) partners[i] = i ^ (keys[i] & 31);
    const TileValues<int> other_keys = tile_read(count, keys, partners);
    Clusters others = tile_read(count, clusters, partners);
    for (int i : lane_stride(count)) {
        const bool is_pair = ((other_keys[i] ^ keys[i]) & 31) == 0 && max(height_of(clusters[i]), height_of(others[i])) < limit;
        if (!is_pair) partners[i] = i;
    }
    unsigned kept = tile_ballot(count, [&](int i) { return partners[i] >= i; });
    if (__popc(kept) == count) {
        const unsigned low = tile_ballot(count, [&](int i) { return height_of(clusters[i]) < limit; });
        for (int i : lane_stride(count)) partners[i] = partner_in_order(low, i);
        others = tile_read(count, clusters, partners);
        kept = tile_ballot(count, [&](int i) { return partners[i] >= i; });
    }
    for (int i : lane_stride(count)) {
        if (partners[i] > i) clusters[i] = pack(join_clusters(unpack(clusters[i]), unpack(others[i]), out));
    }
    clusters = tile_compact(count, clusters, kept);
    return __popc(kept);
}

// -- where subtrees meet ---------------------------------------------------------------------------------------------------

// A subtree of the linear BVH on its way up, by places in its block: the parts [first, last] that it was made of. `count` clusters, at most HALF, lie
// one after the other from the first part's slot on. `size` is its number of references, or HALF + 1 where they are more.
struct Range {
    int first, last, count, size;
};

// An arrival in one word: how far the parts reach, clusters, size. Never NO_ONE.
__device__ __forceinline__ int arrival_word(int far_end, const Range& range) { return far_end | (range.count - 1) << 16 | range.size << 20; }
// The range that left `word` at `gap`, which is behind the part of this place.
__device__ __forceinline__ Range waiting_range(int word, int gap) {
    const int far_end = word & 0xffff;
    return {min(far_end, gap + 1), max(far_end, gap), (word >> 16 & 15) + 1, word >> 20};
}
static_assert(CHUNK <= 65536 && MOST_JOINED <= 65536 && HALF == 16, "arrival_word has 16 bits for a place, 4 for a number of clusters");

// What is left of a stretch of references: where its clusters lie, and all else in one word.
__device__ __forceinline__ int2 pack_left(int slot, const Range& range, int rank_after) {
    return make_int2(slot, rank_after | (range.count - 1) << 8 | range.size << 12);
}
__device__ __forceinline__ int rank_after_of(int word) { return word & 255; }
__device__ __forceinline__ int counts_of(int word) { return word >> 8; }
__device__ __forceinline__ Range part_of(int counts, int place) { return {place, place, (counts & 15) + 1, counts >> 4}; }

// The parts of a chunk are its references, their slots in shared memory.
struct ChunkSlots {
    float4* slots;

    __device__ int slot(int place) const { return place; }
    __device__ void store(int slot, const PackedCluster& cluster) const {
        slots[slot] = cluster.low;
        slots[slot + CHUNK] = cluster.high;
    }
    __device__ PackedCluster load(int slot) const { return {slots[slot], slots[slot + CHUNK]}; }
};
// Those of a group are what its members left, their slots in global memory.
struct GroupSlots {
    const int* starts;
    float4* slots;

    __device__ int slot(int place) const { return starts[place]; }
    __device__ void store(int slot, const PackedCluster& cluster) const {
        slots[2 * (int64)slot] = cluster.low;
        slots[2 * (int64)slot + 1] = cluster.high;
    }
    __device__ PackedCluster load(int slot) const { return {slots[2 * (int64)slot], slots[2 * (int64)slot + 1]}; }
};

// The gap behind part i has the index i + 1; index 0 is the gap before them all. The exchange at a gap tells the second arriver what the first one
// brings; it leaves the gap as it was found.
template <class Slots> struct Meeting {
    const uint8* ranks;
    int* arrivals;
    Slots slots;

    __device__ int rank(int gap) const { return ranks[gap + 1]; }
    __device__ int arrive(int gap, int word) const { return block_atomic_exchange(arrivals + gap + 1, word); }
    __device__ void leave(int gap) const { arrivals[gap + 1] = NO_ONE; }
};

// The clusters in two rows of slots become at most HALF, or the tree; returns their number. The whole warp works on it.
template <class Slots>
__device__ __forceinline__ int merge_ranges(const Slots& slots, int left_slot, int left_count, int right_slot, int right_count, int limit,
                                            bool is_root, const ClusterOutput& out) {
    int count = left_count + right_count;
    Clusters clusters;
    warp_sync();
    for (int i : lane_stride(count)) clusters[i] = slots.load(i < left_count ? left_slot + i : right_slot + i - left_count);
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
        for (int i : lane_stride(count)) slots.store(left_slot + i, clusters[i]);
    }
    warp_sync();
    return count;
}

// Carry each lane's range up until it has to wait for its other half, or is the whole tree.
template <class Slots>
__device__ __forceinline__ void climb(Range mine, bool is_active, const Meeting<Slots>& meeting, const ClusterOutput& out) {
    int before = is_active ? meeting.rank(mine.first - 1) : OUTSIDE_RANK, after = is_active ? meeting.rank(mine.last) : OUTSIDE_RANK;
    while (warp_any(is_active)) {
        int left_count = 0, left_slot = 0, right_slot = 0, limit = 0;
        bool needs_merge = false, is_root = false;
        if (is_active) {
            const bool is_left = after < before;
            const int gap = is_left ? mine.last : mine.first - 1;
            limit = min(before, after) + HEADROOM;
            const int word = meeting.arrive(gap, arrival_word(is_left ? mine.first : mine.last, mine));
            is_active = word != NO_ONE;
            if (is_active) {
                meeting.leave(gap);
                const Range other = waiting_range(word, gap);
                left_count = is_left ? mine.count : other.count;
                mine = {min(mine.first, other.first), max(mine.last, other.last), mine.count + other.count, min(mine.size + other.size, HALF + 1)};
                if (is_left) after = meeting.rank(mine.last); else before = meeting.rank(mine.first - 1);
                is_root = before == OUTSIDE_RANK && after == OUTSIDE_RANK;
                needs_merge = is_root || mine.size > HALF;
                left_slot = meeting.slots.slot(mine.first);
                right_slot = meeting.slots.slot(gap + 1);
            }
        }
        for (unsigned waiting = warp_ballot(needs_merge); waiting != 0; waiting &= waiting - 1) {
            const int lane = __ffs((int)waiting) - 1;
            const int left = warp_broadcast(left_count, lane), right = warp_broadcast(mine.count, lane) - left;
            const bool at_root = warp_broadcast((int)is_root, lane) != 0;
            const int count = merge_ranges(meeting.slots, warp_broadcast(left_slot, lane), left, warp_broadcast(right_slot, lane), right,
                                           warp_broadcast(limit, lane), at_root, out);
            if (warp_lane() == lane) mine.count = count;
        }
        is_active = is_active && !is_root;
    }
}

// What waits at the gaps of `count` parts goes to `list`, in its order. The whole block works on it.
template <class Slots>
__device__ __forceinline__ void list_left(const Meeting<Slots>& meeting, int count, int first_slot, int2* list, int* list_count) {
    int listed = 0;
    for (int first = 0; first <= count; first += block_threads()) {
        const int i = first + thread_index(), word = i <= count ? meeting.arrivals[i] : NO_ONE;
        int here;
        const int place = listed + block_exclusive_scan(word != NO_ONE ? 1 : 0, here);
        if (word != NO_ONE) {
            const Range range = waiting_range(word, i - 1);
            list[place] = pack_left(first_slot + meeting.slots.slot(range.first), range, meeting.rank(range.last));
        }
        listed += here;
    }
    if (thread_index() == 0) *list_count = listed;
}

// Each block works its own chunk, in shared memory. Both kernels ask for as many warps as their registers allow without spills. `lists` has room
// for a part a reference: what a stretch leaves lies from its first reference's place on.
extern "C" __global__ void __launch_bounds__(CHUNK, 640 / CHUNK)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* nodes, int* parent, uint8* flags, int* root,
                   int* leaf_counts, float4* bvh2, float4* slots, int2* lists, int* list_counts) {
    SHARED uint8 ranks[CHUNK + 1];
    SHARED int arrivals[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const Meeting<ChunkSlots> meeting = {ranks, arrivals, {chunk_slots}};
    for (int i : block_stride(count + 1)) {
        ranks[i] = (uint8)rank_of_gap(keys, n, first - 1 + i);
        arrivals[i] = NO_ONE;
    }
    for (int i : block_stride(count)) {
        const int prim_id = prim_id_of(keys, prim_ids, first + i), last = n - 1;
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_INDICES_AHEAD, last)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(first + i + PREFETCH_POINTS_AHEAD, last)));
        meeting.slots.store(i, pack(single_cluster(primitives.aabb(prim_id), first + i)));
        if (MAX_LEAF_SIZE > 1) leaf_counts[first + i] = 0;
    }
    block_sync();
    if (n == 1 && thread_index() == 0) leave_tree(unpack(meeting.slots.load(0)), out);
    for (int i : block_stride(CHUNK)) climb({i, i, 1, 1}, i < count && n > 1, meeting, out);
    block_sync();
    // All slots go, also those that nobody will read: that is one coalesced copy.
    const GroupSlots global = {nullptr, slots};
    for (int i : block_stride(count)) global.store(first + i, meeting.slots.load(i));
    list_left(meeting, count, first, lists + first, list_counts + block_index());
}

// What a group's members left, one after the other: ranks behind them, slots, numbers of clusters and references. Returns how many they are.
__device__ __forceinline__ int load_group(const int2* lists, const int* list_counts, int first_member, int members, int member_size, uint8* ranks,
                                          int* starts, short* counts, int* offsets) {
    int total = 0;
    for (int first = 0; first < members; first += block_threads()) {
        const int member = first + thread_index();
        int here;
        const int offset = total + block_exclusive_scan(member < members ? list_counts[first_member + member] : 0, here);
        if (member < members) offsets[member] = offset;
        total += here;
    }
    if (thread_index() == 0) offsets[members] = total;
    block_sync();
    const int warps = max(block_threads() / WARP_LANES, 1);
    for (int member = thread_index() / WARP_LANES; member < members; member += warps) {
        const int2* list = lists + (int64)(first_member + member) * member_size;
        const int offset = offsets[member];
        for (int i : lane_stride(offsets[member + 1] - offset)) {
            const int2 part = list[i];
            starts[offset + i] = part.x;
            ranks[offset + i + 1] = (uint8)rank_after_of(part.y);
            counts[offset + i] = (short)counts_of(part.y);
        }
    }
    return total;
}

// One block a GROUP of members, each of `member_size` references and the last of fewer; what they leave in turn takes the place of what the first of
// them left, its number goes to `joined_counts`.
extern "C" __global__ void __launch_bounds__(JOIN_THREADS, 512 / JOIN_THREADS)
    join_spans(int n, int member_count, int member_size, const uint64* keys, int2* lists, const int* list_counts, int* joined_counts, float4* nodes,
               int* parent, uint8* flags, int* root, int* leaf_counts, float4* bvh2, float4* slots) {
    SHARED uint8 ranks[MOST_JOINED + 1];
    SHARED int arrivals[MOST_JOINED + 1];
    SHARED int starts[MOST_JOINED];
    SHARED short counts[MOST_JOINED];
    SHARED int offsets[GROUP + 1];
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES, first_member = block_index() * GROUP, first = first_member * member_size;
    const Meeting<GroupSlots> meeting = {ranks, arrivals, {starts, slots}};
    if (thread_index() == 0) ranks[0] = (uint8)rank_of_gap(keys, n, first - 1);
    const int members = min(member_count - first_member, GROUP);
    const int count = load_group(lists, list_counts, first_member, members, member_size, ranks, starts, counts, offsets);
    for (int i : block_stride(count + 1)) arrivals[i] = NO_ONE;
    block_sync();
    // Neighbours go to one warp, as they meet one after the other anyway; different chunks' go to different warps.
    const int share = (count + JOIN_WARPS - 1) / JOIN_WARPS, end = min((warp + 1) * share, count);
    for (int start = warp * share; start < end; start += WARP_LANES) {
        const int i = start + warp_lane();
        climb(part_of(i < end ? counts[i] : 0, i), i < end, meeting, out);
    }
    block_sync();
    list_left(meeting, count, 0, lists + first, joined_counts + block_index());
}
