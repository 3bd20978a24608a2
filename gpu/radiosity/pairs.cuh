// Pairs of nodes, and what becomes of them. Light goes from a sender to a receiver; where it also goes back, the pair
// is kept once for both ways, as two nodes see each other or do not.
// from gpu.radiosity.pairs import KINDS
#pragma once
#include "gpu/radiosity/nodes.cuh"

constexpr int CHUNK = 32;  // pairs that one thread goes through to find the places of what they leave

__device__ __forceinline__ bool is_split(int kind) { return kind >= KINDS::split && kind < KINDS::none; }

__device__ __forceinline__ bool is_expanded(int kind) {
    return kind == KINDS::far || kind == KINDS::to_points || kind == KINDS::of_points;
}

// As rounds keep it: (receiver, sender) for both ways, (receiver, ~sender) for one.
struct Couple {
    int2 nodes;
    bool is_mutual;

    __device__ int2 way(int number) const { return number == 0 ? nodes : int2{nodes.y, nodes.x}; }
};
__device__ __forceinline__ Couple couple_of(int2 pair) {
    return {int2{pair.x, pair.y < 0 ? ~pair.y : pair.y}, pair.y >= 0};
}
__device__ __forceinline__ int2 stored_couple(int receiver, int sender, bool is_mutual) {
    return int2{receiver, is_mutual ? sender : ~sender};
}

struct Split {
    bool receiver, sender;
};
// The side that the kind names; else the larger one, or both where they are alike.
__device__ __forceinline__ Split split_of(const PointTreeView& tree, const float4* shapes, int2 pair, int kind) {
    const bool is_leaf_a = tree.child_count[pair.x] == 0, is_leaf_b = tree.child_count[pair.y] == 0;
    if (is_leaf_a || is_leaf_b) return {!is_leaf_a, !is_leaf_b};
    if (kind != KINDS::split) return {kind == KINDS::split_receiver, kind == KINDS::split_sender};
    const float a = shapes[NODE_ROWS * (int64)pair.x].w, b = shapes[NODE_ROWS * (int64)pair.y].w;
    return {a * 1.5f >= b, b * 1.5f >= a};
}

// What a couple leaves for the next round: pairs of some nodes that follow one another with some others. Where both
// ways are split they are split alike.
struct Children {
    int first_a, count_a, first_b, count_b;
    bool is_mutual, is_self;

    __device__ int count() const { return is_self ? count_a * (count_a + 1) / 2 : count_a * count_b; }
    __device__ int2 pair(int a, int b) const {
        return stored_couple(first_a + a, first_b + b, is_mutual || (is_self && a != b));
    }
};
__device__ __forceinline__ Children children_of(const PointTreeView& tree, const float4* shapes, const Couple& couple,
                                                int2 kinds) {
    const bool forth = is_split(kinds.x), back = is_split(kinds.y);
    if (!forth && !back) return {0, 0, 0, 0, false, false};
    const int2 pair = couple.way(forth ? 0 : 1);
    const Split split = split_of(tree, shapes, pair, forth ? kinds.x : kinds.y);
    return {split.receiver ? tree.first_child[pair.x] : pair.x,
            split.receiver ? tree.child_count[pair.x] : 1,
            split.sender ? tree.first_child[pair.y] : pair.y,
            split.sender ? tree.child_count[pair.y] : 1,
            forth && back,
            pair.x == pair.y};
}

// What is expanded on one side alone need not be small beside the other side: it is as exact as between two boxes alike
// where from any of the points it is seen as small as from the nearest places of those. The few points of a wide leaf
// else had to hear every point around. It has to have more points than places: those of few are done with sooner, and
// are not exact beside a point that they lie nearer to than its disc is wide.
__device__ __forceinline__ bool is_far_of_points(const NodeShape& expanded, int count, float nearest, float angle,
                                                 int least_pairs) {
    return 2 * count > least_pairs && expanded.reach * (1.0f - 0.5f * angle) <= 0.5f * angle * nearest;
}

// Expansions are exact enough where both nodes are small beside their distance, and may stand for points as long as the
// cosines of these keep their signs: those of the receivers where the receivers are expanded, those of the senders
// where the senders are.
__device__ __forceinline__ int kind_of(const PointTreeView& tree, const float4* shapes, int2 pair, float angle,
                                       int least_pairs) {
    const NodeShape a = load_shape(shapes, pair.x), b = load_shape(shapes, pair.y);
    const bool is_leaf_a = tree.child_count[pair.x] == 0, is_leaf_b = tree.child_count[pair.y] == 0;
    const float distance = length(b.centre - a.centre);
    const float slack = FACING_SLACK * (distance + a.reach + b.reach);
    const Range of_a = facing(a, b), of_b = facing(b, a);
    if ((of_a.high <= slack || of_b.high <= slack) && pair.x != pair.y) return KINDS::none;
    const bool is_small = (int64)tree.point_count[pair.x] * tree.point_count[pair.y] <= least_pairs;
    if (is_leaf_a && is_leaf_b && is_small) return KINDS::near;
    const bool keeps_a = of_a.low >= -slack, keeps_b = of_b.low >= -slack;
    const bool is_far = a.reach + b.reach <= angle * distance;
    if (is_far && keeps_a && keeps_b) return KINDS::far;
    const int count_a = tree.point_count[pair.x], count_b = tree.point_count[pair.y];
    if (is_leaf_a && keeps_b && is_far_of_points(b, count_b, distance - a.reach, angle, least_pairs))
        return KINDS::to_points;
    if (is_leaf_b && keeps_a && is_far_of_points(a, count_a, distance - b.reach, angle, least_pairs))
        return KINDS::of_points;
    if (is_far && keeps_b && !is_leaf_a) return KINDS::split_receiver;
    if (is_far && keeps_a && !is_leaf_b) return KINDS::split_sender;
    return is_leaf_a && is_leaf_b ? KINDS::near : KINDS::split;
}
// What the same nodes do the other way round.
__device__ __forceinline__ int other_way(int kind) {
    if (kind == KINDS::to_points) return KINDS::of_points;
    if (kind == KINDS::of_points) return KINDS::to_points;
    if (kind == KINDS::split_receiver) return KINDS::split_sender;
    return kind == KINDS::split_sender ? KINDS::split_receiver : kind;
}
