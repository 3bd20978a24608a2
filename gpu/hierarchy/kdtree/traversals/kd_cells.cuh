// What the traversals of a kd-tree share beside gpu/hierarchy/cells.cuh: its arrays, cells that wait, and its leaves.
//
// Unit constant: MAILBOXES (cells.cuh).
// from gpu.hierarchy.kdtree.kdtree import KdArrays
#pragma once
#include "gpu/hierarchy/cells.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

// A cell that waits on a stack; one ray's takes 16 bytes.
struct alignas(16) WaitingCell {
    int2 node;
    Real entry, exit;
};
static_assert(!IS_SINGLE_RAY || sizeof(WaitingCell) == 16, "a cell is stored at once");

// Which sides of a plane `lanes` go to, at once or later: the children `left` and the one behind it; the far side
// begins at `early`.
template <class OnNode>
__device__ __forceinline__ void tell_sides(OnNode& on_node, int left, bool is_down, Real entry, Real early, Mask lanes,
                                           Mask first, Mask second, const Rays& rays) {
    if constexpr (OnNode::HEARS_EVENTS) {
        const int near_id = left + (is_down ? 1 : 0), far_id = left + (is_down ? 0 : 1);
        tell_culled(on_node, near_id, entry, lanes & !first, rays);
        tell_culled(on_node, far_id, max(entry, early), lanes & !second, rays);
        if (any(first)) tell(on_node, Event::CHILD_PUSHED, far_id, max(entry, early), second);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_kd_leaf(const KdArrays& tree, int2 leaf, Mailboxes& mailboxes,
                                              const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                              OnNode& on_node) {
    return visit_references(tree.references, NoRuns{}, leaf.x, kd_count(leaf), mailboxes, primitives, rays,
                            on_primitive, on_node);
}

// The same by the lanes that came to it, where each ray goes as it would alone.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_kd_leaf_of(Mask, const KdArrays& tree, int2 leaf, Mailboxes& mailboxes,
                                                 const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                 OnNode& on_node) {
    return visit_kd_leaf(tree, leaf, mailboxes, primitives, rays, on_primitive, on_node);
}
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ bool visit_kd_leaf_of(Mask lanes, const KdArrays& tree, int2 leaf, OwnMailboxes& mailboxes,
                                                 const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                 OnNode& on_node) {
    visit_references_alone(tree.references, leaf.x, kd_count(leaf), lanes, mailboxes, primitives, rays, on_primitive,
                           on_node);
    return any(rays.active);
}
