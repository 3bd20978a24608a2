// Tree rotations (Kensler 2008): of the exchanges of a child with a grandchild on the other side, and of grandchildren
// with each other, the one that lowers the areas below a node most. For a pass of its own (optimisers/rotations), and
// for refits that rotate on their way up (refit/).
//
// An exchange swaps the links of two places; the node's own box stays what it was. A node never stands higher than it
// did before the climb, so that the depth never grows.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

constexpr int NO_EXCHANGE = -1;
// A subtree's height, and above it by how much exchanges in this climb have made it lower, in a byte: of a node as high
// as can be nobody knows more, it stays; what it was lowered by beyond the most is forgotten. Leaves have 0.
constexpr int HEIGHT_BITS = 6, MOST_HEIGHT = (1 << HEIGHT_BITS) - 1, MOST_LOWERED = 3;

__device__ __forceinline__ int height_of(int heights) { return heights & MOST_HEIGHT; }
__device__ __forceinline__ int first_height_of(int heights) { return height_of(heights) + (heights >> HEIGHT_BITS); }
__device__ __forceinline__ int heights_of(int height, int first_height) {
    return height >= MOST_HEIGHT ? MOST_HEIGHT
                                 : height | max(0, min(first_height - height, MOST_LOWERED)) << HEIGHT_BITS;
}
__device__ __forceinline__ int height_over(int left, int right) { return max(height_of(left), height_of(right)) + 1; }
// What a node over two subtrees had before the climb.
__device__ __forceinline__ int first_height_over(int left, int right) {
    return max(first_height_of(left), first_height_of(right)) + 1;
}

__device__ __forceinline__ float area_over(const Aabb& a, const Aabb& b) { return half_area(merge(a, b)); }

// The best exchange so far, and what it gains.
struct BestExchange {
    int choice;
    float gain;

    __device__ __forceinline__ void offer(int number, float before, float after) {
        if (before - after > gain && before - after > LEAST_GAIN * before) {
            gain = before - after;
            choice = number;
        }
    }
};

// Under a node with the children `left` and `right`; `tree` knows their boxes, heights and links. Below
// 4: 2 * side of the child + place of the grandchild on the other side. 4 and 5: the first grandchild of the left child
// and that one of the right child's; the other two exchanges make the same pairs.
template <class Tree, class Child>
__device__ __forceinline__ int best_exchange(const Tree& tree, const Child& left, const Child& right) {
    BestExchange best = {NO_EXCHANGE, 0.0f};
    const int left_height = height_of(tree.heights(left)), right_height = height_of(tree.heights(right)),
              height = first_height_over(tree.heights(left), tree.heights(right));
    if (height == 1 || max(left_height, right_height) + 1 >= MOST_HEIGHT) return NO_EXCHANGE;
    const Aabb left_box = tree.box(left), right_box = tree.box(right);
    Aabb a = left_box, b = left_box, c = left_box, d = left_box;
    int a_height = 0, b_height = 0, c_height = 0, d_height = 0;
    const float left_area = half_area(left_box), right_area = half_area(right_box);
    if (right_height > 0) {
        const Child first = tree.left(right), second = tree.right(right);
        c = tree.box(first);
        d = tree.box(second);
        c_height = height_of(tree.heights(first));
        d_height = height_of(tree.heights(second));
        if (max(c_height, max(left_height, d_height) + 1) < height) best.offer(0, right_area, area_over(left_box, d));
        if (max(d_height, max(left_height, c_height) + 1) < height) best.offer(1, right_area, area_over(left_box, c));
    }
    if (left_height > 0) {
        const Child first = tree.left(left), second = tree.right(left);
        a = tree.box(first);
        b = tree.box(second);
        a_height = height_of(tree.heights(first));
        b_height = height_of(tree.heights(second));
        if (max(a_height, max(right_height, b_height) + 1) < height) best.offer(2, left_area, area_over(right_box, b));
        if (max(b_height, max(right_height, a_height) + 1) < height) best.offer(3, left_area, area_over(right_box, a));
    }
    if (left_height > 0 && right_height > 0 && max(max(a_height, b_height), max(c_height, d_height)) + 2 <= height) {
        best.offer(4, left_area + right_area, area_over(b, c) + area_over(a, d));
        best.offer(5, left_area + right_area, area_over(b, d) + area_over(a, c));
    }
    return best.choice;
}

// A child or grandchild of a node in global memory.
struct Relative {
    int link, heights;
    bool is_collapsed;
    Aabb box;
};

// The children of a node, 0 and 1, and theirs behind them.
struct Family {
    Relative of[6];

    __device__ __forceinline__ const Aabb& box(int child) const { return of[child].box; }
    __device__ __forceinline__ int heights(int child) const { return of[child].heights; }
    __device__ __forceinline__ int left(int child) const { return 2 + 2 * child; }
    __device__ __forceinline__ int right(int child) const { return 3 + 2 * child; }
};

// Rotations of nodes in global memory; `heights` of inner nodes, in bytes.
struct Rotator {
    ReferencesOf<Records> references;
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags, heights;

    __device__ Relative relative(int link) const {
        if (is_leaf(link)) return {link, 0, false, leaf_aabb(references, link)};
        return {link, heights[link], (flags[link] & NODE_IS_COLLAPSED) != 0, load_node(nodes, link).aabb()};
    }
    __device__ int link(int node_id, int side) const { return __float_as_int(nodes[2 * (int64)node_id + side].w); }

    // Exchange what lies below a node where that pays. The nodes that are others then are written by
    // `write(id, left, right, is_collapsed)`, the visited one always. Returns that one.
    template <class Write>
    __device__ Relative visit(int node_id, int left, int right, const Write& write) const {
        Family near = {{relative(left), relative(right)}};
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            if (is_leaf(near.of[side].link)) continue;
            near.of[near.left(side)] = relative(link(near.of[side].link, 0));
            near.of[near.right(side)] = relative(link(near.of[side].link, 1));
        }
        const int best = best_exchange(near, 0, 1), first_height = first_height_over(near.heights(0), near.heights(1));
        bool is_changed[2] = {best >= 4, best >= 4};
#pragma unroll
        for (int choice = 0; choice < 6; ++choice) {
            if (choice != best) continue;
            const int side = choice >> 1, other = choice < 4 ? 1 - side : 1, mine = choice < 4 ? side : near.left(0);
            swap(near.of[mine], near.of[near.left(other) + (choice & 1)]);
            is_changed[other] = true;
        }
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            if (is_changed[side])
                near.of[side] = put(near.of[side].link, near.of[near.left(side)], near.of[near.right(side)], write);
        }
        if (best != NO_EXCHANGE) adopt(node_id, near.of[0], near.of[1]);
        return over(node_id, near.of[0], near.of[1], first_height, write);
    }
    static __device__ __forceinline__ void swap(Relative& a, Relative& b) {
        const Relative kept = a;
        a = b;
        b = kept;
    }
    __device__ void adopt(int node_id, const Relative& left, const Relative& right) const {
        if (!is_leaf(left.link)) parent[left.link] = node_id;
        if (!is_leaf(right.link)) parent[right.link] = node_id;
    }
    template <class Write>
    __device__ Relative put(int node_id, const Relative& left, const Relative& right, const Write& write) const {
        adopt(node_id, left, right);
        return over(node_id, left, right, first_height_over(left.heights, right.heights), write);
    }
    template <class Write>
    __device__ Relative over(int node_id, const Relative& left, const Relative& right, int first_height,
                             const Write& write) const {
        const Relative made = {node_id, heights_of(height_over(left.heights, right.heights), first_height),
                               node_id != 0 && !left.is_collapsed && !right.is_collapsed, merge(left.box, right.box)};
        heights[node_id] = (uint8)made.heights;
        write(node_id, left, right, made.is_collapsed);
        return made;
    }
};
