// Which nodes of a binary tree become 8-wide nodes, in two launches and without a climb: the quick way, where
// collapse.cu finds the cheapest one.
//
// The collapse of tree.py already divides the tree into pieces of up to four children. Each piece chooses greedily, by
// their areas, which of the pieces below it would fit into a node with it, the largest first: the box that rays meet
// most often is the one to save (after Wald, Benthin and Boulos 2008, and Dammertz, Hanika and Keller 2008). Whether a
// piece is opened by the one above then depends on that one not being opened itself: it is a node of its own if an even
// number of pieces in a row, from it upwards, were chosen. Such rows are short.
//
// Launch order is the file's. Unit constants: CHUNK, LIST_SHARE.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/collapse.cuh"

__device__ __forceinline__ bool is_collapsed(const uint8* flags, int child) {
    return !is_leaf(child) && (flags[child] & NODE_IS_COLLAPSED);
}

// How many children the piece of `node_id` has: 2 to 4.
__device__ __forceinline__ int piece_size(const float4* nodes, const uint8* flags, int node_id) {
    const int left = __float_as_int(nodes[2 * (int64)node_id].w),
              right = __float_as_int(nodes[2 * (int64)node_id + 1].w);
    return 2 + is_collapsed(flags, left) + is_collapsed(flags, right);
}

// Which of the pieces below that of `node_id` it would open, and that it is above them.
__device__ __forceinline__ void choose_below(const float4* nodes, const uint8* flags, int node_id, uint8* is_chosen,
                                             int* above) {
    const CanonicalNode node = load_node(nodes, node_id);
    int child[4] = {node.left, EMPTY_CHILD, node.right, EMPTY_CHILD};
#pragma unroll
    for (int side = 0; side < 4; side += 2) {
        if (!is_collapsed(flags, child[side])) continue;
        const int collapsed = child[side];
        child[side] = __float_as_int(nodes[2 * (int64)collapsed].w);
        child[side + 1] = __float_as_int(nodes[2 * (int64)collapsed + 1].w);
    }
    float area[4];
    int size[4], count = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        count += child[i] != EMPTY_CHILD;
        area[i] = is_leaf(child[i]) ? -1.0f : half_area(load_node(nodes, child[i]).aabb());
        size[i] = is_leaf(child[i]) ? 0 : piece_size(nodes, flags, child[i]);
        if (!is_leaf(child[i])) {
            is_chosen[child[i]] = 0;
            above[child[i]] = node_id;
        }
    }
    for (int turn = 0; turn < 4; ++turn) {
        int best = -1;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const bool fits = size[i] > 0 && count + size[i] - 1 <= 8;
            if (fits && (best < 0 || area[i] > area[best])) best = i;
        }
        if (best < 0) break;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (i != best) continue;
            is_chosen[child[i]] = 1;
            count += size[i] - 1;
            size[i] = 0;
        }
    }
}

// `is_chosen`: whether the piece above would open this one; `above`: that piece. Both are written for every piece but
// the root's `above`. One block per CHUNK of ids, whose pieces are gathered first.
extern "C" __global__ void choose_pieces(const float4* nodes, const uint8* flags, int node_capacity, uint8* is_chosen,
                                         int* above) {
    SHARED int pieces[CHUNK];
    SHARED int piece_count;
    const int first = block_index() * CHUNK;
    if (thread_index() == 0) piece_count = 0;
    block_sync();
    for (int i : block_stride(min(node_capacity - first, CHUNK))) {
        if ((flags[first + i] & (NODE_EXISTS | NODE_IS_COLLAPSED)) == NODE_EXISTS)
            pieces[block_atomic_add(&piece_count, 1)] = first + i;
    }
    block_sync();
    if (first == 0 && thread_index() == 0) is_chosen[0] = 0;
    for (int i : block_stride(piece_count)) choose_below(nodes, flags, pieces[i], is_chosen, above);
}

// The wide children of a wide node, told where they are: `node_id` and their rank there. All its children go to
// `lists`. Returns the number of wide ones.
__device__ __forceinline__ int number_children(const float4* nodes, const uint8* flags, const uint8* is_chosen,
                                               int node_id, int* places, const WideLists& lists, int place) {
    // Chosen pieces are opened; those that they chose are not: they lie inside an opened one.
    int kids[8] = {}, inside = 0, kid_count = 2, count = 0;
    kids[0] = __float_as_int(nodes[2 * (int64)node_id].w);
    kids[1] = __float_as_int(nodes[2 * (int64)node_id + 1].w);
    for (int i = 0; i < kid_count;) {
        const int child = kids[i];
        const bool is_collapsed_child = is_collapsed(flags, child);
        if (is_leaf(child) || !(is_collapsed_child || (!(inside >> i & 1) && is_chosen[child]))) {
            ++i;
            continue;
        }
        if (!is_collapsed_child) inside |= 1 << i;
        inside |= (inside >> i & 1) << kid_count;
        kids[i] = __float_as_int(nodes[2 * (int64)child].w);
        kids[kid_count++] = __float_as_int(nodes[2 * (int64)child + 1].w);
    }
    for (int i = 0; i < kid_count; ++i) {
        if (!is_leaf(kids[i])) places[kids[i]] = node_id << 3 | count++;
    }
    lists.leave(block_index(), place, node_id, kid_count, kids);
    return count;
}

// `is_wide`: whether an id is a wide node; `child_counts`: how many wide children it has; `places`: its wide parent and
// its rank there. One block per CHUNK of ids: wide ones are few among them, so they are gathered first, that most
// threads have one.
extern "C" __global__ void number_wide_nodes(const float4* nodes, const uint8* flags, const uint8* is_chosen,
                                             const int* above, int node_capacity, uint8* is_wide, int* child_counts,
                                             int* places, int* list_counts, unsigned* list_ids, int4* list_children) {
    SHARED int wide[CHUNK];
    SHARED int wide_count;
    const int first = block_index() * CHUNK;
    if (thread_index() == 0) wide_count = 0;
    block_sync();
    for (int i : block_stride(min(node_capacity - first, CHUNK))) {
        const int node_id = first + i;
        bool is_node = (flags[node_id] & (NODE_EXISTS | NODE_IS_COLLAPSED)) == NODE_EXISTS;
        if (is_node) {
            for (int at = node_id; is_chosen[at]; at = above[at]) is_node = !is_node;
        }
        is_wide[node_id] = is_node;
        if (is_node) wide[block_atomic_add(&wide_count, 1)] = node_id;  // in any order: each is told of by itself
        else child_counts[node_id] = 0;
    }
    block_sync();
    const WideLists lists = {list_counts, list_ids, list_children, CHUNK / LIST_SHARE};
    if (thread_index() == 0) list_counts[block_index()] = wide_count;
    for (int i : block_stride(wide_count))
        child_counts[wide[i]] = number_children(nodes, flags, is_chosen, wide[i], places, lists, i);
}
