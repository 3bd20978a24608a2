// The linear BVH's topology, one thread a gap and nobody waiting for anybody (Karras 2012): the node that is split at a
// gap reaches on both sides as far as no gap differs more, which a doubling and a halving search finds. The family fits
// boxes afterwards. The same tree as lbvh.cu's, id by id.
//
// In: the Morton order. Out: order, root, nodes' links, parents, EXISTS flags. Unit constant: CODE_BITS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/prefix_search.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

extern "C" __global__ void search_nodes(const uint64* keys, const int* prim_ids, int n, int max_leaf_size, int* order,
                                        int* root, float4* nodes, int* parent, uint8* flags) {
    const Links links = {nodes, parent, flags, max_leaf_size};
    for (int gap : grid_stride(n)) {
        order[gap] = prim_id_of(keys, prim_ids, gap);
        if (gap == n - 1) {
            root[0] = n <= max_leaf_size ? leaf_child(0, n) : 0;
            continue;
        }
        const Prefix prefix = {keys, code_of(keys[gap]), n, gap, rank_of_gap(keys, n, gap)};
        const int first = farthest(prefix, gap, -1), last = farthest(prefix, gap + 1, 1);
        const bool is_root = first == 0 && last == n - 1;
        const int node_id = node_over(first, last, rank_of_gap(keys, n, last) < rank_of_gap(keys, n, first - 1),
                                      is_root);
        if (links.is_leaf_range(first, last)) {
            flags[node_id] = 0;
            continue;
        }
        links.write_inner_node(node_id, first, gap, last);
        if (is_root) parent[0] = -1;
    }
}
