// Chunks of references that end where they differ most (chunks.cuh), each paired within itself until KEPT clusters are
// left (pairing.cuh). sweep_groups.cu makes the nodes above them.
//
// In: Primitives in Morton order. Out: records and order, which is that order; nodes, parents, flags and root as
// clusters.cuh describes them, with LEAVES_IN_ORDER; the clusters of each chunk in the slots from its first reference
// on, and the list of chunks. link_root follows where there is one chunk alone. Unit constants: WINDOW (gaps in which
// a chunk ends), and those of pairing.cuh, MOST twice as many.
#include "gpu/hierarchy/bvh/builders/hploc_sah/chunks.cuh"
#include "gpu/hierarchy/bvh/pairing.cuh"

// Ranks in a chunk: of a gap between equal codes by the places in it, below POSITION_RANKS; then by the codes; then its
// borders.
constexpr int POSITION_RANKS = 10, BORDER_RANK = POSITION_RANKS + CODE_BITS;
static_assert(MOST == 2 * WINDOW, "a chunk reaches over two windows at most");
static_assert(MOST <= 1 << POSITION_RANKS, "places in a chunk differ in fewer bits");

// How much the references on both sides of a gap of a chunk differ; `gap` counts from its first reference.
__device__ __forceinline__ int rank_in_chunk(const uint64* keys, int first, int gap, int count) {
    if (gap < 0 || gap >= count - 1) return BORDER_RANK;
    const uint64 difference = code_of(keys[first + gap]) ^ code_of(keys[first + gap + 1]);
    return difference != 0 ? POSITION_RANKS + 63 - __clzll((int64)difference) : 31 - __clz(gap ^ (gap + 1));
}

// The chunk waits before its first reference in the end, one range, for nobody.
__device__ __forceinline__ void end_chunk(const LocalMeeting& local, int count, const uint64* keys, float4* slots,
                                          int2* chunks) {
    const int left = count == local.n ? 0 : count_of(local.arrivals[0]), last = local.first + count - 1;
    for (int i : block_stride(left)) store_slot(slots, local.first + i, local.load_cluster(local.first + i));
    if (thread_index() == 0) chunks[block_index()] = chunk_entry(last, left, rank_of_gap(keys, local.n, last));
}

// Each block works its own chunk, in shared memory, and asks for as many warps a multiprocessor as find registers
// without spills: 24.
extern "C" __global__ void __launch_bounds__(THREADS, 768 / THREADS)
    build_clusters(Primitives primitives, const uint64* keys, const int* prim_ids, int* order, float4* record_data,
                   float4* nodes, int* parent, uint8* flags, int* root, float4* bvh2, float4* slots, int2* chunks) {
    SHARED uint8 chunk_ranks[MOST + 1];
    SHARED int chunk_arrivals[MOST + 1];
    SHARED float4 chunk_slots[2 * MOST];
    const int n = primitives.count;
    const int window = block_index(), last = cut_of_window(keys, n, WINDOW, window);
    const int first = window == 0 ? 0 : cut_of_window(keys, n, WINDOW, window - 1) + 1, count = last + 1 - first;
    const ClusterOutput out = {nodes, parent, flags, root, nullptr, bvh2};
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_arrivals, first, last, n};
    pair_chunk(primitives, keys, prim_ids, order, {record_data}, local, chunk_ranks, count, out,
               [&](int gap) { return rank_in_chunk(keys, first, gap, count); });
    end_chunk(local, count, keys, slots, chunks);
}
