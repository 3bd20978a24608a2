// Exact agglomerative clustering by chains of nearest neighbours: from any cluster to its nearest one, from there to
// that one's, until two are each other's nearest; those are joined. For a distance that only grows when clusters do, as
// the area of two clusters' common box, that makes the tree of always joining the nearest pair of all.
//
// One block does everything: whoever searches looks at the bounds of groups of neighbouring clusters first, and passes
// over those that cannot hold a nearer one. A launch takes a bounded number of steps and leaves its state, so that none
// of them lasts long.
//
// Launch order: start_clusters, then join_nearest as often as the steps of all clusters take. Unit constants:
// CODE_BITS, MAX_LEAF_SIZE, TRAVERSAL_COST, WRITES_BVH2, GROUP (clusters of a group).
// from gpu.hierarchy.bvh.builders.agglomerative import MOST_HEIGHT, StateRow
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/morton_order.cuh"

constexpr int NONE = -1;

struct Clusters {
    Pointer<float4> slots;
    Pointer<int> alive;
    Pointer<float4> groups;
    Pointer<int> chain;
    Pointer<int> moved_to;

    __device__ PackedCluster packed(int slot) const { return {slots[2 * (int64)slot], slots[2 * (int64)slot + 1]}; }
    __device__ void store(int slot, const Cluster& cluster) const {
        const PackedCluster packed = pack(cluster);
        slots[2 * (int64)slot] = packed.low;
        slots[2 * (int64)slot + 1] = packed.high;
    }
    // Inactive clusters are near to everything: their group is everywhere.
    __device__ static Aabb reach_of(const Aabb& box) {
        const Aabb everywhere = {make_float3(-FLOAT_MAX, -FLOAT_MAX, -FLOAT_MAX),
                                 make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX)};
        return is_empty(box) ? everywhere : box;
    }
    __device__ Aabb group(int number) const {
        const float4 low = groups[2 * number], high = groups[2 * number + 1];
        return {make_float3(low.x, low.y, low.z), make_float3(high.x, high.y, high.z)};
    }
    __device__ void store_group(int number, const Aabb& box) const { store_reference_box(groups, number, box); }
    __device__ void bound_groups(int slot_count) const {
        for (int number : block_stride((slot_count + GROUP - 1) / GROUP)) {
            Aabb box = empty_aabb();
            for (int slot = number * GROUP; slot < min(slot_count, (number + 1) * GROUP); ++slot)
                box = merge(box, reach_of(box_of(packed(slot))));
            store_group(number, box);
        }
        block_sync();
    }
};

// Half the area of what bounds both; one number for all that is past all floats.
__device__ __forceinline__ float distance_of(const Aabb& a, const Aabb& b) {
    const float area = half_area(merge(a, b));
    return area <= FLOAT_MAX ? area : FLOAT_MAX;
}
// The least distance of any cluster inside a group.
__device__ __forceinline__ float least_distance(const Aabb& box, const Aabb& group) {
    const float area = half_area({min(box.lower, group.upper), max(box.upper, group.lower)});
    return area <= FLOAT_MAX ? area : FLOAT_MAX;
}
__device__ __forceinline__ uint64 neighbour_word(float distance, int slot) {
    return (uint64)__float_as_uint(distance) << 32 | (unsigned)slot;
}

struct Search {
    Clusters clusters;
    int slot_count, own;
    Aabb box;

    __device__ uint64 nearest_in(int number, uint64 best) const {
        for (int slot = number * GROUP; slot < min(slot_count, (number + 1) * GROUP); ++slot) {
            if (slot == own || !clusters.alive[slot]) continue;
            const uint64 word = neighbour_word(distance_of(box, box_of(clusters.packed(slot))), slot);
            best = word < best ? word : best;
        }
        return best;
    }
    // The nearest other cluster, of equally near ones the first. Its own group is looked at beforehand, by all threads
    // alike.
    __device__ uint64 nearest() const {
        const int home = own / GROUP;
        uint64 best = nearest_in(home, ~0ull);
        for (int number : block_stride((slot_count + GROUP - 1) / GROUP)) {
            if (number == home) continue;
            const uint64 least = neighbour_word(least_distance(box, clusters.group(number)), number * GROUP);
            if (least < best) best = nearest_in(number, best);
        }
        return block_min(best);
    }
};

// What is alive moves together, in its order; chains follow.
__device__ __forceinline__ void close_gaps(const Clusters& clusters, StateRow& state) {
    int kept = 0;
    for (int start = 0; start < state.slot_count; start += block_threads()) {
        const int slot = start + thread_index();
        const bool is_kept = slot < state.slot_count && clusters.alive[slot];
        const PackedCluster cluster = clusters.packed(min(slot, state.slot_count - 1));
        int all;
        const int to = kept + block_exclusive_scan(is_kept ? 1 : 0, all);
        block_sync();
        if (is_kept) {
            clusters.moved_to[slot] = to;
            clusters.slots[2 * (int64)to] = cluster.low;
            clusters.slots[2 * (int64)to + 1] = cluster.high;
        }
        kept += all;
        block_sync();
    }
    for (int i : block_stride(state.chain_length)) clusters.chain[i] = clusters.moved_to[clusters.chain[i]];
    for (int slot : block_stride(kept)) clusters.alive[slot] = 1;
    state.slot_count = kept;
    block_sync();
    clusters.bound_groups(kept);
}

// Where a pair would make the tree too high: what is left is paired from the lowest upwards, level by level, which by
// Kraft's inequality keeps below the bound whatever heights there are. One thread.
__device__ __forceinline__ void join_by_height(const Clusters& clusters, const ClusterOutput& out, int count) {
    for (int height = 0; count > 1; ++height) {
        int kept = 0, waiting = NONE;
        for (int slot = 0; slot < count; ++slot) {
            const Cluster cluster = unpack(clusters.packed(slot));
            if (cluster.height > height || waiting == NONE) {
                if (cluster.height <= height) waiting = kept;
                clusters.store(kept++, cluster);
                continue;
            }
            clusters.store(waiting, join_clusters(unpack(clusters.packed(waiting)), cluster, out));
            waiting = NONE;
        }
        count = kept;
    }
    leave_tree(unpack(clusters.packed(0)), out);
}

extern "C" __global__ void start_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, float4* slots,
                                          int* alive, int2* leaves, uint64* state_data) {
    for (int i : grid_stride(primitives.count)) {
        const PackedCluster cluster = pack(single_cluster(primitives.aabb(prim_id_of(keys, prim_ids, i)), i));
        slots[2 * (int64)i] = cluster.low;
        slots[2 * (int64)i + 1] = cluster.high;
        alive[i] = 1;
        if (MAX_LEAF_SIZE > 1) leaves[i] = make_int2(0, 0);
        if (i == 0) *(StateRow*)state_data = {(uint64)primitives.count, primitives.count, primitives.count, 0, 0};
    }
}

// The last two of a chain are each other's nearest: the lower slot takes both. False where the tree would become too
// high.
__device__ __forceinline__ bool join_pair(const Clusters& clusters, StateRow& state, int a, int b,
                                          const ClusterOutput& out) {
    const int low = min(a, b), high = max(a, b);
    const Cluster left = unpack(clusters.packed(low)), right = unpack(clusters.packed(high));
    const uint64 kraft = state.kraft - (1ull << left.height) - (1ull << right.height) +
                         (2ull << max(left.height, right.height));
    block_sync();
    if (kraft > 1ull << MOST_HEIGHT) return false;
    state.kraft = kraft;
    --state.alive_count;
    state.chain_length -= 2;
    if (thread_index() == 0) {
        const Cluster joined = join_clusters(left, right, out);
        clusters.store(low, joined);
        clusters.alive[high] = 0;
        clusters.store_group(low / GROUP, merge(clusters.group(low / GROUP), Clusters::reach_of(joined.box)));
    }
    block_sync();
    return true;
}

extern "C" __global__ void join_nearest(int step_count, int is_first, float4* slots, int* alive, float4* groups,
                                        int* chain, int* moved_to, uint64* state_data, float4* nodes, int* parent,
                                        uint8* flags, int* root, int2* leaves, float4* bvh2) {
    if (block_index() > 0) return;
    const Clusters clusters = {slots, alive, groups, chain, moved_to};
    const ClusterOutput out = {nodes, parent, flags, root, (PlacedLeaf*)leaves, bvh2};
    StateRow state = *(const StateRow*)state_data;
    if (state.is_done) return;
    block_sync();
    if (is_first) clusters.bound_groups(state.slot_count);
    for (int step = 0; step < step_count && state.alive_count > 1; ++step) {
        if (2 * state.alive_count <= state.slot_count) close_gaps(clusters, state);
        if (state.chain_length == 0) {
            uint64 first = ~0ull;  // the first cluster alive: in front of it all slots were given up
            for (int slot = thread_index(); slot < state.slot_count && first == ~0ull; slot += block_threads())
                first = alive[slot] ? (uint64)slot : first;
            const int start = (int)block_min(first);
            if (thread_index() == 0) chain[0] = start;
            state.chain_length = 1;
            block_sync();
        }
        const int top = chain[state.chain_length - 1],
                  before = state.chain_length > 1 ? chain[state.chain_length - 2] : NONE;
        const Search search = {clusters, state.slot_count, top, box_of(clusters.packed(top))};
        const uint64 nearest = search.nearest();
        const float distance = __uint_as_float((unsigned)(nearest >> 32));
        // Of equally near clusters the one before in the chain: distances along a chain shrink, so it ends.
        if (before != NONE && distance_of(search.box, box_of(clusters.packed(before))) <= distance) {
            if (join_pair(clusters, state, top, before, out)) continue;
            close_gaps(clusters, state);
            if (thread_index() == 0) join_by_height(clusters, out, state.alive_count);
            state.alive_count = 0;
            break;
        }
        if (thread_index() == 0) chain[state.chain_length] = (int)(unsigned)nearest;
        ++state.chain_length;
        block_sync();
    }
    block_sync();
    if (thread_index() > 0) return;
    if (state.alive_count == 1) {
        int last = 0;
        while (!alive[last]) ++last;
        leave_tree(unpack(clusters.packed(last)), out);
    }
    state.is_done = state.alive_count <= 1 ? 1 : 0;
    *(StateRow*)state_data = state;
}
