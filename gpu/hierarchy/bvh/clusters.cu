// The last steps of builders that merge clusters: leaves get their place in the order of references, by the smallest of
// their places, links their final form, records are written.
//
// In: what clusters.cuh describes. Out: the root at id 0, order, records, final links. Launch order is the file's: the
// references of the leaves that begin in each SPAN of places are counted, and each block goes through all spans before
// its own for where its leaves begin. Where every leaf has one reference (`leaves` is null) their order is that of the
// keys. `root` has the id that the root had before, too.
//
// One block a SPAN. Unit constants: CODE_BITS, MAX_LEAF_SIZE, LEAVES_IN_ORDER (link_root_and_count is all
// there is to do), TRAVERSAL_COST, WRITES_BVH2, SPAN.
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/morton_order.cuh"
#include "gpu/hierarchy/bvh/link_root.cuh"

__device__ __forceinline__ int count_in(const PlacedLeaf& leaf) {
    return leaf.word < 0 ? reference_count(leaf.word) : 0;
}

// One thread links the root meanwhile.
extern "C" __global__ void link_root_and_count(int n, const int2* leaf_data, int* span_counts, int* root, float4* nodes,
                                               int* parent, uint8* flags, float4* bvh2) {
    if (block_index() == 0 && thread_index() == 0) RootLinker{nodes, parent, flags, bvh2}.link_root(root);
    const PlacedLeaf* leaves = (const PlacedLeaf*)leaf_data;
    if (leaves == nullptr) return;
    const int first = block_index() * SPAN;
    int count = 0;
    for (int i : block_stride(min(n - first, SPAN))) count += count_in(leaves[first + i]);
    count = block_sum(count);
    if (thread_index() == 0) span_counts[block_index()] = count;
}

struct LeafWriter {
    Pointer<float4> nodes;
    Pointer<int> root;
    Pointer<float4> bvh2;
    Pointer<const uint64> keys;
    Pointer<const int> prim_ids;
    Pointer<int> order;

    // Ids as they are since the root was linked.
    __device__ int linked(int node_id) const {
        const int old_root = root[1];
        return node_id == 0 ? old_root : node_id == old_root ? 0 : node_id;
    }
    // A leaf's references, the left ones first, from `first` on.
    __device__ void write_order(int word, int first) const {
        int waiting[MAX_LEAF_SIZE], waiting_count = 0;
        for (int next = word, is_first = 1;; is_first = 0) {
            if (reference_count(next) == 1 && is_leaf(next)) {
                order[first++] = prim_id_of(keys, prim_ids, first_reference(next));
                if (waiting_count == 0) return;
                next = waiting[--waiting_count];
            } else {
                const int node_id = is_first ? linked(node_of(next)) : node_of(next);
                waiting[waiting_count++] = __float_as_int(nodes[2 * (int64)node_id + 1].w);
                next = __float_as_int(nodes[2 * (int64)node_id].w);
            }
        }
    }
    // Links alone: others may be reading the node's box.
    __device__ void link(int link, int word) const {
        if (link == LINKED_BY_ROOT) {
            root[0] = word;
            return;
        }
        const int node_id = linked(link >> 1), side = link & 1;
        ((int*)(nodes + 2 * (int64)node_id))[side == 0 ? 3 : 7] = word;
        if (WRITES_BVH2) store_bvh2_link(bvh2, node_id, side, word);
    }
};

// Records are written by neighbouring threads, as soon as the order of the block's own references is known.
extern "C" __global__ void finish_leaves(Primitives primitives, const uint64* keys, const int* prim_ids,
                                         const int2* leaf_data, const int* span_counts, float4* nodes, int* root,
                                         float4* bvh2, int* order, float4* record_data) {
    const PlacedLeaf* leaves = (const PlacedLeaf*)leaf_data;
    const LeafWriter writer = {nodes, root, bvh2, keys, prim_ids, order};
    const int n = primitives.count, span = block_index() * SPAN;
    int start = span, end = min(n, span + SPAN);
    if (leaves == nullptr) {
        for (int i : block_stride(end - start)) order[start + i] = prim_id_of(keys, prim_ids, start + i);
    } else {
        int before = 0;
        for (int i : block_stride(block_index())) before += span_counts[i];
        start = end = block_sum(before);
        for (int i = 0; i < SPAN; i += block_threads()) {
            const int place = span + i + thread_index();
            const PlacedLeaf leaf = place < min(n, span + SPAN) ? leaves[place] : PlacedLeaf{0, 0};
            const int count = count_in(leaf);
            int here;
            const int first = end + block_exclusive_scan(count, here);
            end += here;
            if (count == 0) continue;
            writer.write_order(leaf.word, first);
            writer.link(leaf.link, leaf_child(first, count));
        }
    }
    block_sync();
    const Records records = {record_data};
    for (int i : block_stride(end - start)) {
        const int reference = start + i, last = end - 1;
        primitives.prefetch_indices(order[min(reference + PREFETCH_INDICES_AHEAD, last)]);
        primitives.prefetch_points(order[min(reference + PREFETCH_POINTS_AHEAD, last)]);
        records.write(reference, primitives, order[reference]);
    }
}
