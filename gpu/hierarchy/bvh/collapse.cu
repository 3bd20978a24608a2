// Which nodes of a binary tree become wide nodes, so that the sum of the wide nodes' areas is the smallest (the dynamic
// programme of Ylitie, Karras and Laine 2017, section 3.1, over the tree's own leaves).
//
// The cost of a node with room for i children in the wide node above it, i = 1 .. WIDTH - 1, is the least of: closing
// it, that is making it a wide node of its own (its area, and its children share WIDTH places); or opening it, so that
// its children share j <= i places. It is computed from below by the last of two siblings to arrive. Costs are whole
// numbers, areas as a share of the root's in steps of 2^-36 and 1 for the node, so that sums are exact, no two targets
// differ for rounding, and of equal areas fewer nodes win. A node over no more than WIDTH / 2 leaves is never closed:
// then every wide node but the root has a partner above or below with which it holds WIDTH + 2 children, and wide nodes
// number at most 1 + leaves / (WIDTH / 2) (docs/decisions/wide-layouts.md has the proof).
//
// From above each node gets its room from its parent's. Instead of a launch a level, every node carries the question
// "closed?" as a set over the rooms it might get up through its ancestors, until all rooms give one answer, which takes
// a few steps (a composition of functions that forgets).
//
// Launch order is the file's; collapse_costs takes one block per CHUNK of node ids. Unit constants: WIDTH (4 or 8),
// CHUNK.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

constexpr int ROOMS = WIDTH - 1;  // rooms 1 .. ROOMS; a set over them has bit room - 1
constexpr int ALL_ROOMS = (1 << ROOMS) - 1;
constexpr uint64 IMPOSSIBLE = 1ull << 62;
constexpr int NO_ONE = -1;

// The costs of one node by room, and its leaves up to WIDTH / 2 + 1.
struct Costs {
    uint64 of_room[ROOMS];
    int leaf_count;
};

struct Collapse {
    Pointer<const float4> nodes;
    Pointer<const int> parent;
    Pointer<uint64> costs;  // WIDTH numbers a node
    Pointer<uint8> closed;  // the rooms in which a node is closed
    Pointer<int> shares;  // room of the parent -> room of the node, three bits each

    __device__ Costs costs_of(int child) const {
        Costs found;
        if (is_leaf(child)) {
#pragma unroll
            for (int i = 0; i < ROOMS; ++i) found.of_room[i] = 0;
            found.leaf_count = 1;
            return found;
        }
        const uint64* at = costs + WIDTH * (int64)child;
#pragma unroll
        for (int i = 0; i < ROOMS; ++i) found.of_room[i] = at[i];
        found.leaf_count = (int)at[ROOMS];
        return found;
    }

    __device__ static uint64 cost_of_area(float area, float root_area) {
        const float share = area / root_area;
        return 1 + (uint64)((share < 1.0f ? share : 1.0f) * 68719476736.0f);
    }

    // The least cost of PLACES shared by both children, and the left one's part.
    template <int PLACES>
    __device__ static uint64 best_share(const Costs& left, const Costs& right, int& part) {
        uint64 best = left.of_room[0] + right.of_room[PLACES - 2];
        part = 1;
#pragma unroll
        for (int mine = 2; mine < PLACES; ++mine) {
            const uint64 sum = left.of_room[mine - 1] + right.of_room[PLACES - mine - 1];
            if (sum < best) {
                best = sum;
                part = mine;
            }
        }
        return best;
    }

    // What the node does in ROOM: its cost, and whether its children share all places of a node of its own or the
    // `places` of this one.
    template <int ROOM>
    __device__ void keep(int node_id, uint64 cost, int places, int taken, int& closed_rooms, int& left_shares,
                         int& right_shares) const {
        costs[WIDTH * (int64)node_id + ROOM - 1] = cost;
        closed_rooms |= (places == WIDTH && cost < IMPOSSIBLE) << (ROOM - 1);
        left_shares |= taken << 3 * (ROOM - 1);
        right_shares |= (places - taken) << 3 * (ROOM - 1);
    }
    template <int ROOM>
    __device__ void open(int node_id, const Costs& left, const Costs& right, uint64 cost, int places, int taken,
                         int& closed_rooms, int& left_shares, int& right_shares) const {
        if constexpr (ROOM <= ROOMS) {
            int part;
            const uint64 opened = best_share<ROOM>(left, right, part);
            const bool is_better = opened < cost;
            if (is_better) {
                cost = opened;
                places = ROOM;
                taken = part;
            }
            keep<ROOM>(node_id, cost, places, taken, closed_rooms, left_shares, right_shares);
            open<ROOM + 1>(node_id, left, right, cost, places, taken, closed_rooms, left_shares, right_shares);
        }
    }

    // Costs, the rooms in which the node is closed, and its children's rooms. The children are done.
    __device__ void finish(int node_id) const {
        const CanonicalNode node = load_node(nodes, node_id);
        const Costs left = costs_of(node.left), right = costs_of(node.right);
        const int leaf_count = min(left.leaf_count + right.leaf_count, WIDTH / 2 + 1);
        const bool may_close = leaf_count > WIDTH / 2 || node_id == 0;
        int places = WIDTH, taken, closed_rooms = 0, left_shares = 0, right_shares = 0;
        uint64 cost = best_share<WIDTH>(left, right, taken);
        cost = may_close ? cost + cost_of_area(half_area(node.aabb()), half_area(load_node(nodes, 0).aabb()))
                         : IMPOSSIBLE;
        keep<1>(node_id, cost, places, taken, closed_rooms, left_shares, right_shares);
        open<2>(node_id, left, right, cost, places, taken, closed_rooms, left_shares, right_shares);
        costs[WIDTH * (int64)node_id + ROOMS] = leaf_count;
        closed[node_id] = (uint8)closed_rooms;
        if (!is_leaf(node.left)) shares[node.left] = left_shares;
        if (!is_leaf(node.right)) shares[node.right] = right_shares;
    }

    // Whether the parent of the finished `child_id` is now the caller's to finish.
    template <class Meeting>
    __device__ bool enter(int child_id, const Meeting& meeting) const {
        const int parent_id = parent[child_id];
        const bool is_alone = is_leaf(__float_as_int(nodes[2 * (int64)parent_id].w)) ||
                              is_leaf(__float_as_int(nodes[2 * (int64)parent_id + 1].w));
        return meeting.arrive(parent_id, child_id, is_alone);
    }
    template <class Meeting>
    __device__ void climb(int node_id, const Meeting& meeting) const {
        while (node_id != 0 && enter(node_id, meeting)) {
            node_id = parent[node_id];
            finish(node_id);
        }
    }
};

// Where siblings meet, as in refit.cu: first those of one chunk of ids, in shared memory, then the others.
struct InChunk {
    Pointer<int> waiting;  // at a parent of this chunk: the child that came first
    Pointer<uint8> leaving;  // at a child: its parent lies in another chunk
    int first;

    __device__ bool arrive(int parent_id, int child_id, bool is_alone) const {
        const int at = parent_id - first;
        if (at < 0 || at >= CHUNK) {
            leaving[child_id - first] = 1;
            return false;
        }
        if (is_alone) return true;
        const bool is_second = block_atomic_exchange(waiting + at, child_id) != NO_ONE;
        if (is_second) waiting[at] = NO_ONE;
        return is_second;
    }
};
struct Anywhere {
    Pointer<int> waiting;

    __device__ bool arrive(int parent_id, int child_id, bool is_alone) const {
        if (is_alone) return true;
        const bool is_second = atomic_exchange(waiting + parent_id, child_id) != NO_ONE;
        if (is_second) waiting[parent_id] = NO_ONE;
        return is_second;
    }
};

extern "C" __global__ void collapse_costs(const float4* nodes, const int* parent, const uint8* flags, int node_capacity,
                                          uint64* costs, uint8* closed, int* shares, int* waiting) {
    SHARED int chunk_waiting[CHUNK];
    SHARED uint8 chunk_leaving[CHUNK];
    SHARED int chunk_bottom[CHUNK];
    SHARED int bottom_count;
    const int first = block_index() * CHUNK, count = min(node_capacity - first, CHUNK);
    const Collapse collapse = {nodes, parent, costs, closed, shares};
    if (thread_index() == 0) bottom_count = 0;
    block_sync();
    for (int i : block_stride(count)) {
        chunk_waiting[i] = NO_ONE;
        chunk_leaving[i] = 0;
        if (flags[first + i] & NODE_IS_BOTTOM) chunk_bottom[block_atomic_add(&bottom_count, 1)] = first + i;
    }
    block_sync();
    const InChunk in_chunk = {chunk_waiting, chunk_leaving, first};
    for (int i : block_stride(bottom_count)) {
        collapse.finish(chunk_bottom[i]);
        collapse.climb(chunk_bottom[i], in_chunk);
    }
    block_sync();
    const Anywhere anywhere = {waiting};
    for (int i : block_stride(count)) {
        if (chunk_leaving[i]) collapse.climb(first + i, anywhere);
        if (chunk_waiting[i] != NO_ONE) collapse.climb(chunk_waiting[i], anywhere);
    }
}

// `is_wide`: whether a node becomes a wide node, as a byte and as a number to be summed.
extern "C" __global__ void mark_wide_nodes(const int* parent, const uint8* flags, const uint8* closed,
                                           const int* shares, int node_capacity, uint8* is_wide, int* wide_count) {
    for (int node_id : grid_stride(node_capacity)) {
        int answer = 0;
        if (flags[node_id] & NODE_EXISTS) {
            answer = closed[node_id];
            for (int at = node_id; answer != 0 && answer != ALL_ROOMS && at != 0; at = parent[at]) {
                const int share = shares[at];
                int above = 0;
#pragma unroll
                for (int room = 0; room < ROOMS; ++room) above |= (answer >> ((share >> 3 * room & 7) - 1) & 1) << room;
                answer = above;
            }
        }
        // The root has room 1; so has whatever the question reached.
        is_wide[node_id] = (uint8)(answer & 1);
        if (wide_count) wide_count[node_id] = answer & 1;
    }
}
