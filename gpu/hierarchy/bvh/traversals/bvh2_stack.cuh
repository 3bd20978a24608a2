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
    if constexpr (AGREES && PACK > 1) {
        const float *xy = &node[side].x, *z = &node[2].x + 2 * side;
        return enter_planes(slabs, rays, splat(xy[slabs.sign_x]), splat(xy[2 + slabs.sign_y]), splat(z[slabs.sign_z]), splat(xy[1 - slabs.sign_x]),
                            splat(xy[3 - slabs.sign_y]), splat(z[1 - slabs.sign_z]), entry);
    } else {
        const float4 xy = node[side], z = node[2];
        const float3 lower = make_float3(xy.x, xy.z, side ? z.z : z.x), upper = make_float3(xy.y, xy.w, side ? z.w : z.y);
        return PACK == 1 ? enter_upright_box(slabs, rays, lower, upper, entry) : enter_box(slabs, rays, lower, upper, entry);
    }
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
            const float4* node = tree.nodes + 4 * (int64)child;
            Real left_entry, right_entry;
            const Mask left = enter_bvh2_child<AGREES>(node, 0, slabs, rays, left_entry);
            const Mask right = enter_bvh2_child<AGREES>(node, 1, slabs, rays, right_entry);
            const float4 links = node[3];
            const int left_child = __float_as_int(links.x), right_child = __float_as_int(links.y);
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
