// Walks bvh2_soa nodes as bvh2_stack walks bvh2: while-while, nearer child first. A pack goes where any of its rays goes; packs with mixed signs and
// idle lanes are legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (one a level); STACK_KEEPS_DISTANCE.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2_soa.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

struct Bvh2SoaStack {
    const float4* nodes;
    const int* root;
    int capacity, unused;

    __device__ __forceinline__ float4 part(int array, int node_id) const { return nodes[array * (int64)capacity + node_id]; }
};

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh2SoaStack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    bool agrees;
    const Slabs slabs = make_slabs(rays, agrees);
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, OnNode::IS_ASKED> waiting;
    waiting.count = 0;
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            on_node(child, depth, false, lanes, 2);
            const float4 left_xy = tree.part(0, child), right_xy = tree.part(1, child), z = tree.part(2, child), links = tree.part(3, child);
            const float3 left_lower = make_float3(left_xy.x, left_xy.z, z.x), left_upper = make_float3(left_xy.y, left_xy.w, z.y);
            const float3 right_lower = make_float3(right_xy.x, right_xy.z, z.z), right_upper = make_float3(right_xy.y, right_xy.w, z.w);
            Real left_entry, right_entry;
            const Mask left = PACK == 1 ? enter_upright_box(slabs, rays, left_lower, left_upper, left_entry) : enter_box(slabs, rays, left_lower, left_upper, left_entry);
            const Mask right =
                PACK == 1 ? enter_upright_box(slabs, rays, right_lower, right_upper, right_entry) : enter_box(slabs, rays, right_lower, right_upper, right_entry);
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
