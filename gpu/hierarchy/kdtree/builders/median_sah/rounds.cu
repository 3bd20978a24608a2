// The small-node stage in rounds, as Zhou has it: planes and sets of all small roots first, in memory, then all small nodes of a level at a time, whose
// children and leaves get their places by the library's prefix sums.
#include "gpu/hierarchy/kdtree/builders/median_sah/small.cuh"

// A round's row of counters: small nodes, and what tree there was before.
constexpr int ROUND_NODES = 0, ROUND_FIRST_NODE = 1, ROUND_FIRST_REFERENCE = 2, ROUND_WORDS = 4;

//  byte  0       12        16      28         32      36              40        44     48
//        | lower | set low | upper | set high | share | level, depth | node_id | root |
__device__ __forceinline__ SmallNode load_small_node(const float4* nodes, int slot, int& root) {
    const float4 a = nodes[3 * (int64)slot], b = nodes[3 * (int64)slot + 1], c = nodes[3 * (int64)slot + 2];
    root = __float_as_int(c.w);
    const int levels = __float_as_int(c.y);
    return {(uint64)__float_as_uint(b.w) << 32 | __float_as_uint(a.w), {make_float3(a.x, a.y, a.z), make_float3(b.x, b.y, b.z)}, c.x, levels >> 8,
            levels & 255, __float_as_int(c.z)};
}
__device__ __forceinline__ void store_small_node(float4* nodes, int slot, const SmallNode& node, int root) {
    const float3 lower = node.cell.lower, upper = node.cell.upper;
    nodes[3 * (int64)slot] = make_float4(lower.x, lower.y, lower.z, __uint_as_float((unsigned)node.set));
    nodes[3 * (int64)slot + 1] = make_float4(upper.x, upper.y, upper.z, __uint_as_float((unsigned)(node.set >> 32)));
    nodes[3 * (int64)slot + 2] = make_float4(node.share, __int_as_float(node.level << 8 | node.depth), __int_as_float(node.node_id), __int_as_float(root));
}

// How many references of each root get planes; zero for roots that are leaves of too many, and past the last.
extern "C" __global__ void size_roots(const int* totals, const int* counts, const int4* ranges, int root_capacity, int* sizes) {
    const int roots = counts[STATUS_NOW] == 0 ? totals[SMALL_ROOTS] : 0;
    for (int i : grid_stride(root_capacity)) sizes[i] = i < roots && ranges[i].y <= SMALL ? ranges[i].y : 0;
}

__device__ __forceinline__ Planes planes_of(float* planes, uint4* sets, int first, int count) {
    return {planes + SIDES * (int64)first, sets + SIDES * (int64)first, count};
}

// Planes, sets and sorted prim_ids of each root, and the root as a node of the first round. `firsts`: where a root's references begin in them.
extern "C" __global__ void make_planes(const int* totals, int* counts, const float4* references, const float4* cells, const int4* ranges,
                                       const int* firsts, float* planes, uint4* sets, int* prim_ids, float4* nodes, int* round) {
    SHARED int unsorted[SMALL];
    const int roots = counts[STATUS_NOW] == 0 ? totals[SMALL_ROOTS] : 0;
    if (block_index() == 0 && thread_index() == 0) {
        for (int later = 1; later <= SMALL_LEVELS; ++later) round[later * ROUND_WORDS + ROUND_NODES] = 0;
        round[ROUND_NODES] = roots;
        round[ROUND_FIRST_NODE] = counts[NODES_NOW];
        round[ROUND_FIRST_REFERENCE] = 0;
    }
    for (int index = block_index(); index < roots; index += block_count()) {
        const OpenNode root = load_open_node(cells, ranges, index);
        SmallNode node = small_root(root);
        if (root.count <= SMALL) {
            const Planes all = planes_of(planes, sets, firsts[index], root.count);
            all.load(references, root.first, root.count, unsorted, prim_ids + firsts[index]);
            all.make_sets(root.count);
        } else {
            node.set = 0;
        }
        if (thread_index() == 0) store_small_node(nodes, index, node, index);
    }
}

// What a node of a round gives to its children.
struct Choice {
    SmallSplit split;
    bool is_left_open, is_right_open;
};
__device__ __forceinline__ Choice choice_of(const SmallNode& node, const SmallSplit& split, const SmallRules& rules) {
    if (split.candidate == NO_CANDIDATE) return {split, false, false};
    return {split, may_be_parted(split.child(node, 0, 0), bits_of(split.left), rules), may_be_parted(split.child(node, 1, 0), bits_of(split.right), rules)};
}

// The split of each node, and what it adds: splits, open children and references of leaves, a row each, zero past the last node.
extern "C" __global__ void choose_small(const int* round, const float4* nodes, const int4* ranges, const int* firsts, float* planes, uint4* sets,
                                        float traversal_cost, float intersection_cost, float empty_factor, int by_cost, int max_leaf_size, int max_depth,
                                        int slot_capacity, int* candidates, int* additions) {
    const SmallRules rules = {{traversal_cost, intersection_cost, empty_factor}, by_cost, max_leaf_size, max_depth};
    const int count = round[ROUND_NODES];
    for (int i : grid_stride(3 * slot_capacity)) {
        if (i % slot_capacity >= count) additions[i] = 0;
    }
    for (int slot = block_index(); slot < count; slot += block_count()) {
        int root;
        const SmallNode node = load_small_node(nodes, slot, root);
        const int root_count = ranges[root].y;
        SmallSplit split = {NO_CANDIDATE, 0.0f, 0.0f, 0, 0};
        if (root_count <= SMALL && may_be_parted(node, bits_of(node.set), rules)) {
            split = split_of(planes_of(planes, sets, firsts[root], root_count), root_count, node, rules);
        }
        const Choice choice = choice_of(node, split, rules);
        if (thread_index() != 0) continue;
        const bool is_split = split.candidate != NO_CANDIDATE;
        const int whole = root_count <= SMALL ? bits_of(node.set) : root_count;
        const int leaf_references = (choice.is_left_open ? 0 : bits_of(split.left)) + (choice.is_right_open ? 0 : bits_of(split.right));
        candidates[slot] = split.candidate;
        additions[slot] = is_split ? 1 : 0;
        additions[slot_capacity + slot] = (choice.is_left_open ? 1 : 0) + (choice.is_right_open ? 1 : 0);
        additions[2 * (int64)slot_capacity + slot] = is_split ? leaf_references : whole;
    }
}

struct Leaves {
    int2* nodes;
    int* references;
    int capacity;

    __device__ __forceinline__ void add(int node_id, uint64 set, int count, int first, const int* prim_ids) const {
        if (first + bits_of(set) > capacity) return;
        if (thread_index() == 0) store_kd_leaf(nodes, node_id, first, bits_of(set));
        for (int i : block_stride(count)) {
            if ((set >> i & 1) != 0) references[first + bits_of(set & all_of(i))] = prim_ids[i];
        }
    }
};

// Children and leaves of a round, and the next one's counters. `sums`: what nodes add, summed up; `places` of roots that are large leaves.
extern "C" __global__ void part_small(const int* round, int* next_round, const float4* nodes, const float4* references, const int4* ranges, const int* firsts,
                                      float* planes, uint4* sets, const int* prim_ids, int max_leaf_size, int max_depth, int slot_capacity,
                                      const int* candidates, const int* sums, int node_capacity, int reference_capacity, int* counts, float4* next_nodes,
                                      int2* places, int2* draft_nodes, int* draft_parent, int* draft_references) {
    const SmallRules rules = {{0.0f, 0.0f, 0.0f}, 0, max_leaf_size, max_depth};
    const Leaves leaves = {draft_nodes, draft_references, reference_capacity};
    const int count = round[ROUND_NODES];
    for (int slot = block_index(); slot < count; slot += block_count()) {
        int root;
        const SmallNode node = load_small_node(nodes, slot, root);
        const int root_count = ranges[root].y, candidate = candidates[slot];
        const int64 row = slot_capacity;
        const int left_id = round[ROUND_FIRST_NODE] + 2 * sums[slot], leaf_reference = round[ROUND_FIRST_REFERENCE] + sums[2 * row + slot] - sums[2 * row];
        const int next_slot = sums[row + slot] - sums[row];
        int open = 0, leaf_references = 0;
        if (candidate == NO_CANDIDATE) {
            leaf_references = root_count > SMALL ? root_count : bits_of(node.set);
            if (root_count <= SMALL) {
                leaves.add(node.node_id, node.set, root_count, leaf_reference, prim_ids + firsts[root]);
            } else if (leaf_reference + root_count <= reference_capacity) {
                if (thread_index() == 0) store_kd_leaf(draft_nodes, node.node_id, leaf_reference, root_count);
                for (int i : block_stride(root_count)) draft_references[leaf_reference + i] = __float_as_int(references[2 * (int64)(ranges[root].x + i)].w);
            }
            if (thread_index() == 0 && root_count > SMALL) places[root] = make_int2(0, leaf_reference);
        } else if (left_id + 1 < node_capacity) {
            const Planes all = planes_of(planes, sets, firsts[root], root_count);
            const uint4 both = all.sets[all.place(candidate)];
            SmallSplit split = {candidate, all.plane(candidate), 0.0f, node.set & left_of(both), node.set & right_of(both)};
            split.share = node.share * (float)bits_of(node.set) / (float)(bits_of(split.left) + bits_of(split.right));
            if (thread_index() == 0) {
                store_kd_inner(draft_nodes, node.node_id, split.axis(), split.plane, left_id);
                draft_parent[left_id] = draft_parent[left_id + 1] = node.node_id;
            }
            for (int side = 0; side < 2; ++side) {
                const SmallNode child = split.child(node, side, left_id + side);
                if (!may_be_parted(child, bits_of(child.set), rules)) {
                    leaves.add(child.node_id, child.set, root_count, leaf_reference + leaf_references, prim_ids + firsts[root]);
                    leaf_references += bits_of(child.set);
                } else if (next_slot + open++ < slot_capacity && thread_index() == 0) {
                    store_small_node(next_nodes, next_slot + open - 1, child, root);
                }
            }
        }
        if (slot != count - 1 || thread_index() != 0) continue;
        const int nodes_now = left_id + (candidate == NO_CANDIDATE ? 0 : 2), references_now = leaf_reference + leaf_references;
        const int status = (nodes_now > node_capacity ? NODES_FULL : 0) | (references_now > reference_capacity || next_slot + open > slot_capacity ? REFERENCES_FULL : 0);
        counts[NODES_NOW] = nodes_now;
        counts[REFERENCES_NOW] = references_now;
        counts[STATUS_NOW] = status;
        next_round[ROUND_NODES] = status == 0 ? next_slot + open : 0;
        next_round[ROUND_FIRST_NODE] = nodes_now;
        next_round[ROUND_FIRST_REFERENCE] = references_now;
    }
}
