// Which nodes of a binary tree become 8-wide nodes, in two launches and without a climb: the quick way, where collapse.cu finds the cheapest one.
//
// Absorption (tree.py) already parts the tree into pieces of up to four children. Each piece chooses greedily, by their areas, which of the pieces
// below it would fit into a node with it, the largest first: the box that is met most often is the one to save (after Wald, Benthin and Boulos
// 2008, and Dammertz, Hanika and Keller 2008). Whether a piece is opened by the one above then depends on that one not being opened itself: it is a
// node of its own if an even number of pieces in a row, from it upwards, were chosen. Such rows are short.
//
// Launch order is the file's.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/collapse.cuh"

__device__ __forceinline__ bool is_absorbed(const uint8* flags, int child) { return !is_leaf(child) && (flags[child] & NODE_IS_ABSORBED); }

// How many children the piece of `node_id` has: 2 to 4.
__device__ __forceinline__ int piece_size(const float4* nodes, const uint8* flags, int node_id) {
    const int left = __float_as_int(nodes[2 * (int64)node_id].w), right = __float_as_int(nodes[2 * (int64)node_id + 1].w);
    return 2 + is_absorbed(flags, left) + is_absorbed(flags, right);
}

// `is_chosen`: whether the piece above would open this one; `above`: that piece. Both are written for every piece but the root's `above`.
extern "C" __global__ void choose_pieces(const float4* nodes, const uint8* flags, int node_capacity, uint8* is_chosen, int* above) {
    for (int node_id : grid_stride(node_capacity)) {
        if ((flags[node_id] & (NODE_EXISTS | NODE_IS_ABSORBED)) != NODE_EXISTS) continue;
        if (node_id == 0) is_chosen[0] = 0;
        const CanonicalNode node = load_node(nodes, node_id);
        int child[4] = {node.left, EMPTY_CHILD, node.right, EMPTY_CHILD};
#pragma unroll
        for (int side = 0; side < 4; side += 2) {
            if (!is_absorbed(flags, child[side])) continue;
            const int absorbed = child[side];
            child[side] = __float_as_int(nodes[2 * (int64)absorbed].w);
            child[side + 1] = __float_as_int(nodes[2 * (int64)absorbed + 1].w);
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
}

// `is_wide`: whether an id is a wide node; `child_counts`: how many wide children it has; `places`: its wide parent and its rank there.
extern "C" __global__ void number_wide_nodes(const float4* nodes, const uint8* flags, const uint8* is_chosen, const int* above, int node_capacity, uint8* is_wide,
                                             int* child_counts, int* places) {
    for (int node_id : grid_stride(node_capacity)) {
        bool is_node = (flags[node_id] & (NODE_EXISTS | NODE_IS_ABSORBED)) == NODE_EXISTS;
        if (is_node) {
            for (int at = node_id; is_chosen[at]; at = above[at]) is_node = !is_node;
        }
        int count = 0;
        if (is_node) {
            // Chosen pieces are opened; those that they chose are not: they are met inside an opened one.
            int kids[8], inside = 0;
            kids[0] = __float_as_int(nodes[2 * (int64)node_id].w);
            kids[1] = __float_as_int(nodes[2 * (int64)node_id + 1].w);
            int kid_count = 2;
            for (int i = 0; i < kid_count;) {
                const int child = kids[i];
                const bool is_part = is_absorbed(flags, child);
                if (is_leaf(child) || !(is_part || (!(inside >> i & 1) && is_chosen[child]))) {
                    ++i;
                    continue;
                }
                if (!is_part) inside |= 1 << i;
                inside |= (inside >> i & 1) << kid_count;
                kids[i] = __float_as_int(nodes[2 * (int64)child].w);
                kids[kid_count++] = __float_as_int(nodes[2 * (int64)child + 1].w);
            }
            for (int i = 0; i < kid_count; ++i) {
                if (!is_leaf(kids[i])) places[kids[i]] = node_id << 3 | count++;
            }
        }
        is_wide[node_id] = is_node;
        child_counts[node_id] = count;
    }
}
