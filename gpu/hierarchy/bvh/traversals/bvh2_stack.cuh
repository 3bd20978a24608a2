// Walks bvh2 nodes with a stack: down to a leaf, nearer child first, then the leaf's primitives, then the next that waits (while-while, Aila and
// Laine 2009). A pack goes where any of its rays goes; packs with mixed signs and idle lanes are legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (one a level); STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

struct Bvh2Stack {
    const float4* nodes;
    const int* root;
};

template <bool AGREES> __device__ __forceinline__ Mask enter_bvh2_child(const float4* node, int side, const Slabs& slabs, const Rays& rays, Real& entry) {
    const float *xy = &node[side].x, *z = &node[2].x + 2 * side;
    if constexpr (AGREES) {
        return enter_planes(slabs, rays, splat(xy[slabs.sign_x]), splat(xy[2 + slabs.sign_y]), splat(z[slabs.sign_z]), splat(xy[1 - slabs.sign_x]),
                            splat(xy[3 - slabs.sign_y]), splat(z[1 - slabs.sign_z]), entry);
    } else {
        return enter_box(slabs, rays, make_float3(xy[0], xy[2], z[0]), make_float3(xy[1], xy[3], z[1]), entry);
    }
}

// Both children of a node, and where the lanes enter them. A single ray fetches the whole node, links included, before it tests anything: a tenth of the
// walk on an H200.
struct Bvh2Pair {
    int left_child, right_child;
    Mask left, right;
    Real left_entry, right_entry;
};
template <bool AGREES> __device__ __forceinline__ Bvh2Pair enter_bvh2_children(const float4* node, const Slabs& slabs, const Rays& rays) {
    Bvh2Pair pair;
    if constexpr (PACK == 1) {
        const float4 a = node[0], b = node[1], z = node[2];
        const int2 links = *(const int2*)(node + 3);
        pair.left_child = links.x;
        pair.right_child = links.y;
        pair.left = enter_upright_box(slabs, rays, make_float3(a.x, a.z, z.x), make_float3(a.y, a.w, z.y), pair.left_entry);
        pair.right = enter_upright_box(slabs, rays, make_float3(b.x, b.z, z.z), make_float3(b.y, b.w, z.w), pair.right_entry);
    } else {
        pair.left = enter_bvh2_child<AGREES>(node, 0, slabs, rays, pair.left_entry);
        pair.right = enter_bvh2_child<AGREES>(node, 1, slabs, rays, pair.right_entry);
        pair.left_child = __float_as_int(node[3].x);
        pair.right_child = __float_as_int(node[3].y);
    }
    return pair;
}

template <bool AGREES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void walk_bvh2(const Bvh2Stack& tree, const Slabs& slabs, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                          OnNode& on_node) {
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, OnNode::IS_ASKED> waiting;
    waiting.count = 0;
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            on_node(child, depth, false, lanes, 2);
            const auto [left_child, right_child, left, right, left_entry, right_entry] = enter_bvh2_children<AGREES>(tree.nodes + 4 * (int64)child, slabs, rays);
            const bool enters_left = any(left), enters_right = any(right);
            ++depth;
            if (enters_left && enters_right) {
                const bool is_right_first = is_second_nearer(left, right, left_entry, right_entry);
                waiting.push(is_right_first ? left_child : right_child, depth, is_right_first ? left_entry : right_entry, is_right_first ? left : right);
                child = is_right_first ? right_child : left_child;
                lanes = is_right_first ? right : left;
            } else if (enters_left || enters_right) {
                child = enters_left ? left_child : right_child;
                lanes = enters_left ? left : right;
            } else {
                child = waiting.pop(rays, depth, lanes);
            }
        }
        if (child == EMPTY_CHILD) break;
        on_node(first_reference(child), depth, true, lanes);
        if (!visit_leaf(child, primitives, rays, on_primitive)) break;
        child = waiting.pop(rays, depth, lanes);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2Stack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    bool agrees;
    const Slabs slabs = make_slabs(rays, agrees);
    if (PACK == 1 || agrees) {
        walk_bvh2<true>(tree, slabs, primitives, rays, on_primitive, on_node);
    } else {
        walk_bvh2<false>(tree, slabs, primitives, rays, on_primitive, on_node);
    }
}
