// The last steps of builders that merge clusters: the root changes places with the node at id 0; leaves get their place in the order of references,
// an exclusive scan of `leaf_counts` beforehand (`first_of_place`; null where every leaf has one reference), and links their final form.
//
// In: nodes, flags and root as clusters.cuh describes them. Out: order, records, final links. Launch order is the file's, the scan in between. Unit
// constants: CODE_BITS, MAX_LEAF_SIZE, TRAVERSAL_COST, WRITES_BVH2.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

__device__ __forceinline__ bool names_node(int word) { return !is_leaf(word) || reference_count(word) > 1; }
__device__ __forceinline__ int node_of(int word) { return is_leaf(word) ? first_reference(word) : word; }
__device__ __forceinline__ bool names_first_node(int word) { return names_node(word) && node_of(word) == 0; }
__device__ __forceinline__ int renamed(int word, int node_id) { return is_leaf(word) ? leaf_child(node_id, reference_count(word)) : node_id; }

struct Planter {
    float4* nodes;
    int* parent;
    uint8* flags;
    float4* bvh2;

    // Write a node at `node_id`, and tell its children.
    __device__ void put(int node_id, const CanonicalNode& node, uint8 node_flags, int above) const {
        store_node(nodes, node_id, node.aabb(), node.left, node.right);
        flags[node_id] = node_flags;
        parent[node_id] = above;
        if (names_node(node.left)) parent[node_of(node.left)] = node_id;
        if (names_node(node.right)) parent[node_of(node.right)] = node_id;
    }

    // The root, at `root_id` so far, and the node at id 0 change places. The link to the latter lies in the root itself or in another node.
    // Everything is read before anything is written: one thread does this, and would wait for every read by itself.
    __device__ void exchange(int root_id) const {
        CanonicalNode root = load_node(nodes, root_id);
        const CanonicalNode other = load_node(nodes, 0);
        const uint8 root_flags = flags[root_id] & (uint8)~NODE_IS_ABSORBED, other_flags = flags[0];
        int above = parent[0];
        const bool is_below_root = above == root_id, moves_boxes = WRITES_BVH2 && (other_flags & NODE_EXISTS);
        const CanonicalNode node = load_node(nodes, above);
        float4 root_boxes[3], other_boxes[3];
        for (int i = 0; i < 3 && WRITES_BVH2; ++i) root_boxes[i] = bvh2[4 * (int64)root_id + i];
        for (int i = 0; i < 3 && moves_boxes; ++i) other_boxes[i] = bvh2[i];
        for (int i = 0; i < 3 && WRITES_BVH2; ++i) bvh2[i] = root_boxes[i];
        for (int i = 0; i < 3 && moves_boxes; ++i) bvh2[4 * (int64)root_id + i] = other_boxes[i];
        if (is_below_root) {
            above = 0;
            if (names_first_node(root.left)) root.left = renamed(root.left, root_id);
            else root.right = renamed(root.right, root_id);
        } else {
            const bool is_left = names_first_node(node.left);
            const int left = is_left ? renamed(node.left, root_id) : node.left, right = is_left ? node.right : renamed(node.right, root_id);
            store_node(nodes, above, node.aabb(), left, right);
        }
        put(root_id, other, other_flags, above);
        put(0, root, root_flags, -1);
    }
};

// One thread moves the tree's root to id 0. Nothing is to do where the tree is one leaf.
extern "C" __global__ void plant_root(int* root, float4* nodes, int* parent, uint8* flags, float4* bvh2) {
    for (int item : grid_stride(1)) {
        const int root_id = root[item];
        if (is_leaf(root_id)) continue;
        const Planter planter = {nodes, parent, flags, bvh2};
        root[item] = 0;
        if (root_id != 0) {
            planter.exchange(root_id);
        } else {
            parent[0] = -1;
            flags[0] &= (uint8)~NODE_IS_ABSORBED;
        }
    }
}

struct LeafWriter {
    const float4* nodes;
    const uint64* keys;
    const int* prim_ids;
    const int* first_of_place;
    int* order;

    // The final word of a child; the leaf's part of the order is written on the way, the left ones first.
    __device__ int finish(int word) const {
        if (!is_leaf(word)) return word;
        const int count = reference_count(word);
        int places[MAX_LEAF_SIZE], found = 0, smallest = 0x7fffffff;
        int waiting[MAX_LEAF_SIZE], waiting_count = 0;
        int next = count == 1 ? word : first_reference(word);
        for (;;) {
            if (is_leaf(next) && reference_count(next) == 1) {
                places[found++] = first_reference(next);
                smallest = min(smallest, first_reference(next));
                if (waiting_count == 0) break;
                next = waiting[--waiting_count];
            } else {
                const CanonicalNode node = load_node(nodes, node_of(next));
                waiting[waiting_count++] = node.right;
                next = node.left;
            }
        }
        const int first = first_of_place == nullptr ? smallest : first_of_place[smallest];
        for (int i = 0; i < found; ++i) {
            order[first + i] = prim_id_of(keys, prim_ids, places[i]);
        }
        return leaf_child(first, count);
    }
};

extern "C" __global__ void finish_leaves(int n, const uint64* keys, const int* prim_ids, const int* first_of_place, const uint8* flags,
                                         float4* nodes, int* root, float4* bvh2, int* order) {
    const LeafWriter writer = {nodes, keys, prim_ids, first_of_place, order};
    for (int node_id : grid_stride(n)) {
        if (node_id == 0 && is_leaf(root[0])) root[0] = writer.finish(root[0]);
        if (node_id == n - 1 || !(flags[node_id] & NODE_EXISTS)) continue;
        // Links alone are read and written: others may be reading this node's box.
        int* links = (int*)(nodes + 2 * (int64)node_id);
        const int left = writer.finish(links[3]), right = writer.finish(links[7]);
        links[3] = left;
        links[7] = right;
        if (WRITES_BVH2) store_bvh2_links(bvh2, node_id, left, right);
    }
}

// Apart, so that neighbouring threads write neighbouring records.
extern "C" __global__ void write_leaf_records(Primitives primitives, const int* order, float4* record_data) {
    const Records records = {record_data};
    const int last = primitives.count - 1;
    for (int reference : grid_stride(primitives.count)) {
        primitives.prefetch_indices(order[min(reference + PREFETCH_INDICES_AHEAD, last)]);
        primitives.prefetch_points(order[min(reference + PREFETCH_POINTS_AHEAD, last)]);
        records.write(reference, primitives, order[reference]);
    }
}
