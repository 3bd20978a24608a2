// Small nodes: at most 64 references, so that a node is a word of bits over the references of its small root. All
// planes that may split it are known from the start, with the sets of what lies on either side (Zhou 2008, 4.2): counts
// are those of bits.
//
// In Chang's layout: 4 bytes per plane, 16 bytes for both sets.    planes | side 0: `stride` floats | ... | side 5 |
// side: axis + 3 x is upper face
//                                                                 sets   | left (8 bytes) | right (8 bytes) | in the
//                                                                 order of the planes
// The planes are the faces of the references' boxes, by their side and then by the reference, so that they are the
// boxes too. References are in the order of their prim_ids: whatever order they came in, the tree is the same. Unit
// constant: MANKU.
// from gpu.hierarchy.kdtree.builders.median_sah.small import SIDES, SMALL_LEVELS
#pragma once
#include "gpu/hierarchy/kdtree/builders/median_sah/large.cuh"
#include "gpu/hierarchy/kdtree/split_costs.cuh"

constexpr int SMALL_THREADS = WARP_LANES;  // a block is a warp: barriers cost next to nothing
constexpr int CANDIDATES = SIDES * SMALL;

// Bits that are set: Manku's parallel sums (Fast Bit Counting Routines, 2002), or an instruction ([E] of Chang's
// paper).
__device__ __forceinline__ int bits_of(uint64 set) {
    if (!MANKU) return __popcll(set);
    set = set - (set >> 1 & 0x5555555555555555ull);
    set = (set & 0x3333333333333333ull) + (set >> 2 & 0x3333333333333333ull);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (int)(set * 0x0101010101010101ull >> 56);
}
__device__ __forceinline__ uint64 left_of(uint4 sets) { return (uint64)sets.y << 32 | sets.x; }
__device__ __forceinline__ uint64 right_of(uint4 sets) { return (uint64)sets.w << 32 | sets.z; }
__device__ __forceinline__ uint64 all_of(int count) { return count >= 64 ? ~0ull : (1ull << count) - 1ull; }

struct SmallRules {
    SplitCosts costs;
    int by_cost, max_leaf_size, max_depth;
};

// A node of a small tree: its references as bits, its level below the small root.
struct SmallNode {
    uint64 set;
    Aabb cell;
    float share;
    int level, depth, node_id;
};
__device__ __forceinline__ SmallNode small_root(const OpenNode& root) {
    return {all_of(root.count), root.cell, root.share, 0, root.depth, root.node_id};
}

// A small root's planes and sets. A candidate is its number: side * SMALL + reference.
struct Planes {
    Pointer<float> planes;
    Pointer<uint4> sets;
    int stride;

    __device__ __forceinline__ int place(int candidate) const { return candidate / SMALL * stride + candidate % SMALL; }
    __device__ __forceinline__ float plane(int candidate) const { return planes[place(candidate)]; }
    __device__ __forceinline__ uint4 both_sets(int candidate) const { return sets[place(candidate)]; }

    // What lies on either side of a candidate's plane. What lies in it goes right of lower faces and left of upper
    // ones, so that both are tried.
    __device__ __forceinline__ uint4 sets_of(int candidate, int count) const {
        const int side = candidate / SMALL, axis = side % 3;
        const bool is_upper = side >= 3;
        const float at = plane(candidate);
        const float *lows = planes + axis * stride, *highs = planes + (3 + axis) * stride;
        unsigned left[2] = {0, 0}, right[2] = {0, 0};
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int last = min(count - 32 * half, 32);
            for (int i = 0; i < last; ++i) {
                const float low = lows[32 * half + i], high = highs[32 * half + i];
                const unsigned is_flat = (unsigned)(low == at) & (unsigned)(high == at);
                left[half] |= ((unsigned)(low < at) | (is_flat & (unsigned)is_upper)) << i;
                right[half] |= ((unsigned)(high > at) | (is_flat & (unsigned)!is_upper)) << i;
            }
        }
        return make_uint4(left[0], left[1], right[0], right[1]);
    }
    __device__ __forceinline__ void make_sets(int count) const {
        for (int side = 0; side < SIDES; ++side) {
            for (int i : block_stride(count)) sets[side * stride + i] = sets_of(side * SMALL + i, count);
        }
        block_sync();
    }
    // The faces of a root's references, sorted by prim_id. `unsorted` is room for as many prim_ids.
    __device__ __forceinline__ void load(const float4* references, int first, int count, int* unsorted,
                                         int* prim_ids) const {
        for (int i : block_stride(count)) unsorted[i] = __float_as_int(references[2 * (int64)(first + i)].w);
        block_sync();
        for (int i : block_stride(count)) {
            const Reference reference = load_reference(references, first + i);
            int rank = 0;
#pragma unroll 4
            for (int other = 0; other < count; ++other) rank += unsorted[other] < reference.prim_id ? 1 : 0;
            prim_ids[rank] = reference.prim_id;
#pragma unroll
            for (int axis = 0; axis < 3; ++axis) {
                planes[axis * stride + rank] = along(reference.box.lower, axis);
                planes[(3 + axis) * stride + rank] = along(reference.box.upper, axis);
            }
        }
        block_sync();
    }
};

// How a small node is split: at a candidate's plane, or, where that is NO_CANDIDATE, not at all.
constexpr int NO_CANDIDATE = -1;
struct SmallSplit {
    int candidate;
    float plane, share;
    uint64 left, right;

    __device__ __forceinline__ int axis() const { return candidate / SMALL % 3; }
    __device__ __forceinline__ SmallNode child(const SmallNode& node, int side, int node_id) const {
        SmallNode made = {side == 0 ? left : right, node.cell, share, node.level + 1, node.depth + 1, node_id};
        if (side == 0) set_along(made.cell.upper, axis(), plane);
        else set_along(made.cell.lower, axis(), plane);
        return made;
    }
};

__device__ __forceinline__ SmallSplit split_at(const SmallNode& node, int candidate, float plane, uint4 both) {
    const uint64 left = node.set & left_of(both), right = node.set & right_of(both);
    return {candidate, plane, node.share * (float)bits_of(node.set) / (float)(bits_of(left) + bits_of(right)), left,
            right};
}

// The cheapest plane of one of its references that may split the node's cell: lower costs are larger words, and of
// equal costs those of earlier candidates. All threads of the block get it; 0 means none.
__device__ __forceinline__ uint64 best_candidate(const Planes& all, const SmallNode& node, int node_count,
                                                 const SplitCosts& costs) {
    const uint64 mine = RUNS_SERIAL ? node.set : node.set & 0x100000001ull << warp_lane();  // those of this lane
    uint64 found = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const AxisCosts along_axis = costs_along(node.cell.lower, node.cell.upper, axis);
        for (int end = 0; end < 2; ++end) {
            const int side = axis + 3 * end;
            const float* planes = all.planes + side * all.stride;
            const uint4* sets = all.sets + side * all.stride;
            for (uint64 rest = mine; rest != 0; rest &= rest - 1) {
                const int i = 63 - __clzll((int64)(rest & (0 - rest)));  // the lowest bit
                const float plane = planes[i];
                if (!along_axis.may_split(plane, end == 1)) continue;
                const uint4 both = sets[i];
                const int left = bits_of(node.set & left_of(both)), right = bits_of(node.set & right_of(both));
                const float cost = along_axis.cost(costs, plane, left, right);
                const uint64 word = ~((uint64)__float_as_uint(cost) << 32 | (unsigned)(side * SMALL + i));
                if ((left < node_count || right < node_count) && cost <= FLOAT_MAX && word > found) found = word;
            }
        }
    }
    return warp_max(found);
}

__device__ __forceinline__ bool may_be_split(const SmallNode& node, int node_count, const SmallRules& rules) {
    return node_count > rules.max_leaf_size && node.level < SMALL_LEVELS && node.depth < rules.max_depth;
}

// A node that may be split is split where that costs less than all its tests, or by its number alone, if its share of
// references allows it.
template <class AllPlanes>
__device__ __forceinline__ SmallSplit split_of(const AllPlanes& all, const SmallNode& node, const SmallRules& rules) {
    const int node_count = bits_of(node.set);
    const SmallSplit none = {NO_CANDIDATE, 0.0f, 0.0f, 0, 0};
    const uint64 word = best_candidate(all, node, node_count, rules.costs);
    float scale;
    const float whole = rules.costs.intersection *
                        (scaled_area(scaled_extent(node.cell.lower, node.cell.upper, scale)) * (float)node_count);
    if (word == 0 || (rules.by_cost && !(__uint_as_float((unsigned)(~word >> 32)) < whole))) return none;
    const int candidate = (int)(unsigned)~word;
    const SmallSplit split = split_at(node, candidate, all.plane(candidate), all.both_sets(candidate));
    return split.share >= 1.0f ? split : none;
}

__device__ __forceinline__ bool is_leaf_at_once(const OpenNode& root, const SmallRules& rules) {
    return root.count <= rules.max_leaf_size || root.count > SMALL || root.depth >= rules.max_depth;
}

// Leaves, by a whole block: of what a set holds of its small root's references, and of all that a root holds which is
// no small node. The latter's order is that of arrival: the next kernel puts it in order.
struct LeafWriter {
    Pointer<int2> nodes;
    Pointer<int> references;

    __device__ __forceinline__ void add(int node_id, uint64 set, int root_count, const int* prim_ids, int first) const {
        if (thread_index() == 0) store_kd_leaf(nodes, node_id, first, bits_of(set));
        if (RUNS_SERIAL) {
            for (uint64 rest = set; rest != 0; rest &= rest - 1)
                references[first++] = prim_ids[__popcll((rest & (0 - rest)) - 1)];
            return;
        }
        for (int i : block_stride(root_count)) {
            if ((set >> i & 1) != 0) references[first + bits_of(set & all_of(i))] = prim_ids[i];
        }
    }
    __device__ __forceinline__ void add_large(int node_id, int4 root_range, const float4* root_references,
                                              int first) const {
        if (thread_index() == 0) store_kd_leaf(nodes, node_id, first, root_range.y);
        for (int i : block_stride(root_range.y))
            references[first + i] = __float_as_int(root_references[2 * (int64)(root_range.x + i)].w);
    }
};
