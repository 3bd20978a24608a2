// Traverses bvh4 nodes with a stack: nearest child first, then the leaf's primitives, then the next that waits. A
// single ray sorts the children it enters by distance; a pack finds the one that most of its rays enter first. Packs
// with mixed signs and idle lanes are legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of children that wait (three a level);
// STACK_KEEPS_DISTANCE.
// from gpu.hierarchy.bvh.layouts import NodesAndRoot
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh4.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

struct Bvh4Stack : NodesAndRoot {
    static constexpr bool LANES_GO_ALONE = true;
};
template <class OnNode>
using Bvh4Waiting =
    WaitingChildren<STACK_DEPTH, STACK_KEEPS_DISTANCE || OnNode::IS_ASKED, KEEPS_LANES_OF_WAITING<OnNode>>;

// A place of a node that `lanes` do not enter; an unused one is nobody's child.
template <class OnNode>
__device__ __forceinline__ void tell_culled_place(OnNode& on_node, const int* children, int place, Real entry,
                                                  Mask lanes, const Rays& rays) {
    if constexpr (OnNode::HEARS_EVENTS) {
        if (children[place] != EMPTY_CHILD)
            tell_culled(on_node, ChildIds::event_id(children[place]), entry, lanes, rays);
    }
}

// The child to go on with, the others it enters pushed; EMPTY_CHILD if it enters none. One ray: distances as integers
// of the same order, their last two bits the place, go through a sorting network.
template <class Waiting, class OnNode>
__device__ __forceinline__ int next_of_one_ray(const float4* node, const Slabs& slabs, const Rays& rays, int depth,
                                               Waiting& waiting, Mask& lanes, Real& next_entry, OnNode& on_node) {
    constexpr int MISSED = 0x7fffffff;
    const float4 lower_x = node[0], upper_x = node[1], lower_y = node[2], upper_y = node[3], lower_z = node[4],
                 upper_z = node[5];
    const float lower[4][3] = {{lower_x.x, lower_y.x, lower_z.x},
                               {lower_x.y, lower_y.y, lower_z.y},
                               {lower_x.z, lower_y.z, lower_z.z},
                               {lower_x.w, lower_y.w, lower_z.w}};
    const float upper[4][3] = {{upper_x.x, upper_y.x, upper_z.x},
                               {upper_x.y, upper_y.y, upper_z.y},
                               {upper_x.z, upper_y.z, upper_z.z},
                               {upper_x.w, upper_y.w, upper_z.w}};
    const int* children = (const int*)(node + 6);
    int keys[4];
#pragma unroll
    for (int place = 0; place < 4; ++place) {
        Real entry;
        const Mask enters = enter_box(slabs, rays, make_float3(lower[place][0], lower[place][1], lower[place][2]),
                                      make_float3(upper[place][0], upper[place][1], upper[place][2]), entry);
        tell_culled_place(on_node, children, place, entry, rays.active & !enters, rays);
        keys[place] = any(enters) ? (__float_as_int(lane(entry, 0) + 0.0f) & ~3) | place : MISSED;
    }
    const int a = min(keys[0], keys[1]), b = max(keys[0], keys[1]), c = min(keys[2], keys[3]),
              d = max(keys[2], keys[3]);
    const int middle_1 = max(a, c), middle_2 = min(b, d);
    const int order[4] = {min(a, c), min(middle_1, middle_2), max(middle_1, middle_2), max(b, d)};
#pragma unroll
    for (int i = 3; i > 0; --i) {
        if (order[i] != MISSED)
            waiting.push(on_node, children[order[i] & 3], depth, splat(__int_as_float(order[i] & ~3)), rays.active);
    }
    lanes = rays.active;
    next_entry = splat(__int_as_float(order[0] & ~3));
    return order[0] != MISSED ? children[order[0] & 3] : EMPTY_CHILD;
}

template <bool AGREES>
__device__ __forceinline__ Mask enter_bvh4_child(const float4* node, int place, const Slabs& slabs, const Rays& rays,
                                                 Real& entry) {
    const float* planes = &node[0].x + place;
    if constexpr (AGREES) {
        return enter_planes(slabs, rays, splat(planes[4 * slabs.sign_x]), splat(planes[8 + 4 * slabs.sign_y]),
                            splat(planes[16 + 4 * slabs.sign_z]), splat(planes[4 - 4 * slabs.sign_x]),
                            splat(planes[12 - 4 * slabs.sign_y]), splat(planes[20 - 4 * slabs.sign_z]), entry);
    } else {
        return enter_box(slabs, rays, make_float3(planes[0], planes[8], planes[16]),
                         make_float3(planes[4], planes[12], planes[20]), entry);
    }
}

template <bool AGREES, class Waiting, class OnNode>
__device__ __forceinline__ int next_of_pack(const float4* node, const Slabs& slabs, const Rays& rays, int depth,
                                            Waiting& waiting, Mask& lanes, Real& next_entry, OnNode& on_node) {
    const int* children = (const int*)(node + 6);
    const Mask of_node = lanes;
    int next = EMPTY_CHILD;
    next_entry = splat(0.0f);
#pragma unroll
    for (int place = 0; place < 4; ++place) {
        Real entry;
        const Mask enters = enter_bvh4_child<AGREES>(node, place, slabs, rays, entry);
        tell_culled_place(on_node, children, place, entry, of_node & !enters, rays);
        if (!any(enters)) continue;
        if (next == EMPTY_CHILD || is_second_nearer(lanes, enters, next_entry, entry)) {
            if (next != EMPTY_CHILD) waiting.push(on_node, next, depth, next_entry, lanes);
            next = children[place];
            next_entry = entry;
            lanes = enters;
        } else {
            waiting.push(on_node, children[place], depth, entry, enters);
        }
    }
    return next;
}

template <bool AGREES, class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_bvh4(const Bvh4Stack& tree, const Slabs& slabs, const Primitives& primitives,
                                              Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    typename Bvh4Waiting<OnNode>::Places places;
    Bvh4Waiting<OnNode> waiting(places);
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    Real entry = rays.t_min;  // of `child`, where events are heard
    while (child != EMPTY_CHILD) {
        while (!is_leaf(child)) {
            tell_node(on_node, child, depth, lanes, entry, 4);
            ++depth;
            const float4* node = &tree.nodes[8 * (int64)child];
            if constexpr (IS_SINGLE_RAY) {
                child = next_of_one_ray(node, slabs, rays, depth, waiting, lanes, entry, on_node);
            } else {
                child = next_of_pack<AGREES>(node, slabs, rays, depth, waiting, lanes, entry, on_node);
            }
            if (child == EMPTY_CHILD) child = waiting.pop(on_node, rays, depth, lanes, entry);
        }
        if (child == EMPTY_CHILD) break;
        tell_leaf(on_node, first_reference(child), ChildIds::event_id(child), depth, lanes, entry);
        if (!visit_leaf(child, primitives, rays, on_primitive, on_node)) break;
        child = waiting.pop(on_node, rays, depth, lanes, entry);
    }
}

// The same for packs of which each lane goes as its ray would alone. Lanes part where they enter children in another
// order; few of a picture's do.
template <class Waiting, class OnNode>
__device__ __forceinline__ int next_of_lanes(const float4* node, const Slabs& slabs, const Rays& rays, int depth,
                                             Waiting& waiting, Mask& lanes, Real& next_entry, OnNode& on_node) {
    constexpr int MISSED = 0x7ffffffc;
    const int* children = (const int*)(node + 6);
    const Mask of_node = lanes;
    Int keys[4];
    Mask enters[4];
#pragma unroll
    for (int place = 0; place < 4; ++place) {
        Real entry;
        const float* planes = &node[0].x + place;
        enters[place] = of_node & enter_box(slabs, rays, make_float3(planes[0], planes[8], planes[16]),
                                            make_float3(planes[4], planes[12], planes[20]), entry);
        tell_culled_place(on_node, children, place, entry, of_node & !enters[place], rays);
        keys[place] = select(enters[place], bits_of(entry + 0.0f) & ~3, splat_int(MISSED)) + place;
    }
    int next = EMPTY_CHILD;
    for (Mask rest = enters[0] | enters[1] | enters[2] | enters[3]; any(rest);) {
        const int leader = __ffs((int)mask_bits(rest)) - 1;
        const int first[4] = {lane(keys[0], leader), lane(keys[1], leader), lane(keys[2], leader),
                              lane(keys[3], leader)};
        const int a = min(first[0], first[1]), b = max(first[0], first[1]), c = min(first[2], first[3]),
                  d = max(first[2], first[3]);
        const int middle_1 = max(a, c), middle_2 = min(b, d);
        const int order[4] = {min(a, c) & 3, min(middle_1, middle_2) & 3, max(middle_1, middle_2) & 3, max(b, d) & 3};
        Mask alike = rest;
#pragma unroll
        for (int later = 1; later < 4; ++later) {
#pragma unroll
            for (int sooner = 0; sooner < later; ++sooner) {
                const Mask both = enters[order[sooner]] & enters[order[later]];
                alike = alike & !(both & (keys[order[later]] < keys[order[sooner]]));
            }
        }
        rest = rest & !alike;
#pragma unroll
        for (int i = 3; i >= 0; --i) {
            const Mask here = enters[order[i]] & alike;
            if (!any(here)) continue;
            if (next != EMPTY_CHILD) waiting.push(on_node, next, depth, next_entry, lanes);
            next = children[order[i]];
            next_entry = real_of_bits(keys[order[i]] & ~3);
            lanes = here;
        }
    }
    return next;
}

// As often as a ray of the pack has children that wait, each of them may wait by itself.
template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse_bvh4_alone(const Bvh4Stack& tree, const Slabs& slabs,
                                                    const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive,
                                                    OnNode& on_node) {
    using Waiting = WaitingChildren<STACK_DEPTH * PACK, true, true>;
    typename Waiting::Places places;
    Waiting waiting(places);
    int child = tree.root[0], depth = 0;
    Mask lanes = rays.active;
    Real entry = rays.t_min;
    while (child != EMPTY_CHILD) {
        if (is_leaf(child)) {
            tell_leaf(on_node, first_reference(child), ChildIds::event_id(child), depth, lanes, entry);
            const Mask others = rays.active & !lanes;
            rays.active = lanes;
            visit_leaf(child, primitives, rays, on_primitive, on_node);
            rays.active = rays.active | others;
            if (!any(rays.active)) return;
            child = EMPTY_CHILD;
        } else {
            tell_node(on_node, child, depth, lanes, entry, 4);
            ++depth;
            const float4* node = &tree.nodes[8 * (int64)child];
            child = next_of_lanes(node, slabs, rays, depth, waiting, lanes, entry, on_node);
        }
        if (child == EMPTY_CHILD) child = waiting.pop_alone(on_node, rays, depth, lanes, entry);
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const Bvh4Stack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if (!any(rays.active)) return;
    bool agrees;
    const Slabs slabs = make_slabs(rays, agrees);
    if constexpr (GOES_ALONE<OnNode>) {
        traverse_bvh4_alone(tree, slabs, primitives, rays, on_primitive, on_node);
    } else if (IS_SINGLE_RAY || agrees) {
        traverse_bvh4<true>(tree, slabs, primitives, rays, on_primitive, on_node);
    } else {
        traverse_bvh4<false>(tree, slabs, primitives, rays, on_primitive, on_node);
    }
}
