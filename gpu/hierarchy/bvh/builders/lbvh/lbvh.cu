// Linear BVH in one pass over a Morton order. The tree's shape and node ids are those of Karras 2012, but found from
// below while boxes are merged, after Apetrei 2014: a subtree over [first, last] hangs at the gap beside it whose two
// codes differ least.
//
// In: Primitives (by value) and their Morton order. Out: the canonical tree, the records, and with WRITES_BVH2 the bvh2
// nodes. One block per CHUNK of references. Unit constants: CODE_BITS, CHUNK, ROUND_STEPS, WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// -- the climb -------------------------------------------------------------------------------------------

constexpr int NO_ONE = -1;  // nobody has arrived at a gap yet
constexpr uint8 UNDECIDED = 255;  // flags in shared memory of an id that no node of the chunk has yet

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

__device__ __forceinline__ void store_subtree(Pointer<float4> low, Pointer<float4> high, const Subtree& subtree) {
    low[0] = make_float4(subtree.box.lower.x, subtree.box.lower.y, subtree.box.lower.z,
                         __int_as_float(subtree.is_collapsed));
    high[0] = make_float4(subtree.box.upper.x, subtree.box.upper.y, subtree.box.upper.z, 0.0f);
}
__device__ __forceinline__ Subtree load_subtree(const float4& low, const float4& high, int first, int last) {
    return {
        {make_float3(low.x, low.y, low.z), make_float3(high.x, high.y, high.z)}, first, last, __float_as_int(low.w)};
}

// `mine` and `other` become the node `node_id`; `mine_id` and `other_id` are theirs. Nodes of at most max_leaf_size
// references are leaves and not written. Nothing but the two sides' places depends on which of them is the left one.
template <class Meeting>
__device__ __forceinline__ Subtree join(const Subtree& mine, int mine_id, const Subtree& other, int other_id,
                                        bool is_left, int node_id, bool is_root, const Meeting& meeting,
                                        const Output& out) {
    Subtree joined = {merge(mine.box, other.box), min(mine.first, other.first), max(mine.last, other.last), 0};
    if (joined.last - joined.first + 1 <= out.max_leaf_size) {
        meeting.mark(node_id, 0, out);
        return joined;
    }
    const int mine_child = child_of(mine, mine_id, out.max_leaf_size),
              other_child = child_of(other, other_id, out.max_leaf_size);
    joined.is_collapsed = !is_root && !mine.is_collapsed && !other.is_collapsed;
    const int left_child = is_left ? mine_child : other_child, right_child = is_left ? other_child : mine_child;
    store_node(out.nodes, node_id, joined.box, left_child, right_child);
    if (WRITES_BVH2) {
        store_bvh2_node(out.bvh2, node_id, is_left ? mine.box : other.box, left_child, is_left ? other.box : mine.box,
                        right_child);
    }
    const bool is_bottom = is_leaf(left_child) && is_leaf(right_child);
    meeting.mark(node_id,
                 NODE_EXISTS | (joined.is_collapsed ? NODE_IS_COLLAPSED : 0) | (is_bottom ? NODE_IS_BOTTOM : 0), out);
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
    Pointer<uint8> flags;
    int first;  // the chunk's first reference; gap `first` - 1 has index 0

    __device__ int rank(int gap) const { return ranks[gap - first + 1]; }
    __device__ void store(int slot, const Subtree& subtree) const {
        store_subtree(slots + (slot - first), slots + (CHUNK + slot - first), subtree);
    }
    __device__ Subtree load(int slot, int low, int high) const {
        return load_subtree(slots[slot - first], slots[CHUNK + slot - first], low, high);
    }
    __device__ int arrive(int gap, int far_end) const {
        return block_atomic_exchange(far_ends + (gap - first + 1), far_end);
    }
    __device__ void leave(int gap) const { far_ends[gap - first + 1] = NO_ONE; }
    __device__ void mark(int node_id, int node_flags, const Output&) const {
        flags[node_id - first] = (uint8)node_flags;
    }
};
struct GlobalMeeting {
    Pointer<const uint64> keys;
    Pointer<float4> slots;
    Pointer<int> far_ends;
    int n;

    __device__ int rank(int gap) const { return rank_of_gap(keys, n, gap); }
    __device__ void store(int slot, const Subtree& subtree) const {
        store_subtree(slots + 2 * (int64)slot, slots + (2 * (int64)slot + 1), subtree);
    }
    __device__ Subtree load(int slot, int low, int high) const {
        return load_subtree(slots[2 * (int64)slot], slots[2 * (int64)slot + 1], low, high);
    }
    __device__ int arrive(int gap, int far_end) const { return atomic_exchange(far_ends + gap, far_end); }
    __device__ void leave(int gap) const { far_ends[gap] = NO_ONE; }
    __device__ void mark(int node_id, int node_flags, const Output& out) const {
        out.flags[node_id] = (uint8)node_flags;
    }
};

// Carry `mine`, which lies in its slot, up until it has to wait for its other half, or is the whole tree; or by as many
// steps as are allowed. Whether it may go on.
template <class Meeting>
__device__ __forceinline__ bool climb(Subtree& mine, const Meeting& meeting, const Output& out, int most_steps) {
    int before = meeting.rank(mine.first - 1), after = meeting.rank(mine.last);
    for (int step = 0; before != OUTSIDE_RANK || after != OUTSIDE_RANK; ++step) {
        if (step == most_steps) return true;
        const bool is_left = after < before;
        const int gap = is_left ? mine.last : mine.first - 1;
        const int far_end = meeting.arrive(gap, is_left ? mine.first : mine.last);
        if (far_end == NO_ONE) return false;
        meeting.leave(gap);
        const int mine_id = is_left ? gap : gap + 1, other_id = is_left ? gap + 1 : gap;
        const Subtree other = meeting.load(other_id, min(far_end, other_id), max(far_end, other_id));
        if (is_left) after = meeting.rank(far_end);
        else before = meeting.rank(far_end - 1);
        const bool is_root = before == OUTSIDE_RANK && after == OUTSIDE_RANK;
        const int node_id = is_root ? 0 : after < before ? max(mine.last, far_end) : min(mine.first, far_end);
        mine = join(mine, mine_id, other, other_id, is_left, node_id, is_root, meeting, out);
        if (!is_root) meeting.store(node_id, mine);
    }
    out.root[0] = child_of(mine, 0, out.max_leaf_size);
    if (!is_leaf(out.root[0])) out.parent[0] = -1;
    return false;
}

// -- a chunk ---------------------------------------------------------------------------------------------

// At every step some climbers stop to wait. So that lanes do not idle while a few of their warp go on, a block climbs
// in rounds of ROUND_STEPS steps, and who goes on moves together into as few warps as hold them; what fits one warp
// climbs to the end. Whoever goes on has joined ROUND_STEPS nodes in the round, so rounds that leave more than a warp
// are few.
constexpr int MOST_ROUNDS = 2 + (CHUNK - 1) / (ROUND_STEPS * (WARP_LANES + 1));

// A range of the chunk's references in one word.
__device__ __forceinline__ int range_word(int first, int last) { return first | last << 16; }

// Climbers of one round, and of the next.
struct Rounds {
    Pointer<int> ranges;  // two lists of (CHUNK + 1) / 2: in the first round every other climber stops at least
    Pointer<int> counts;  // MOST_ROUNDS + 1, zero at first

    __device__ Pointer<int> list(int round) const { return ranges + (round & 1) * ((CHUNK + 1) / 2); }
    __device__ void append(int round, int first, int last) const {
        list(round)[block_atomic_add(counts + round, 1)] = range_word(first, last);
    }
};

__device__ __forceinline__ void climb_chunk(const LocalMeeting& local, int count, const Rounds& rounds,
                                            const Output& out) {
    const int first = local.first;
    for (int round = 0; count > 0; ++round) {
        const int most_steps = count > WARP_LANES ? ROUND_STEPS : CHUNK;
        for (int i : block_stride(count)) {
            const int range = round == 0 ? range_word(i, i) : rounds.list(round)[i];
            const int low = first + (range & 0xffff), high = first + (range >> 16);
            const int slot = local.rank(high) < local.rank(low - 1) ? high : low;
            Subtree mine = local.load(slot, low, high);
            if (climb(mine, local, out, most_steps)) {
                rounds.append(round + 1, mine.first - first, mine.last - first);
            }
        }
        block_sync();
        count = rounds.counts[round + 1];
    }
}

// Each block works its own chunk first, in shared memory; what found no partner there goes on in global memory.
// `deposits`: two float4 per reference; `far_ends`: NO_ONE at every gap, before and after.
extern "C" __global__ void build_nodes(Primitives primitives, const uint64* keys, const int* prim_ids,
                                       int max_leaf_size, float4* record_data, int* order, float4* nodes, int* parent,
                                       uint8* flags, int* root, float4* bvh2, float4* deposits, int* far_ends) {
    SHARED uint8 chunk_ranks[CHUNK + 1], chunk_flags[CHUNK];
    SHARED int chunk_far_ends[CHUNK + 1];
    SHARED float4 chunk_slots[2 * CHUNK];
    SHARED int ranges[CHUNK + 1], counts[MOST_ROUNDS + 1], open_count;
    const int n = primitives.count, first = block_index() * CHUNK, count = min(n - first, CHUNK);
    const Records records = {record_data};
    const Output out = {nodes, parent, flags, root, bvh2, max_leaf_size};
    for (int i : block_stride(count + 1)) {
        chunk_ranks[i] = (uint8)rank_of_gap(keys, n, first - 1 + i);
        chunk_far_ends[i] = NO_ONE;
    }
    for (int i : block_stride(count)) chunk_flags[i] = UNDECIDED;
    for (int i : block_stride(MOST_ROUNDS + 1)) counts[i] = 0;
    if (thread_index() == 0) open_count = 0;
    block_sync();
    const LocalMeeting local = {chunk_ranks, chunk_slots, chunk_far_ends, chunk_flags, first};
    for (int i : block_stride(count)) {
        const int reference = first + i;
        const int prim_id = prim_id_of(keys, prim_ids, reference);
        primitives.prefetch_indices(prim_id_of(keys, prim_ids, min(reference + PREFETCH_INDICES_AHEAD, n - 1)));
        primitives.prefetch_points(prim_id_of(keys, prim_ids, min(reference + PREFETCH_POINTS_AHEAD, n - 1)));
        order[reference] = prim_id;
        local.store(reference, Subtree{records.write(reference, primitives, prim_id), reference, reference, 0});
    }
    climb_chunk(local, count, {ranges, counts}, out);
    for (int i : block_stride(count)) {
        if (chunk_flags[i] != UNDECIDED) flags[first + i] = chunk_flags[i];
    }
    for (int i : block_stride(count + 1)) {
        if (chunk_far_ends[i] != NO_ONE) ranges[block_atomic_add(&open_count, 1)] = i;
    }
    block_sync();
    const GlobalMeeting global = {keys, deposits, far_ends, n};
    for (int i : block_stride(open_count)) {
        const int gap = first - 1 + ranges[i], far_end = chunk_far_ends[ranges[i]];
        const int slot = far_end <= gap ? gap : gap + 1;
        Subtree waiting = local.load(slot, min(far_end, slot), max(far_end, slot));
        global.store(slot, waiting);
        climb(waiting, global, out, n);
    }
}
