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

// The ranges that any stretch of references leaves: the gaps between them rise in rank, then fall, each time by different ranks.
constexpr int MOST_LEFT = 2 * (CODE_BITS + REFERENCE_BITS) + 1;
constexpr int MOST_JOINED = GROUP * MOST_LEFT;

// -- one warp's clusters -------------------------------------------------------------------------------------------------

struct Tile {
    float4* slots;  // two tiles of clusters, low halves then high halves: one is read, the other written
    int* keys;      // of each cluster's nearest neighbour
    int* partners;  // the other one of the pair that a cluster is in, or itself; before that, what its box has paid (a float's bits)
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

// How much of its own area a cluster has paid for already when a pair is judged. The area of the common box alone lets large clusters wait for ever.
constexpr float OWN_SHARE = 0.4f;

__device__ __forceinline__ float span_area(float x, float y, float z) { return min(x * y + y * z + z * x, FLOAT_MAX); }
// Of inactive primitives alone, whose box is infinite here, nothing.
__device__ __forceinline__ float paid_area(const Tile& tile, int i) {
    const float4 low = tile.low(tile.at)[i], high = tile.high(tile.at)[i];
    return high.x < low.x ? 0.0f : OWN_SHARE * span_area(high.x - low.x, high.y - low.y, high.z - low.z);
}

// The area of two clusters' common box less what both have paid, the last bits replaced by those in which their indices differ: equal for both,
// different for any two neighbours of one cluster, and among equal areas (coincident primitives) half of all clusters find a partner at once.
__device__ __forceinline__ int pair_key(const Tile& tile, int i, int j) {
    const float4 low = tile.low(tile.at)[i], high = tile.high(tile.at)[i], other_low = tile.low(tile.at)[j], other_high = tile.high(tile.at)[j];
    const float x = max(high.x, other_high.x) - min(low.x, other_low.x);
    const float y = max(high.y, other_high.y) - min(low.y, other_low.y);
    const float z = max(high.z, other_high.z) - min(low.z, other_low.z);
    const float paid = __int_as_float(tile.partners[i]) + __int_as_float(tile.partners[j]);
    return (__float_as_int(max(span_area(x, y, z) - paid, 0.0f)) & ~31) | (i ^ j);
}

// Neighbours are a pair when each is the other's nearest, and together they are not too high.
__device__ __forceinline__ void find_pairs(const Tile& tile, int count, int limit) {
    for (int i : lane_stride(count)) tile.partners[i] = __float_as_int(paid_area(tile, i));
    warp_sync();
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
__device__ __forceinline__ int merge_ranges(Tile tile, const Slots& slots, int left_slot, int left_count, int right_slot, int right_count, int limit,
                                            bool is_root, const ClusterOutput& out) {
    int count = left_count + right_count;
    warp_sync();
    for (int i : lane_stride(count)) tile.store(tile.at, i, slots.load(i < left_count ? left_slot + i : right_slot + i - left_count));
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
        for (int i : lane_stride(count)) slots.store(left_slot + i, tile.load(i));
    }
    warp_sync();
    return count;
}

// Carry each lane's range up until it has to wait for its other half, or is the whole tree.
template <class Slots>
__device__ __forceinline__ void climb(Range mine, bool is_active, const Tile& tile, const Meeting<Slots>& meeting, const ClusterOutput& out) {
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
            const int count = merge_ranges(tile, meeting.slots, warp_broadcast(left_slot, lane), left, warp_broadcast(right_slot, lane), right,
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
extern "C" __global__ void __launch_bounds__(CHUNK, 768 / CHUNK)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* nodes, int* parent, uint8* flags, int* root,
                   int* leaf_counts, float4* bvh2, float4* slots, int2* lists, int* list_counts) {
    SHARED uint8 ranks[CHUNK + 1];
    SHARED int arrivals[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    SHARED float4 tile_slots[CHUNK_WARPS][4 * TILE_ITEMS];
    SHARED int tile_keys[CHUNK_WARPS][2 * TILE_ITEMS];
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES;
    const Tile tile = {tile_slots[warp], tile_keys[warp], tile_keys[warp] + TILE_ITEMS, 0};
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
    for (int i : block_stride(CHUNK)) climb({i, i, 1, 1}, i < count && n > 1, tile, meeting, out);
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
    SHARED float4 tile_slots[JOIN_WARPS][4 * TILE_ITEMS];
    SHARED int tile_keys[JOIN_WARPS][2 * TILE_ITEMS];
    const ClusterOutput out = {nodes, parent, flags, root, leaf_counts, bvh2};
    const int warp = thread_index() / WARP_LANES, first_member = block_index() * GROUP, first = first_member * member_size;
    const Tile tile = {tile_slots[warp], tile_keys[warp], tile_keys[warp] + TILE_ITEMS, 0};
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
        climb(part_of(i < end ? counts[i] : 0, i), i < end, tile, meeting, out);
    }
    block_sync();
    list_left(meeting, count, 0, lists + first, joined_counts + block_index());
}
