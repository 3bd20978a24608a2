// Which binary nodes a wide layout keeps: collapse.cu decides, the layouts' kernels read. After it `is_wide` holds a
// byte an id: 1 for the nodes that become wide nodes, 0 for those whose children lie in a node further up.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

// What a kernel that looked at wide nodes leaves to the next one: of every chunk of ids how many there are, and, where
// they are not more than `room`, each one's id with its number of children above it, and its children, eight words, in
// the order of children_of_wide.
struct WideLists {
    Pointer<int> counts;  // null where nothing was left
    Pointer<unsigned> ids;
    Pointer<int4> children;
    int room;

    __device__ bool has(int chunk) const { return counts != nullptr && counts[chunk] <= room; }
    __device__ void leave(int chunk, int place, int node_id, int count, const int* child) const {
        if (place >= room) return;
        const int64 at = (int64)chunk * room + place;
        ids[at] = (unsigned)node_id | (unsigned)count << REFERENCE_BITS;
        children[2 * at] = make_int4(child[0], child[1], child[2], child[3]);
        children[2 * at + 1] = make_int4(child[4], child[5], child[6], child[7]);
    }
};

// The children of a wide node, in canonical order but for the places of opened ones. Opening any node that is not wide
// never passes WIDTH: collapse.cu gave each of them room.
template <int WIDTH>
struct WideChildren {
    int child[WIDTH];
    int count;
};
template <int WIDTH>
__device__ __forceinline__ WideChildren<WIDTH> children_of_wide(const float4* nodes, const uint8* is_wide,
                                                                int node_id) {
    WideChildren<WIDTH> found;
    found.child[0] = __float_as_int(nodes[2 * (int64)node_id].w);
    found.child[1] = __float_as_int(nodes[2 * (int64)node_id + 1].w);
    found.count = 2;
    for (int i = 0; i < found.count;) {
        const int child = found.child[i];
        if (is_leaf(child) || is_wide[child]) {
            ++i;
            continue;
        }
        found.child[i] = __float_as_int(nodes[2 * (int64)child].w);
        found.child[found.count++] = __float_as_int(nodes[2 * (int64)child + 1].w);
    }
    return found;
}
