// Tree rotations (Kensler 2008) in one climb: at every node, from below, the one exchange of a child or grandchild with
// another grandchild that lowers the areas below it most.
//
// In and out: the canonical tree. Launch order is the file's. Ids keep their place, but for the two subtrees exchanged.
// A node never stands higher than it did before the climb, so that the depth never grows.
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/climb.cuh"

extern "C" __global__ void mark_starts_of_rotations(const float4* nodes, const uint8* flags, int node_capacity,
                                                    uint8* starts) {
    for (int node_id : grid_stride(node_capacity)) mark_start(nodes, flags, node_id, starts);
}

// An exchange under a node: `mine` is a child (below `owner`'s other side: the node itself) or a grandchild, `other` a
// grandchild of the other side.
struct Rotator {
    ReferencesOf<Records> references;
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<int2> subtrees;

    __device__ Aabb box(int child) const { return child_aabb(nodes, references, child); }
    __device__ float area(int a, int b) const { return half_area(merge(box(a), box(b))); }
    __device__ int link(int node_id, int side) const { return __float_as_int(nodes[2 * (int64)node_id + side].w); }
    __device__ int height(int child) const { return load_subtree_of(subtrees, child).height; }

    // Write an inner node over two subtrees.
    __device__ void put(int node_id, int above, int left, int right) const {
        store_node(nodes, node_id, merge(box(left), box(right)), left, right);
        parent[node_id] = above;
        if (!is_leaf(left)) parent[left] = node_id;
        if (!is_leaf(right)) parent[right] = node_id;
        store_subtree_of(subtrees, node_id,
                         join_subtrees(load_subtree_of(subtrees, left), load_subtree_of(subtrees, right)));
    }

    // A child of the node against a grandchild on the other side: of four the one that gains most. `choice`: 2 * side
    // of the child + side of the grandchild.
    __device__ void try_child(const int* children, int choice, int most_height, float& gain, int& best) const {
        const int side = choice >> 1, child = children[side], opposite = children[1 - side];
        if (is_leaf(opposite)) return;
        const int up = link(opposite, choice & 1), stays = link(opposite, 1 - (choice & 1));
        if (max(height(up), max(height(child), height(stays)) + 1) + 1 > most_height) return;
        const float before = half_area(load_node(nodes, opposite).aabb()), found = before - area(child, stays);
        if (found > gain && found > LEAST_GAIN * before) {
            gain = found;
            best = choice;
        }
    }
    // Grandchildren against each other: the first of the left child with either of the right one's (the other two
    // exchanges make the same pairs).
    __device__ void try_grandchildren(const int* children, int choice, int most_height, float& gain, int& best) const {
        const int side = choice & 1;
        const int a = link(children[0], 0), b = link(children[0], 1), c = link(children[1], side),
                  d = link(children[1], 1 - side);
        if (max(max(height(c), height(b)), max(height(a), height(d))) + 2 > most_height) return;
        const float before = half_area(load_node(nodes, children[0]).aabb()) +
                             half_area(load_node(nodes, children[1]).aabb());
        const float found = before - area(c, b) - area(a, d);
        if (found > gain && found > LEAST_GAIN * before) {
            gain = found;
            best = choice;
        }
    }

    __device__ void visit(int node_id) const {
        const int children[2] = {link(node_id, 0), link(node_id, 1)};
        Subtree subtree = join_subtrees(load_subtree_of(subtrees, children[0]), load_subtree_of(subtrees, children[1]));
        float gain = 0.0f;
        int best = NO_ONE;
#pragma unroll 1
        for (int choice = 0; choice < 4; ++choice) try_child(children, choice, subtree.first_height, gain, best);
        if (!is_leaf(children[0]) && !is_leaf(children[1])) {
#pragma unroll 1
            for (int choice = 4; choice < 6; ++choice)
                try_grandchildren(children, choice, subtree.first_height, gain, best);
        }
        if (best == NO_ONE) {
            store_subtree_of(subtrees, node_id, subtree);
            return;
        }
        const int first_height = subtree.first_height;
        if (best < 4) {
            const int side = best >> 1, opposite = children[1 - side];
            const int up = link(opposite, best & 1), stays = link(opposite, 1 - (best & 1));
            put(opposite, node_id, children[side], stays);
            finish(node_id, up, opposite, first_height);
        } else {
            const int side = best & 1;
            const int a = link(children[0], 0), b = link(children[0], 1), c = link(children[1], side),
                      d = link(children[1], 1 - side);
            put(children[0], node_id, c, b);
            put(children[1], node_id, a, d);
            finish(node_id, children[0], children[1], first_height);
        }
    }
    // The visited node: its box is what it was.
    __device__ void finish(int node_id, int left, int right, int first_height) const {
        put(node_id, parent[node_id], left, right);
        Subtree subtree = load_subtree_of(subtrees, node_id);
        subtree.first_height = first_height;
        store_subtree_of(subtrees, node_id, subtree);
    }
};

extern "C" __global__ void rotate_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                        float4* nodes, int* parent, const uint8* starts, int node_capacity,
                                        int2* subtrees, int* waiting) {
    const Rotator rotator = {{{record_data}, reference_boxes, long_leaves}, nodes, parent, subtrees};
    const Climb climb = {nodes, parent, waiting};
    for (int start : grid_stride(node_capacity)) {
        if (!starts[start]) continue;
        for (int node_id = start; node_id != NO_ONE; node_id = climb.next(node_id)) rotator.visit(node_id);
    }
}
