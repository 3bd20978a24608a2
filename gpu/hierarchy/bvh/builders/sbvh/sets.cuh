// Sets of references that are to be split: their lists, how a set is shared out between its sides, and where its
// references go.
//
// By how many references a set has it is small (finished by one warp, small_sets.cu), of a middle size (split by one
// block, sbvh.cu) or large (split by many blocks, large_sets.cu). Lists of the latter two are made level by level, that
// of small ones once. Unit constants: SMALL (most references of a small set), LARGE (most of one of a middle size),
// CHUNK (references of a large one that a block works on).
#pragma once
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/bvh/builders/sbvh/split_planes.cuh"
#include "gpu/hierarchy/bvh/builders/sbvh/tree_cost.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

constexpr int MIDDLE_SETS = 0, LARGE_SETS = 1, CHUNKS = 2, COUNTS = 3;  // in a level's counts

// References [first, first + count) of the places [first, first + room), and the share of nodes that is left.
__device__ __forceinline__ int4 set_over(int first, int count, int room, bool is_left, int budget) {
    return make_int4(first, count, room, budget << 1 | (is_left ? 1 : 0));
}
__device__ __forceinline__ bool is_left_set(const int4& set) { return set.w & 1; }
__device__ __forceinline__ int share_of_set(const int4& set) { return set.w >> 1; }
__device__ __forceinline__ int id_of_set(const int4& set, bool is_root) {
    return node_over(set.x, set.x + set.z - 1, is_left_set(set), is_root);
}

// Small sets have their level above their count.
constexpr int COUNT_BITS_OF_SMALL = 8;
static_assert(SMALL < 1 << COUNT_BITS_OF_SMALL, "the count's bits");
__device__ __forceinline__ int4 small_set(const int4& set, int level) {
    return make_int4(set.x, set.y | level << COUNT_BITS_OF_SMALL, set.z, set.w);
}
__device__ __forceinline__ int level_of_small(const int4& set) { return set.y >> COUNT_BITS_OF_SMALL; }
__device__ __forceinline__ int count_of_small(const int4& set) { return set.y & ((1 << COUNT_BITS_OF_SMALL) - 1); }

__device__ __forceinline__ int chunks_of(int count) { return (count + CHUNK - 1) / CHUNK; }

// Where a set is split, and what is known of it by then.
struct SetChoice {
    SetSplit split;
    float area;  // of the set's box
    bool ends;

    __device__ static SetChoice halves(int count, float area) {
        return {{HALVES, 0, 0, count / 2, 0.0f, empty_aabb(), empty_aabb(), 0, 0}, area, false};
    }
    __device__ void take_objects(const PlaneSides& best) {
        split.kind = OBJECTS;
        split.axis = plane_axis(best.plane);
        split.bin = plane_bin(best.plane);
        split.left = best.left;
        split.right = best.right;
    }
    __device__ void take_space(const SpaceGrid& space, const PlaneSides& best) {
        split.kind = SPACE;
        split.axis = plane_axis(best.plane);
        split.plane = space.plane(plane_axis(best.plane), plane_bin(best.plane));
        split.left = best.left;
        split.right = best.right;
        split.left_count = best.left_count;
        split.right_count = best.right_count;
    }
    // Only where the sides of the object split overlap by more than this is a spatial split worth its time (4.5 of the
    // paper), and only where there is room for references more.
    __device__ bool tries_space(const int4& set, float alpha, float root_area) const {
        return alpha < 1.0f && split.kind != HALVES && set.z > set.y && area <= FLOAT_MAX &&
               half_area(intersection(split.left, split.right)) > alpha * root_area;
    }
};

// A set's two sides: their places, how many references they have, and whether they are leaves.
struct SetSides {
    int first, lefts, middle, rights, left_room, right_room;
    bool is_left_leaf, is_right_leaf;

    // False where a split parts nothing, or would need more room than there is: the set is halved.
    __device__ static bool is_legal(const int4& set, int lefts, int rights) {
        return lefts > 0 && rights > 0 && lefts + rights <= set.z;
    }
    __device__ static SetSides of(const int4& set, int lefts, int rights, int max_leaf_size, bool ends_here) {
        const int spare = set.z - lefts - rights, left_room = lefts + (int)((int64)spare * lefts / (lefts + rights));
        return {set.x,
                lefts,
                set.x + left_room,
                rights,
                left_room,
                set.z - left_room,
                ends_here || lefts <= max_leaf_size,
                ends_here || rights <= max_leaf_size};
    }
    __device__ int4 left_set(const int4& set) const {
        return set_over(first, lefts, left_room, true, share_of_left(share_of_set(set), left_room, set.z));
    }
    __device__ int4 right_set(const int4& set) const {
        return set_over(middle, rights, right_room, false, share_of_right(share_of_set(set), left_room, set.z));
    }
    // The node over both; by one thread.
    __device__ void link(const Links& links, int node_id) const {
        const int left = is_left_leaf ? links.leaf(first, first + lefts - 1) : middle - 1;
        const int right = is_right_leaf ? links.leaf(middle, middle + rights - 1) : middle;
        store_node(links.nodes, node_id, empty_aabb(), left, right);
        links.flags[node_id] = NODE_EXISTS;
        if (!is_left_leaf) links.parent[middle - 1] = node_id;
        if (!is_right_leaf) links.parent[middle] = node_id;
    }
};

// Whether a set is split where that costs least. `levels_left`: after which single references must be left, as halving
// alone would leave them; `queue_left`: after which sets must be small.
__device__ __forceinline__ bool may_choose(int count, int share, int levels_left) {
    return ceil_log2(count) < levels_left && has_nodes_to_choose(count, share);
}
__device__ __forceinline__ bool may_choose_in_queue(const int4& set, int levels_left, int queue_left) {
    return may_choose(set.y, share_of_set(set), levels_left) && ceil_log2((set.y + SMALL - 1) / SMALL) < queue_left;
}

// Where sets of the next level are told, in any order; by one thread.
struct NextSets {
    Pointer<int> counts;
    Pointer<int4> sets;
    Pointer<int> small_count;
    Pointer<int4> small_sets;
    int level;  // theirs

    __device__ void add(const int4& left, bool has_left, const int4& right, bool has_right) const {
        const bool is_left_small = left.y <= SMALL, is_right_small = right.y <= SMALL;
        const int smalls = (has_left && is_left_small ? 1 : 0) + (has_right && is_right_small ? 1 : 0);
        const int others = (has_left && !is_left_small ? 1 : 0) + (has_right && !is_right_small ? 1 : 0);
        int small_place = smalls > 0 ? atomic_add(small_count, smalls) : 0;
        int place = others > 0 ? atomic_add(counts + MIDDLE_SETS, others) : 0;
        if (has_left && is_left_small) small_sets[small_place++] = small_set(left, level);
        if (has_left && !is_left_small) sets[place++] = left;
        if (has_right && is_right_small) small_sets[small_place] = small_set(right, level);
        if (has_right && !is_right_small) sets[place] = right;
    }
};

// Where a set's references go: those of a side that is a leaf are finished.
struct Mover {
    Primitives primitives;
    Pointer<const float4> references;
    Pointer<float4> partitioned, finished;
    Pointer<int> used;

    __device__ BoxedReference reference(int place) const { return load_reference(references, place); }
    __device__ void finish(int place, const BoxedReference& reference) const {
        store_reference(finished, place, reference);
        used[place] = 1;
    }
    __device__ void put(int place, const BoxedReference& reference, bool is_finished) const {
        if (is_finished) finish(place, reference);
        else store_reference(partitioned, place, reference);
    }
    __device__ Aabb left_box(const SetSplit& split, const BoxedReference& reference, int sides) const {
        return sides == GOES_LEFT ? reference.box
                                  : piece_between(primitives, reference, split.axis, -FLOAT_MAX, split.plane);
    }
    __device__ Aabb right_box(const SetSplit& split, const BoxedReference& reference, int sides) const {
        return sides == GOES_RIGHT ? reference.box
                                   : piece_between(primitives, reference, split.axis, split.plane, FLOAT_MAX);
    }
    // Of a leaf that is finished; thread 0 has it.
    __device__ float leaf_area(int first, int count) const {
        Aabb box = empty_aabb();
        for (int i : block_stride(count)) box = merge(box, load_reference(finished, first + i).box);
        return half_area(count == 1 ? box : block_box(box));
    }
};
