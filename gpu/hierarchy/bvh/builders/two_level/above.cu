// The tree above the objects: a linear BVH over the boxes of their trees' roots, made anew whenever one of them may
// have moved. Launch order is the file's; the caller sorts before link_objects. In: objects' trees with their boxes.
// Out: everything above them. Unit constants: CODE_BITS (30: keys hold code and object), WRITES_BVH2.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/bvh/builders/two_level/objects.cuh"
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/bvh/prefix_search.cuh"

constexpr int AT_REST = -1;  // of `waiting`, between launches
constexpr int NO_PARENT = -1;

// One block. The boxes are few, and their common one has to be known before the first code.
extern "C" __global__ void code_objects(float4* record_data, const float4* nodes, const int2* ranges, int* roots,
                                        int object_count, uint64* keys) {
    SHARED float corners[6];
    const Objects objects = {ranges, roots, object_count};
    const ReferencesOf<Records> references = {{record_data}, nullptr};
    Aabb all = empty_aabb();
    for (int object : block_stride(object_count)) {
        const Aabb box = child_aabb(nodes, references, objects.root(object));
        if (!is_empty(box)) all = merge(all, box);
    }
    const float3 lower = make_float3(block_min(all.lower.x), block_min(all.lower.y), block_min(all.lower.z));
    const float3 upper = make_float3(block_max(all.upper.x), block_max(all.upper.y), block_max(all.upper.z));
    if (thread_index() == 0) {
        store3(corners, 0, lower);
        store3(corners, 1, upper);
    }
    block_sync();
    const Cube cube(load3(corners, 0), load3(corners, 1));
    for (int object : block_stride(object_count)) {
        const Aabb box = child_aabb(nodes, references, objects.root(object));
        keys[object] = (uint64)morton_code_30(cube.place(box)) << 32 | (unsigned)object;
    }
}

// One thread a gap between objects. `above`: the node that each object hangs from.
extern "C" __global__ void link_objects(const uint64* keys, const int2* ranges, int* roots, int object_count,
                                        float4* nodes, int* parent, int* root, int* above) {
    const Objects objects = {ranges, roots, object_count};
    for (int gap : grid_stride(object_count - 1)) {
        const Prefix prefix = {keys, code_of(keys[gap]), object_count, gap, rank_of_gap(keys, object_count, gap)};
        const int first = farthest(prefix, gap, -1), last = farthest(prefix, gap + 1, 1);
        const bool is_root = first == 0 && last == object_count - 1;
        const bool is_left = rank_of_gap(keys, object_count, last) < rank_of_gap(keys, object_count, first - 1);
        const int node_id = objects.id_above(is_root ? 0 : is_left ? last : first);
        if (is_root) {
            parent[node_id] = NO_PARENT;
            root[0] = node_id;
        }
        int children[2];
        for (int side = 0; side < 2; ++side) {
            const bool is_object = side == 0 ? first == gap : last == gap + 1;
            const int object = prim_id_of(keys, nullptr, gap + side);
            children[side] = is_object ? objects.root(object) : objects.id_above(gap + side);
            if (is_object) above[object] = node_id;
            if (!is_leaf(children[side])) parent[children[side]] = node_id;
        }
        store_node(nodes, node_id, empty_aabb(), children[0], children[1]);
    }
}

// Boxes from below: of two children the last to arrive goes on.
extern "C" __global__ void bound_above(float4* record_data, float4* nodes, const int* parent, uint8* flags,
                                       int object_count, const int* above, float4* bvh2, int* waiting) {
    const ReferencesOf<Records> references = {{record_data}, nullptr};
    for (int object : grid_stride(object_count)) {
        int node_id = above[object];
        while (node_id != NO_PARENT && atomic_arrive(waiting + node_id) != AT_REST) {
            waiting[node_id] = AT_REST;
            const CanonicalNode node = load_node(nodes, node_id);
            const Aabb left_box = child_aabb(nodes, references, node.left),
                       right_box = child_aabb(nodes, references, node.right);
            bool is_collapsed = node_id != 0;
            if (!is_leaf(node.left)) is_collapsed = is_collapsed && !(flags[node.left] & NODE_IS_COLLAPSED);
            if (!is_leaf(node.right)) is_collapsed = is_collapsed && !(flags[node.right] & NODE_IS_COLLAPSED);
            const bool is_bottom = is_leaf(node.left) && is_leaf(node.right);
            flags[node_id] = (uint8)(NODE_EXISTS | (is_collapsed ? NODE_IS_COLLAPSED : 0) |
                                     (is_bottom ? NODE_IS_BOTTOM : 0));
            store_node(nodes, node_id, merge(left_box, right_box), node.left, node.right);
            if (WRITES_BVH2) store_bvh2_node(bvh2, node_id, left_box, node.left, right_box, node.right);
            node_id = parent[node_id];
        }
    }
}
