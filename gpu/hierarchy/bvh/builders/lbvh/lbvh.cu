// Linear BVH in one pass over a Morton order. The tree's shape and node ids are those of Karras 2012, but found from
// below while boxes are merged, after Apetrei 2014: a subtree over [first, last] hangs at the gap beside it whose two
// codes differ least.
//
// In: Primitives (by value) and their Morton order. Out: the canonical tree, the records, and with WRITES_BVH2 the bvh2
// nodes. One block per CHUNK of references (block = CHUNK threads on CUDA). Unit constants: CODE_BITS, CHUNK,
// WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// -- the climb -------------------------------------------------------------------------------------------

constexpr int NO_ONE = -1;  // nobody has arrived at a gap yet

// A finished subtree over the references [first, last] on its way up. Its id is Karras': the last reference of a left
// child, the first of a right one.
struct Subtree {
    Aabb box;
    int first, last, is_collapsed;
};

// Where everything is written.
struct Output {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    Pointer<int> root;
    Pointer<float4> bvh2;
    int max_leaf_size;
};

__device__ __forceinline__ int child_of(const Subtree& subtree, int node_id, int max_leaf_size) {
    const int count = subtree.last - subtree.first + 1;
    return count <= max_leaf_size ? leaf_child(subtree.first, count) : node_id;
}

__device__ __forceinline__ void store_subtree(float4* slots, int slot, const Subtree& subtree) {
    slots[2 * (int64)slot] = make_float4(subtree.box.lower.x, subtree.box.lower.y, subtree.box.lower.z,
                                         __int_as_float(subtree.is_collapsed));
    slots[2 * (int64)slot + 1] = make_float4(subtree.box.upper.x, subtree.box.upper.y, subtree.box.upper.z, 0.0f);
}
__device__ __forceinline__ Subtree load_subtree(const float4* slots, int slot, int first, int last) {
    const float4 low = slots[2 * (int64)slot], high = slots[2 * (int64)slot + 1];
    return {
        {make_float3(low.x, low.y, low.z), make_float3(high.x, high.y, high.z)}, first, last, __float_as_int(low.w)};
}

// `mine` and `other` become the node `node_id`; `mine_id` and `other_id` are theirs. Nodes of at most max_leaf_size
// references are leaves and not written. Nothing but the two sides' places depends on which of them is the left one.
__device__ __forceinline__ Subtree join(const Subtree& mine, int mine_id, const Subtree& other, int other_id,
                                        bool is_left, int node_id, bool is_root, const Output& out) {
    Subtree joined = {merge(mine.box, other.box), min(mine.first, other.first), max(mine.last, other.last), 0};
    if (joined.last - joined.first + 1 <= out.max_leaf_size) {
        out.flags[node_id] = 0;
        return joined;
    }
    const int mine_child = child_of(mine, mine_id, out.max_leaf_size),
              other_child = child_of(other, other_id, out.max_leaf_size);
    joined.is_collapsed = !is_root && !mine.is_collapsed && !other.is_collapsed;
    const int left_child = is_left ? mine_child : other_child, right_child = is_left ? other_child : mine_child;
    store_node(out.nodes, node_id, joined.box, left_child, right_child);
    if (WRITES_BVH2) {
        store_bvh2_child(out.bvh2, node_id, is_left ? 0 : 1, mine.box, mine_child);
        store_bvh2_child(out.bvh2, node_id, is_left ? 1 : 0, other.box, other_child);
    }
    const bool is_bottom = is_leaf(left_child) && is_leaf(right_child);
    out.flags[node_id] = (uint8)(NODE_EXISTS | (joined.is_collapsed ? NODE_IS_COLLAPSED : 0) |
                                 (is_bottom ? NODE_IS_BOTTOM : 0));
    if (!is_leaf(mine_child)) out.parent[mine_child] = node_id;
    if (!is_leaf(other_child)) out.parent[other_child] = node_id;
    return joined;
}

// Where subtrees meet. A subtree waits in the slot of its own id; a leaf's is its reference, whichever child it is.
// When a slot is used again, by the subtree that grew around it, what lay in it has been read. The exchange at a gap
// tells the second arriver how far the first one's references reach; it leaves the gap as it was found.
struct LocalMeeting {
    Pointer<const uint8> ranks;
    Pointer<float4> slots;
    Pointer<int> far_ends;
    int first;  // the chunk's first reference; gap `first` - 1 has index 0

    __device__ int rank(int gap) const { return ranks[gap - first + 1]; }
    __device__ void store(int slot, const Subtree& subtree) const { store_subtree(slots, slot - first, subtree); }
    __device__ Subtree load(int slot, int low, int high) const { return load_subtree(slots, slot - first, low, high); }
    __device__ int arrive(int gap, int far_end) const {
        return block_atomic_exchange(far_ends + (gap - first + 1), far_end);
    }
    __device__ void leave(int gap) const { far_ends[gap - first + 1] = NO_ONE; }
};
struct GlobalMeeting {
    Pointer<const uint64> keys;
    Pointer<float4> slots;
    Pointer<int> far_ends;
    int n;

    __device__ int rank(int gap) const { return rank_of_gap(keys, n, gap); }
    __device__ void store(int slot, const Subtree& subtree) const { store_subtree(slots, slot, subtree); }
    __device__ Subtree load(int slot, int low, int high) const { return load_subtree(slots, slot, low, high); }
    __device__ int arrive(int gap, int far_end) const { return atomic_exchange(far_ends + gap, far_end); }
    __device__ void leave(int gap) const { far_ends[gap] = NO_ONE; }
};

// Carry `mine`, which lies in its slot, up until it has to wait for its other half, or is the whole tree.
template <class Meeting>
__device__ __forceinline__ void climb(Subtree mine, const Meeting& meeting, const Output& out) {
    int before = meeting.rank(mine.first - 1), after = meeting.rank(mine.last);
    while (before != OUTSIDE_RANK || after != OUTSIDE_RANK) {
        const bool is_left = after < before;
        const int gap = is_left ? mine.last : mine.first - 1;
        const int far_end = meeting.arrive(gap, is_left ? mine.first : mine.last);
        if (far_end == NO_ONE) return;
        meeting.leave(gap);
        const int mine_id = is_left ? gap : gap + 1, other_id = is_left ? gap + 1 : gap;
        const Subtree other = meeting.load(other_id, min(far_end, other_id), max(far_end, other_id));
        if (is_left) after = meeting.rank(far_end);
        else before = meeting.rank(far_end - 1);
        const bool is_root = before == OUTSIDE_RANK && after == OUTSIDE_RANK;
        const int node_id = is_root ? 0 : after < before ? max(mine.last, far_end) : min(mine.first, far_end);
        mine = join(mine, mine_id, other, other_id, is_left, node_id, is_root, out);
        if (!is_root) meeting.store(node_id, mine);
    }
    out.root[0] = child_of(mine, 0, out.max_leaf_size);
    if (!is_leaf(out.root[0])) out.parent[0] = -1;
}

// Each block works its own chunk first, in shared memory; what found no partner there goes on in global memory.
// `deposits`: two float4 per reference; `far_ends`: NO_ONE at every gap, before and after.
extern "C" __global__ void build_nodes(Primitives primitives, const uint64* keys, const int* prim_ids,
                                       int max_leaf_size, float4* record_data, int* order, float4* nodes, int* parent,
                                       uint8* flags, int* root, float4* bvh2, float4* deposits, int* far_ends) {
    SHARED uint8 chunk_ranks[CHUNK + 1];
    SHARED int chunk_far_ends[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const Records records = {record_data};
    const Output out = {nodes, parent, flags, root, bvh2, max_leaf_size};
    for (int i : block_stride(count + 1)) {
        chunk_ranks[i] = (uint8)rank_of_gap(keys, n, first - 1 + i);
        chunk_far_ends[i] = NO_ONE;
    }
    block_sync();
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_far_ends, first};
    for (int i : block_stride(count)) {
        const int reference = first + i;
        const int prim_id = prim_id_of(keys, prim_ids, reference);
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(reference + PREFETCH_INDICES_AHEAD, n - 1)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(reference + PREFETCH_POINTS_AHEAD, n - 1)));
        order[reference] = prim_id;
        local.store(reference, Subtree{records.write(reference, primitives, prim_id), reference, reference, 0});
    }
    for (int i : block_stride(count)) climb(local.load(first + i, first + i, first + i), local, out);
    block_sync();
    const GlobalMeeting global = {keys, deposits, far_ends, n};
    for (int i : block_stride(count + 1)) {
        const int gap = first - 1 + i, far_end = chunk_far_ends[i];
        if (far_end == NO_ONE) continue;
        const int slot = far_end <= gap ? gap : gap + 1;
        const Subtree waiting = local.load(slot, min(far_end, slot), max(far_end, slot));
        global.store(slot, waiting);
        climb(waiting, global, out);
    }
}
