// Refit of any canonical tree: same topology, new boxes. Records are written again, then boxes climb: a thread starts at each node whose children
// are both leaves, and where two inner children meet the second arriver goes on (Karras 2012). As in lbvh.cu, a block joins what it can in shared
// memory before it goes on in global memory. Only one id in eight is such a node (leaves of 4), so a block gathers a chunk's first: full warps.
//
// For a topology that is new (a builder's that emits no boxes, an optimiser's) the same climb decides the flags: MARKS. `starts` are then bytes of
// their own, because flags are written while other blocks still gather their chunks.
//
// Launch order is the file's; refit_nodes takes one block a CHUNK of node ids. Unit constants: CHUNK, WRITES_BVH2, MARKS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

extern "C" __global__ void refit_records(Primitives primitives, const int* order, const int* reference_count, float4* record_data) {
    const Records records = {record_data};
    const int count = *reference_count, last = count - 1;
    for (int reference : grid_stride(count)) {
        primitives.prefetch_indices(order[min(reference + PREFETCH_INDICES_AHEAD, last)]);
        primitives.prefetch_points(order[min(reference + PREFETCH_POINTS_AHEAD, last)]);
        records.write(reference, primitives, order[reference]);
    }
}

// Where a climb starts. Only EXISTS is set in `flags`; what lies at ids of no node is not read.
extern "C" __global__ void mark_lowest(const float4* nodes, const uint8* flags, int node_capacity, uint8* starts) {
    for (int node_id : grid_stride(node_capacity)) {
        bool is_lowest = false;
        if (flags[node_id] & NODE_EXISTS) {
            const CanonicalNode node = load_node(nodes, node_id);
            is_lowest = is_leaf(node.left) && is_leaf(node.right);
        }
        starts[node_id] = is_lowest ? NODE_IS_LOWEST : 0;
    }
}

constexpr int NO_ONE = -1;

// Where children meet: `arrive` is true for the one that finds its sibling finished, or that has none.
struct LocalMeeting {
    int* waiting;   // at a parent of this chunk: the child that came first
    uint8* leaving; // at a child: its parent lies in another chunk
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
struct GlobalMeeting {
    int* waiting;

    __device__ bool arrive(int parent_id, int child_id, bool is_alone) const {
        if (is_alone) return true;
        const bool is_second = atomic_exchange(waiting + parent_id, child_id) != NO_ONE;
        if (is_second) waiting[parent_id] = NO_ONE;
        return is_second;
    }
};

struct Tree {
    ReferencesOf<Records> references;
    float4* nodes;
    const int* parent;
    uint8* flags;
    float4* bvh2;

    __device__ bool is_absorbed(int child) const { return !is_leaf(child) && (flags[child] & NODE_IS_ABSORBED); }

    __device__ void fit(int node_id) const {
        const CanonicalNode node = load_node(nodes, node_id);
        const Aabb left = child_aabb(nodes, references, node.left), right = child_aabb(nodes, references, node.right);
        store_node(nodes, node_id, merge(left, right), node.left, node.right);
        if (WRITES_BVH2) store_bvh2_node(bvh2, node_id, left, node.left, right, node.right);
        if (MARKS) {
            const bool absorbed = node_id != 0 && !is_absorbed(node.left) && !is_absorbed(node.right);
            const bool lowest = is_leaf(node.left) && is_leaf(node.right);
            flags[node_id] = (uint8)(NODE_EXISTS | (absorbed ? NODE_IS_ABSORBED : 0) | (lowest ? NODE_IS_LOWEST : 0));
        }
    }

    // Whether the parent of `child_id` may be fitted now, by the caller.
    template <class Meeting> __device__ bool enter(int child_id, const Meeting& meeting) const {
        const int parent_id = parent[child_id];
        const bool is_alone = is_leaf(__float_as_int(nodes[2 * (int64)parent_id].w)) || is_leaf(__float_as_int(nodes[2 * (int64)parent_id + 1].w));
        return meeting.arrive(parent_id, child_id, is_alone);
    }

    // Fit every ancestor of the finished `node_id` that this thread is the last to reach.
    template <class Meeting> __device__ void climb(int node_id, const Meeting& meeting) const {
        while (node_id != 0 && enter(node_id, meeting)) {
            node_id = parent[node_id];
            fit(node_id);
        }
    }
};

extern "C" __global__ void refit_nodes(float4* record_data, const float4* reference_boxes, float4* nodes, const int* parent, const uint8* starts, uint8* flags,
                                       int node_capacity, float4* bvh2, int* waiting) {
    SHARED int chunk_waiting[CHUNK];
    SHARED uint8 chunk_leaving[CHUNK];
    SHARED int chunk_lowest[CHUNK];
    SHARED int lowest_count;
    const int first = block_index() * CHUNK, count = min(node_capacity - first, CHUNK);
    const Tree tree = {{{record_data}, reference_boxes}, nodes, parent, flags, bvh2};
    if (thread_index() == 0) lowest_count = 0;
    block_sync();
    for (int i : block_stride(count)) {
        chunk_waiting[i] = NO_ONE;
        chunk_leaving[i] = 0;
        // Their order does not matter: every box is the same whoever comes last.
        if (starts[first + i] & NODE_IS_LOWEST) chunk_lowest[block_atomic_add(&lowest_count, 1)] = first + i;
    }
    block_sync();
    const LocalMeeting local = {chunk_waiting, chunk_leaving, first};
    for (int i : block_stride(lowest_count)) {
        tree.fit(chunk_lowest[i]);
        tree.climb(chunk_lowest[i], local);
    }
    block_sync();
    const GlobalMeeting global = {waiting};
    for (int i : block_stride(count)) {
        if (chunk_leaving[i]) tree.climb(first + i, global);
        if (chunk_waiting[i] != NO_ONE) tree.climb(chunk_waiting[i], global);
    }
}
