// H-PLOC (Benthin, Meister, Barczak, Mehalwal, Tsakok and Kensler 2024): chunks of references are paired in shared
// memory (pairing.cuh); what found no partner there goes on in global memory, where ranges meet at the gaps as they do
// in a chunk.
//
// Two kernels, build_clusters and join_chunks, because a block that climbs on would hold what it had.
//
// In: Primitives in Morton order. Out: records and order, which is that order; nodes, parents, flags and root as
// clusters.cuh describes them, with LEAVES_IN_ORDER; link_root follows. Unit constants: those of pairing.cuh, KEPT its
// HALF.
#include "gpu/hierarchy/bvh/pairing.cuh"

constexpr int CHUNK = MOST;
static_assert(KEPT == HALF, "a chunk is a range like any other");

// -- above the chunks ------------------------------------------------------------------------------------

struct GapKeys {
    uint64 left, right;
};
struct GlobalMeeting {
    Pointer<const uint64> keys;
    Pointer<float4> slots;
    Pointer<int> arrivals;
    int n;

    using Look = GapKeys;
    __device__ bool is_chunk(const Range&) const { return false; }
    __device__ GapKeys look(int gap) const { return {keys[max(gap, 0)], keys[min(gap + 1, n - 1)]}; }
    __device__ int rank(int gap, const GapKeys& seen) const {
        return gap < 0 || gap >= n - 1 ? OUTSIDE_RANK : rank_of_keys(seen.left, seen.right, gap);
    }
    __device__ void store_cluster(int slot, const PackedCluster& cluster) const { store_slot(slots, slot, cluster); }
    __device__ PackedCluster load_cluster(int slot) const {
        return {slots[2 * (int64)slot], slots[2 * (int64)slot + 1]};
    }
    __device__ int arrive(int gap, int word) const { return atomic_exchange(arrivals + gap, word); }
    __device__ void leave(int gap) const { arrivals[gap] = NO_ONE; }
};

// The range that left `word` at `gap`; of no clusters where nobody did.
__device__ __forceinline__ Range waiting_range(int word, int gap) {
    if (word == NO_ONE) return {0, 0, 0};
    return {min(far_end_of(word), gap + 1), max(far_end_of(word), gap), count_of(word)};
}

// What of a chunk found no partner in it: the arrival at each of its gaps goes to `leftovers`, clusters to the slots in
// global memory. All slots go, also those that nobody will read: that is one coalesced copy.
__device__ __forceinline__ void leave_chunk(const LocalMeeting& local, int count, const GlobalMeeting& global,
                                            int* leftovers) {
    for (int i : block_stride(CHUNK + 1)) leftovers[i] = i <= count ? local.arrivals[i] : NO_ONE;
    for (int i : block_stride(count)) global.store_cluster(local.first + i, local.load_cluster(local.first + i));
}

// Both kernels ask for as many warps a multiprocessor as find registers without spills: 24, and 20 for primitives that
// are of two kinds.
constexpr int RESIDENT = sizeof(Primitives) > 64 ? 640 : 768;

// Each block works its own chunk, in shared memory.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT / THREADS)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, int* order, float4* record_data,
                   float4* nodes, int* parent, uint8* flags, int* root, float4* bvh2, float4* slots, int* leftovers) {
    SHARED uint8 chunk_ranks[MOST + 1];
    SHARED int chunk_arrivals[MOST + 1];
    SHARED float4 chunk_slots[2 * MOST];
    const int n = primitives.count;
    const int first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_arrivals, first, first + count - 1, n};
    pair_chunk(primitives, keys, prim_ids, order, {record_data}, local, chunk_ranks, count, out,
               [&](int gap) { return rank_of_gap(keys, n, first + gap); });
    leave_chunk(local, count, {keys, slots, nullptr, n}, leftovers + (int64)block_index() * (CHUNK + 1));
}

// The chunks' leftovers go on in global memory. `arrivals`: NO_ONE at every gap, before and after.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT / THREADS)
    join_chunks(int n, int chunk_count, const uint64* keys, const int* leftovers, float4* nodes, int* parent,
                uint8* flags, int* root, float4* bvh2, float4* slots, int* arrivals) {
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const int leftover_count = chunk_count * (CHUNK + 1);
    for (int i : grid_stride((leftover_count + WARP_LANES - 1) / WARP_LANES * WARP_LANES)) {
        const int chunk = i / (CHUNK + 1), gap = chunk * CHUNK - 1 + i % (CHUNK + 1);
        const Range waiting = waiting_range(i < leftover_count ? leftovers[i] : NO_ONE, gap);
        climb(waiting, waiting.count > 0, GlobalMeeting{keys, slots, arrivals, n}, out);
    }
}
