// What the kernels of median_sah's large-node stage share (Zhou, Hou, Wang and Guo, Real-Time KD-Tree Construction on
// Graphics Hardware, 2008).
//
// A reference is a primitive in a node, with the box of what of it lies in the node's cell. The references of a level's
// nodes lie node by node in one half of an array, those of the next level in the other half; each half's end takes what
// has reached a small node, which no later level moves. A node's references are read in chunks of CHUNK, none of which
// belongs to two nodes.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

constexpr int CHUNK = 256;
constexpr int THREADS = RUNS_SERIAL ? 1 : CHUNK;
constexpr int ITEMS = CHUNK / THREADS;  // neighbours of a thread

// Nodes of at most so many references are small: their sets fit into 64 bits.
constexpr int SMALL = 64;

// A level's row of counters, and what there was before it: nodes, small roots and what each half's end holds.
constexpr int LEVEL_NODES = 0, LEVEL_CHUNKS = 1, LEVEL_FIRST_NODE = 2, LEVEL_FIRST_ROOT = 3, LEVEL_TAILS = 4,
              LEVEL_WORDS = 8;
// Counters of the whole build: small roots.
constexpr int SMALL_ROOTS = 0, TOTAL_WORDS = 4;
// Counters of a node: references on the left along each axis, then on the right, and the chunks that are counted.
constexpr int SIDE_WORDS = 6, CHUNKS_COUNTED = 6, COUNT_STRIDE = 8, BOX_WORDS = 6;

//  byte  0       12        16      28       32
//        | lower | prim_id | upper | unused |
struct Reference {
    Aabb box;
    int prim_id;
};
__device__ __forceinline__ Reference load_reference(const float4* references, int reference) {
    const float4 lower = references[2 * (int64)reference], upper = references[2 * (int64)reference + 1];
    return {{make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z)}, __float_as_int(lower.w)};
}
__device__ __forceinline__ void store_reference(float4* references, int reference, const Aabb& box, int prim_id) {
    references[2 * (int64)reference] = make_float4(box.lower.x, box.lower.y, box.lower.z, __int_as_float(prim_id));
    references[2 * (int64)reference + 1] = make_float4(box.upper.x, box.upper.y, box.upper.z, 0.0f);
}
// The ends of a reference's box along an axis.
__device__ __forceinline__ float2 ends_of(const float4* references, int reference, int axis) {
    const float* words = &references[2 * (int64)reference].x;
    return make_float2(words[axis], words[4 + axis]);
}

// A node that is being split, or the root of a small tree. `share`: how many references its subtree may have for each
// one it has now.
//  byte  0       12      16      28      32             0       4       8         12            16
// cells  | lower | depth | upper | share |      ranges  | first | count | node_id | first chunk |
struct OpenNode {
    Aabb cell;
    float share;
    int depth, first, count, node_id, first_chunk;
};
__device__ __forceinline__ OpenNode load_open_node(const float4* cells, const int4* ranges, int slot) {
    const float4 lower = cells[2 * (int64)slot], upper = cells[2 * (int64)slot + 1];
    const int4 range = ranges[slot];
    return {{make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z)},
            upper.w,
            __float_as_int(lower.w),
            range.x,
            range.y,
            range.z,
            range.w};
}
__device__ __forceinline__ void store_open_node(float4* cells, int4* ranges, int slot, const OpenNode& node) {
    const float3 lower = node.cell.lower, upper = node.cell.upper;
    cells[2 * (int64)slot] = make_float4(lower.x, lower.y, lower.z, __int_as_float(node.depth));
    cells[2 * (int64)slot + 1] = make_float4(upper.x, upper.y, upper.z, node.share);
    int4 range;
    range.x = node.first;
    range.y = node.count;
    range.z = node.node_id;
    range.w = node.first_chunk;
    ranges[slot] = range;
}

__device__ __forceinline__ int chunks_of(int count) { return (count + CHUNK - 1) / CHUNK; }

// The node that a chunk belongs to: the last one whose chunks begin there or before. None is without chunks.
__device__ __forceinline__ int slot_of_chunk(const int4* ranges, int level_nodes, int chunk) {
    int low = 0, high = level_nodes - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (ranges[middle].w <= chunk) low = middle;
        else high = middle - 1;
    }
    return low;
}

__device__ __forceinline__ void clear_box(int* boxes, int slot) {
    for (int i = 0; i < BOX_WORDS; ++i)
        boxes[BOX_WORDS * (int64)slot + i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
}
__device__ __forceinline__ Aabb load_box(const int* boxes, int slot) {
    const int* at = boxes + BOX_WORDS * (int64)slot;
    return {make_float3(ordered_float(at[0]), ordered_float(at[1]), ordered_float(at[2])),
            make_float3(ordered_float(at[3]), ordered_float(at[4]), ordered_float(at[5]))};
}

// How large nodes are split: what is empty is cut off, then the middle of what is left splits it.
struct LargeRules {
    float empty_fraction;  // C_e of the paper
    int max_depth, ends_here;
};

// Algorithm 2 of the paper, "if i contains more than C_e empty space on side j": bit 2 * axis + side of `cuts`. Each
// cut takes a level of the tree.
struct Cuts {
    Aabb cell;
    int cuts, count;
};
__device__ __forceinline__ Cuts cuts_of(const OpenNode& node, const Aabb& box, const LargeRules& rules) {
    Cuts made = {node.cell, 0, 0};
    const int most = rules.max_depth - node.depth - 1;
    for (int axis = 0; axis < 3; ++axis) {
        const float low = along(node.cell.lower, axis), high = along(node.cell.upper, axis),
                    least = rules.empty_fraction * (high - low);
        const float first = along(box.lower, axis), last = along(box.upper, axis);
        const bool cuts_low = first - low > least && first < high && made.count < most;
        if (cuts_low) set_along(made.cell.lower, axis, first);
        made.count += cuts_low ? 1 : 0;
        const bool cuts_high = high - last > least && last > along(made.cell.lower, axis) && made.count < most;
        if (cuts_high) set_along(made.cell.upper, axis, last);
        made.count += cuts_high ? 1 : 0;
        made.cuts |= (cuts_low ? 1 : 0) << 2 * axis | (cuts_high ? 2 : 0) << 2 * axis;
    }
    return made;
}
// Nothing here can be contracted: each kernel finds the same plane.
__device__ __forceinline__ float middle_of(const Aabb& cell, int axis) {
    return 0.5f * (along(cell.lower, axis) + along(cell.upper, axis));
}

// The axes by the cell's extent along them, the longest first, two bits each; of equal ones the first.
__device__ __forceinline__ int axes_by_length(const Aabb& cell) {
    const float3 size = cell.upper - cell.lower;
    const int longest = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    const int second = longest == 0 ? 1 : 0, third = longest == 2 ? 1 : 2;
    return along(size, second) >= along(size, third) ? longest | second << 2 | third << 4
                                                     : longest | third << 2 | second << 4;
}

// Bit 0: a part of it lies left; bit 1: right. What lies in the plane goes right.
__device__ __forceinline__ int sides_between(float low, float high, float plane) {
    const int is_left = low < plane, is_cut = is_left & (high > plane);
    return is_left | (1 - is_left | is_cut) << 1;
}
__device__ __forceinline__ int sides_of(const Aabb& box, int axis, float plane) {
    return sides_between(along(box.lower, axis), along(box.upper, axis), plane);
}

// Two counts below 2^16 in a word: of left sides and of right ones.
__device__ __forceinline__ int pack_sides(int sides) { return (sides & 1) | (sides >> 1 & 1) << 16; }
__device__ __forceinline__ int lefts_of(int packed) { return packed & 0xffff; }
__device__ __forceinline__ int rights_of(int packed) { return (int)((unsigned)packed >> 16); }

// Where a node is split and where its references go. Without a split (axis LEAF_AXIS) all of them go left.
//  byte  0      4       8           12           16
//        | axis | plane | left base | right base |
struct Plan {
    int axis;
    float plane;
    int left_base, right_base;

    __device__ __forceinline__ int sides_at(const float4* references, int reference) const {
        if (axis == LEAF_AXIS) return 1;
        const float2 ends = ends_of(references, reference, axis);
        return sides_between(ends.x, ends.y, plane);
    }
};
__device__ __forceinline__ Plan load_plan(const int4* plans, int slot) {
    const int4 words = plans[slot];
    return {words.x, __int_as_float(words.y), words.z, words.w};
}
__device__ __forceinline__ void store_plan(int4* plans, int slot, const Plan& plan) {
    int4 words;
    words.x = plan.axis;
    words.y = __float_as_int(plan.plane);
    words.z = plan.left_base;
    words.w = plan.right_base;
    plans[slot] = words;
}
