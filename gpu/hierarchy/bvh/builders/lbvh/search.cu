// The linear BVH's topology, one thread a gap and nobody waiting for anybody (Karras 2012): the node that parts at a gap reaches on both sides as
// far as no gap differs more, which a doubling and a halving search finds. The family fits boxes afterwards. The same tree as lbvh.cu's, id by id.
//
// In: the Morton order. Out: order, root, nodes' links, parents, EXISTS flags. Unit constant: CODE_BITS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

// Whether references on both sides of `gap` belong to one node with the reference `at`: they differ by less than the rank above the gap's.
struct Prefix {
    const uint64* keys;
    uint64 code;
    int n, reference, rank;

    // The rank of two places, as of neighbours at a gap.
    __device__ bool holds(int at) const {
        if (at < 0 || at >= n) return false;
        const uint64 difference = code ^ code_of(keys[at]);
        return (difference != 0 ? 95 - __clzll((int64)difference) : 31 - __clz(max(reference ^ at, 1))) <= rank;
    }
};

// The last place in the direction of `step` (1 or -1) that the prefix holds, starting from `at`, which it does.
__device__ int farthest(const Prefix& prefix, int at, int step) {
    int stride = 1;
    while (prefix.holds(at + stride * step)) {
        at += stride * step;
        stride *= 2;
    }
    for (stride /= 2; stride > 0; stride /= 2) {
        if (prefix.holds(at + stride * step)) at += stride * step;
    }
    return at;
}

extern "C" __global__ void search_nodes(const uint64* keys, const int* prim_ids, int n, int max_leaf_size, int* order, int* root, float4* nodes, int* parent,
                                        uint8* flags) {
    for (int gap : grid_stride(n)) {
        order[gap] = prim_id_of(keys, prim_ids, gap);
        if (gap == n - 1) {
            root[0] = n <= max_leaf_size ? leaf_child(0, n) : 0;
            continue;
        }
        const Prefix prefix = {keys, code_of(keys[gap]), n, gap, rank_of_gap(keys, n, gap)};
        const int first = farthest(prefix, gap, -1), last = farthest(prefix, gap + 1, 1);
        const bool is_root = first == 0 && last == n - 1;
        const int node_id = is_root ? 0 : rank_of_gap(keys, n, last) < rank_of_gap(keys, n, first - 1) ? last : first;
        if (last - first + 1 <= max_leaf_size) {
            flags[node_id] = 0;
            continue;
        }
        const int left_count = gap - first + 1, right_count = last - gap;
        const int left = left_count <= max_leaf_size ? leaf_child(first, left_count) : gap;
        const int right = right_count <= max_leaf_size ? leaf_child(gap + 1, right_count) : gap + 1;
        flags[node_id] = NODE_EXISTS;
        store_node(nodes, node_id, empty_aabb(), left, right);
        if (!is_leaf(left)) parent[left] = node_id;
        if (!is_leaf(right)) parent[right] = node_id;
        if (is_root) parent[0] = -1;
    }
}
