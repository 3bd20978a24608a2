// The canonical tree of the family: binary, what every builder emits and what refit, statistics and layouts read.
// bvh.py describes it.
// from gpu.primitive_views import LongLeaves
#pragma once
#include "gpu/device/aabb.cuh"

// A child, or the root, in one word: an inner node's id, or below zero a leaf's first reference and its count - 1,
// inverted; REFERENCE_BITS, a unit constant, are the first reference's. Where the depth is bounded, leaves may be
// longer than a word can say: it says the most, and `long_leaves` has the count, at first reference /
// MAX_LEAF_REFERENCES. Every leaf of the most or more has its count there, no two have one place, and where there is no
// such array no leaf is longer.
constexpr int EMPTY_CHILD = (int)0x80000000;  // of a tree without primitives, and in unused places of wide nodes
constexpr int MAX_LEAF_REFERENCES = 1 << (31 - REFERENCE_BITS);

__device__ __forceinline__ int leaf_child(int first, int count) { return ~(first | (count - 1) << REFERENCE_BITS); }
__device__ __forceinline__ bool is_leaf(int child) { return child < 0; }
__device__ __forceinline__ int first_reference(int leaf) { return ~leaf & ((1 << REFERENCE_BITS) - 1); }
// What is left of a leaf behind its first reference, and whether that is nothing: then its word is of no use.
__device__ __forceinline__ bool is_one_reference(int leaf) { return leaf >= -(1 << REFERENCE_BITS); }
__device__ __forceinline__ int behind_first(int leaf) { return leaf + (1 << REFERENCE_BITS) - 1; }
// as the word says
__device__ __forceinline__ int reference_count(int leaf) {
    return (~leaf >> REFERENCE_BITS & (MAX_LEAF_REFERENCES - 1)) + 1;
}
__device__ __forceinline__ int reference_count(int leaf, Pointer<const int> long_leaves) {
    const int count = reference_count(leaf);
    return count < MAX_LEAF_REFERENCES || long_leaves == nullptr
               ? count
               : long_leaves[first_reference(leaf) / MAX_LEAF_REFERENCES];
}
// The word of a leaf that may be long, whose count is written where the word cannot say it.
__device__ __forceinline__ int leaf_child(int first, int count, Pointer<int> long_leaves) {
    if (count >= MAX_LEAF_REFERENCES && long_leaves != nullptr) long_leaves[first / MAX_LEAF_REFERENCES] = count;
    return leaf_child(first, min(count, MAX_LEAF_REFERENCES));
}

// What a traversal intersects where leaves may be long: another type, so that all other traversals know leaves by their
// words alone.
template <class Records>
struct InLongLeaves : Records, LongLeaves {};
template <class Records>
__device__ constexpr bool may_be_long(const InLongLeaves<Records>*) {
    return true;
}
__device__ constexpr bool may_be_long(const void*) { return false; }
template <class Records>  // and what derives from such
constexpr bool LEAVES_MAY_BE_LONG = may_be_long((const Records*)nullptr);
template <class Records>
__device__ __forceinline__ int count_in_leaf(const Records& records, int leaf) {
    if constexpr (LEAVES_MAY_BE_LONG<Records>) return reference_count(leaf, records.long_leaves);
    return reference_count(leaf);
}

// flags: every id below n - 1 has its byte written by every build. Only nodes that exist are part of the tree.
constexpr int NODE_EXISTS = 1;
// a wide layout puts its children in its parent's node: never the root, and no child of it is collapsed
constexpr int NODE_IS_COLLAPSED = 2;
constexpr int NODE_IS_BOTTOM = 4;  // both children are leaves: a refit starts here

//  byte  0       12     16      28      32
//        | lower | left | upper | right |
struct CanonicalNode {
    float3 lower;
    int left;
    float3 upper;
    int right;

    __device__ Aabb aabb() const { return {lower, upper}; }
};
static_assert(sizeof(CanonicalNode) == 32, "drawn above; bvh.py reads it");

__device__ __forceinline__ CanonicalNode load_node(Pointer<const float4> nodes, int node_id) {
    const float4 low = nodes[2 * (int64)node_id], high = nodes[2 * (int64)node_id + 1];
    return {make_float3(low.x, low.y, low.z), __float_as_int(low.w), make_float3(high.x, high.y, high.z),
            __float_as_int(high.w)};
}
__device__ __forceinline__ void store_node(Pointer<float4> nodes, int node_id, const Aabb& box, int left, int right) {
    nodes[2 * (int64)node_id] = make_float4(box.lower.x, box.lower.y, box.lower.z, __int_as_float(left));
    nodes[2 * (int64)node_id + 1] = make_float4(box.upper.x, box.upper.y, box.upper.z, __int_as_float(right));
}

// What leaves are made of: the boxes of the records, or, where a primitive was split and every reference keeps a part
// of it, boxes of their own.
template <class Records>
struct ReferencesOf {
    Records records;
    Pointer<const float4> boxes;  // two float4 per reference, lower and upper; null where nothing was split
    Pointer<const int> long_leaves;

    __device__ __forceinline__ int count(int leaf) const { return reference_count(leaf, long_leaves); }

    __device__ Aabb aabb(int reference) const {
        return boxes == nullptr ? records.aabb(reference) : own_box(reference);
    }
    __device__ Aabb own_box(int reference) const {
        const float4 lower = boxes[2 * (int64)reference], upper = boxes[2 * (int64)reference + 1];
        return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z)};
    }
};
__device__ __forceinline__ void store_reference_box(Pointer<float4> boxes, int reference, const Aabb& box) {
    boxes[2 * (int64)reference] = make_float4(box.lower.x, box.lower.y, box.lower.z, 0.0f);
    boxes[2 * (int64)reference + 1] = make_float4(box.upper.x, box.upper.y, box.upper.z, 0.0f);
}

// The box of a leaf.
template <class References>
__device__ Aabb leaf_aabb(const References& references, int leaf) {
    Aabb box = empty_aabb();
    const int first = first_reference(leaf), last = first + references.count(leaf);
    if (references.boxes == nullptr) {
        for (int reference = first; reference < last; ++reference) box = merge(box, references.records.aabb(reference));
    } else {
#pragma unroll 1
        for (int reference = first; reference < last; ++reference) box = merge(box, references.own_box(reference));
    }
    return box;
}
// The box of any child.
template <class References>
__device__ Aabb child_aabb(const float4* nodes, const References& references, int child) {
    if (child == EMPTY_CHILD) return empty_aabb();
    return is_leaf(child) ? leaf_aabb(references, child) : load_node(nodes, child).aabb();
}
