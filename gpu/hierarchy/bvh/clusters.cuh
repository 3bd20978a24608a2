// Clusters: finished subtrees that are still to be paired. What builders that merge nearest neighbours (ploc, hploc)
// have in common.
//
// Ids are known without a counter: the single reference i owns the place i; a node over two clusters takes the larger
// of their places, less one, as its id and goes on with the smaller. So every id below n - 1 is given once, whatever
// the order of the merges, and near ids are near in space.
//
// Nodes inside a leaf have no flag and vanish. With LEAVES_IN_ORDER the order of references is the Morton order, and
// only neighbours in it become a leaf: its word is final at once, and nothing is written of the nodes inside. Without,
// any clusters do: until finish_leaves (clusters.cu) has run, a child word of leaf form holds, where its count is 1,
// the reference's place in Morton order, and where it is larger, the id of the node that becomes the leaf. Unit
// constants: MAX_LEAF_SIZE, LEAVES_IN_ORDER, TRAVERSAL_COST, WRITES_BVH2.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

// Of wide references a cluster has 27 bits twice: a leaf's count has 3, of which the largest says that it is collapsed.
constexpr bool IS_WIDE = REFERENCE_BITS > 26;
constexpr unsigned WIDE_COLLAPSED = 7;
static_assert(REFERENCE_BITS <= 27, "drawn below");
static_assert(MAX_LEAF_SIZE < (IS_WIDE ? 7 : 16), "a cluster has 4 bits for its leaf's count, or 3");

// `id` is a node's, or the place of a single reference, with LEAVES_IN_ORDER of a leaf's first one; `leaf_count` is 0
// for an inner node; `height` counts the nodes down to the deepest reference.
struct Cluster {
    Aabb box;
    int id, leaf_count, place, height, is_collapsed;

    __device__ int word() const { return leaf_count > 0 ? leaf_child(id, leaf_count) : id; }
    __device__ bool is_node() const { return leaf_count == 0 || (!LEAVES_IN_ORDER && leaf_count > 1); }
};

//  byte  0       12                                                16      28                           32
//        | lower | id 26, leaf count 4, collapsed 1, height's bit 6 | upper | place 26, height's bits 0-5 |
// wide   | lower | id 27, leaf count or collapsed 3, height's 5 and 6 | upper | place 27, height's bits 0-4 |
struct PackedCluster {
    float4 low, high;
};
static_assert(sizeof(PackedCluster) == 32, "drawn above");

__device__ __forceinline__ PackedCluster pack(const Cluster& cluster) {
    unsigned first, second;
    if constexpr (IS_WIDE) {
        const unsigned kind = cluster.is_collapsed ? WIDE_COLLAPSED : (unsigned)cluster.leaf_count;
        first = (unsigned)cluster.id | kind << 27 | (unsigned)(cluster.height >> 5) << 30;
        second = (unsigned)cluster.place | (unsigned)(cluster.height & 31) << 27;
    } else {
        first = (unsigned)cluster.id | (unsigned)cluster.leaf_count << 26 | (unsigned)cluster.is_collapsed << 30 |
                (unsigned)(cluster.height >> 6) << 31;
        second = (unsigned)cluster.place | (unsigned)(cluster.height & 63) << 26;
    }
    return {make_float4(cluster.box.lower.x, cluster.box.lower.y, cluster.box.lower.z, __int_as_float((int)first)),
            make_float4(cluster.box.upper.x, cluster.box.upper.y, cluster.box.upper.z, __int_as_float((int)second))};
}
__device__ __forceinline__ Aabb box_of(const PackedCluster& packed) {
    return {make_float3(packed.low.x, packed.low.y, packed.low.z),
            make_float3(packed.high.x, packed.high.y, packed.high.z)};
}
__device__ __forceinline__ int height_of(float low_w, float high_w) {
    const unsigned low = (unsigned)__float_as_int(low_w), high = (unsigned)__float_as_int(high_w);
    if constexpr (IS_WIDE) return (int)(high >> 27 | low >> 30 << 5);
    return (int)(high >> 26 | low >> 31 << 6);
}
__device__ __forceinline__ int height_of(const PackedCluster& packed) { return height_of(packed.low.w, packed.high.w); }
__device__ __forceinline__ Cluster unpack(const PackedCluster& packed) {
    const unsigned first = (unsigned)__float_as_int(packed.low.w), second = (unsigned)__float_as_int(packed.high.w);
    const int ids = (1 << REFERENCE_BITS) - 1, height = height_of(packed);
    if constexpr (IS_WIDE) {
        const unsigned kind = first >> 27 & 7u;
        const bool is_collapsed = kind == WIDE_COLLAPSED;
        return {box_of(packed),    (int)first & ids, is_collapsed ? 0 : (int)kind,
                (int)second & ids, height,           is_collapsed ? 1 : 0};
    }
    return {box_of(packed),    (int)first & ids, (int)(first >> 26) & 15,
            (int)second & ids, height,           (int)(first >> 30) & 1};
}
__device__ __forceinline__ Cluster single_cluster(const Aabb& box, int reference) {
    return {box, reference, 1, reference, 0, 0};
}

// A leaf at its smallest place: its word, 0 where none begins (the caller starts them so), and who links it: a node's
// id twice, and 1 more on the right.
struct PlacedLeaf {
    int word, link;
};
constexpr int LINKED_BY_ROOT = -1;  // the leaf is the whole tree

constexpr bool PLACES_LEAVES = MAX_LEAF_SIZE > 1 && !LEAVES_IN_ORDER;

// Where nodes are written. `leaves` is null unless PLACES_LEAVES.
struct ClusterOutput {
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    Pointer<int> root;
    PlacedLeaf* leaves;
    Pointer<float4> bvh2;
};

// A node over two clusters, the left one before the right one. It is a leaf where both are, where there is room, and
// where that costs no more (SAH; a primitive's test costs 1).
__device__ __forceinline__ Cluster join_clusters(const Cluster& left, const Cluster& right, const ClusterOutput& out) {
    const Aabb box = merge(left.box, right.box);
    const int node_id = max(left.place, right.place) - 1, count = left.leaf_count + right.leaf_count;
    bool becomes_leaf = false;
    const bool may_be_leaf = !LEAVES_IN_ORDER || left.place + left.leaf_count == right.place;
    if (may_be_leaf && left.leaf_count > 0 && right.leaf_count > 0 && count <= MAX_LEAF_SIZE) {
        const float split_cost = half_area(left.box) * left.leaf_count + half_area(right.box) * right.leaf_count;
        becomes_leaf = half_area(box) * (count - TRAVERSAL_COST) <= split_cost;
    }
    const bool is_collapsed = !becomes_leaf && !left.is_collapsed && !right.is_collapsed;
    if (!LEAVES_IN_ORDER || !becomes_leaf) store_node(out.nodes, node_id, box, left.word(), right.word());
    if (left.is_node()) out.parent[left.id] = node_id;
    if (right.is_node()) out.parent[right.id] = node_id;
    out.flags[node_id] = 0;
    if (!becomes_leaf) {
        const bool is_bottom = left.leaf_count > 0 && right.leaf_count > 0;
        out.flags[node_id] = (uint8)(NODE_EXISTS | (is_collapsed ? NODE_IS_COLLAPSED : 0) |
                                     (is_bottom ? NODE_IS_BOTTOM : 0));
        if (PLACES_LEAVES && left.leaf_count > 0) out.leaves[left.place] = {left.word(), 2 * node_id};
        if (PLACES_LEAVES && right.leaf_count > 0) out.leaves[right.place] = {right.word(), 2 * node_id + 1};
        if (WRITES_BVH2) store_bvh2_node(out.bvh2, node_id, left.box, left.word(), right.box, right.word());
    }
    const int place = min(left.place, right.place);
    const int id = LEAVES_IN_ORDER && becomes_leaf ? place : node_id;
    return {box, id, becomes_leaf ? count : 0, place, max(left.height, right.height) + 1, is_collapsed ? 1 : 0};
}

// The last cluster is the tree. Its word, to be linked (clusters.cu).
__device__ __forceinline__ void leave_tree(const Cluster& tree, const ClusterOutput& out) {
    if (PLACES_LEAVES && tree.leaf_count > 0) out.leaves[tree.place] = {tree.word(), LINKED_BY_ROOT};
    out.root[0] = tree.word();
}
