// The small-node stage in rounds, as Zhou has it: planes and sets of all small roots first, in memory, then all small
// nodes of a level at a time, whose children and leaves get their places by the project's prefix sums.
// from gpu.hierarchy.kdtree.builders.median_sah.stage_arrays import SmallArrays
#include "gpu/hierarchy/kdtree/builders/median_sah/small.cuh"

// A round's row of counters: small nodes, and what tree there was before.
constexpr int ROUND_NODES = 0, ROUND_FIRST_NODE = 1, ROUND_FIRST_REFERENCE = 2, ROUND_WORDS = 4;

//  byte  0       12        16      28         32      36              40        44     48
//        | lower | set low | upper | set high | share | level, depth | node_id | root |
__device__ __forceinline__ SmallNode load_small_node(const float4* nodes, int slot, int& root) {
    const float4 a = nodes[3 * (int64)slot], b = nodes[3 * (int64)slot + 1], c = nodes[3 * (int64)slot + 2];
    root = __float_as_int(c.w);
    const int levels = __float_as_int(c.y);
    return {(uint64)__float_as_uint(b.w) << 32 | __float_as_uint(a.w),
            {make_float3(a.x, a.y, a.z), make_float3(b.x, b.y, b.z)},
            c.x,
            levels >> 8,
            levels & 255,
            __float_as_int(c.z)};
}
__device__ __forceinline__ void store_small_node(float4* nodes, int slot, const SmallNode& node, int root) {
    const float3 lower = node.cell.lower, upper = node.cell.upper;
    nodes[3 * (int64)slot] = make_float4(lower.x, lower.y, lower.z, __uint_as_float((unsigned)node.set));
    nodes[3 * (int64)slot + 1] = make_float4(upper.x, upper.y, upper.z, __uint_as_float((unsigned)(node.set >> 32)));
    nodes[3 * (int64)slot + 2] = make_float4(node.share, __int_as_float(node.level << 8 | node.depth),
                                             __int_as_float(node.node_id), __int_as_float(root));
}

// Everything that the kernels have in common, by value.
struct SmallStage : SmallArrays {
    __device__ __forceinline__ SmallRules rules() const {
        return {{traversal_cost, intersection_cost, empty_factor}, by_cost, max_leaf_size, max_depth};
    }
    __device__ __forceinline__ const int* round_row(int round) const { return rounds + ROUND_WORDS * round; }
    __device__ __forceinline__ float4* nodes_of(int round) const {
        return round % 2 == 0 ? small_nodes : small_nodes_too;
    }
    __device__ __forceinline__ int roots() const { return counts[STATUS_NOW] == 0 ? totals[SMALL_ROOTS] : 0; }
    __device__ __forceinline__ Planes planes_of(int root, int count) const {
        return {planes + SIDES * (int64)firsts[root], sets + SIDES * (int64)firsts[root], count};
    }
    __device__ __forceinline__ LeafWriter leaves() const { return {draft_nodes, draft_references}; }
    __device__ __forceinline__ int addition(int row, int slot) const {
        return small_additions[row * (int64)slot_capacity + slot];
    }
};

// How many references of each root get planes; zero for roots that are leaves of too many, and past the last.
extern "C" __global__ void size_roots(SmallStage stage) {
    const int roots = stage.roots();
    for (int i : grid_stride(stage.root_capacity))
        stage.firsts[i] = i < roots && stage.root_ranges[i].y <= SMALL ? stage.root_ranges[i].y : 0;
}

// Planes, sets and sorted prim_ids of each root, and the root as a node of the first round.
extern "C" __global__ void make_planes(SmallStage stage) {
    SHARED int unsorted[SMALL];
    const int roots = stage.roots();
    if (block_index() == 0 && thread_index() == 0) {
        for (int later = 1; later <= SMALL_LEVELS; ++later) stage.rounds[later * ROUND_WORDS + ROUND_NODES] = 0;
        stage.rounds[ROUND_NODES] = roots;
        stage.rounds[ROUND_FIRST_NODE] = stage.counts[NODES_NOW];
        stage.rounds[ROUND_FIRST_REFERENCE] = 0;
    }
    for (int index = block_index(); index < roots; index += block_count()) {
        const OpenNode root = load_open_node(stage.root_cells, stage.root_ranges, index);
        SmallNode node = small_root(root);
        if (root.count <= SMALL) {
            const Planes all = stage.planes_of(index, root.count);
            all.load(stage.references, root.first, root.count, unsorted, stage.prim_ids + stage.firsts[index]);
            all.make_sets(root.count);
        } else {
            node.set = 0;
        }
        if (thread_index() == 0) store_small_node(stage.small_nodes, index, node, index);
    }
}

// What a node of a round gives to its children.
struct Choice {
    SmallSplit split;
    bool is_left_open, is_right_open;
};
__device__ __forceinline__ Choice choice_of(const SmallNode& node, const SmallSplit& split, const SmallRules& rules) {
    if (split.candidate == NO_CANDIDATE) return {split, false, false};
    return {split, may_be_split(split.child(node, 0, 0), bits_of(split.left), rules),
            may_be_split(split.child(node, 1, 0), bits_of(split.right), rules)};
}

// The split of each node, and what it adds: splits, open children and references of leaves, a row each, zero past the
// last node.
extern "C" __global__ void choose_small(SmallStage stage, int round) {
    const SmallRules rules = stage.rules();
    const int count = stage.round_row(round)[ROUND_NODES];
    for (int i : grid_stride(3 * stage.slot_capacity)) {
        if (i % stage.slot_capacity >= count) stage.small_additions[i] = 0;
    }
    for (int slot = block_index(); slot < count; slot += block_count()) {
        int root;
        const SmallNode node = load_small_node(stage.nodes_of(round), slot, root);
        const int root_count = stage.root_ranges[root].y;
        SmallSplit split = {NO_CANDIDATE, 0.0f, 0.0f, 0, 0};
        if (root_count <= SMALL && may_be_split(node, bits_of(node.set), rules))
            split = split_of(stage.planes_of(root, root_count), node, rules);
        const Choice choice = choice_of(node, split, rules);
        if (thread_index() != 0) continue;
        const bool is_split = split.candidate != NO_CANDIDATE;
        const int whole = root_count <= SMALL ? bits_of(node.set) : root_count;
        const int leaf_references = (choice.is_left_open ? 0 : bits_of(split.left)) +
                                    (choice.is_right_open ? 0 : bits_of(split.right));
        int* at = stage.small_additions + slot;
        stage.candidates[slot] = split.candidate;
        at[0] = is_split ? 1 : 0;
        at[stage.slot_capacity] = (choice.is_left_open ? 1 : 0) + (choice.is_right_open ? 1 : 0);
        at[2 * (int64)stage.slot_capacity] = is_split ? leaf_references : whole;
    }
}

// Where the leaves and children of a node are written, and how many there are.
struct Growing {
    int left_id, leaf_reference, next_slot;
    int leaf_references, open;
};

__device__ __forceinline__ void add_leaf(const SmallStage& stage, int node_id, uint64 set, int root, int root_count,
                                         Growing& at) {
    const int first = at.leaf_reference + at.leaf_references, count = bits_of(set);
    at.leaf_references += count;
    if (first + count <= stage.reference_capacity)
        stage.leaves().add(node_id, set, root_count, stage.prim_ids + stage.firsts[root], first);
}

// A root of more references than a small node has.
__device__ __forceinline__ void add_large_leaf(const SmallStage& stage, int node_id, int root, int root_count,
                                               Growing& at) {
    at.leaf_references = root_count;
    if (thread_index() == 0) stage.root_places[root] = make_int2(0, at.leaf_reference);
    if (at.leaf_reference + root_count > stage.reference_capacity) return;
    stage.leaves().add_large(node_id, stage.root_ranges[root], stage.references, at.leaf_reference);
}

__device__ __forceinline__ void add_children(const SmallStage& stage, const SmallNode& node, int candidate, int root,
                                             int root_count, int round, Growing& at) {
    const Planes all = stage.planes_of(root, root_count);
    const SmallSplit split = split_at(node, candidate, all.plane(candidate), all.sets[all.place(candidate)]);
    if (thread_index() == 0) {
        store_kd_inner(stage.draft_nodes, node.node_id, split.axis(), split.plane, at.left_id);
        stage.draft_parent[at.left_id] = stage.draft_parent[at.left_id + 1] = node.node_id;
    }
    for (int side = 0; side < 2; ++side) {
        const SmallNode child = split.child(node, side, at.left_id + side);
        if (!may_be_split(child, bits_of(child.set), stage.rules())) {
            add_leaf(stage, child.node_id, child.set, root, root_count, at);
            continue;
        }
        const int slot = at.next_slot + at.open++;
        if (slot < stage.slot_capacity && thread_index() == 0)
            store_small_node(stage.nodes_of(round + 1), slot, child, root);
    }
}

// Children and leaves of a round, and the next one's counters. What nodes add is summed up.
extern "C" __global__ void split_small(SmallStage stage, int round) {
    const int* row = stage.round_row(round);
    const int count = row[ROUND_NODES];
    for (int slot = block_index(); slot < count; slot += block_count()) {
        int root;
        const SmallNode node = load_small_node(stage.nodes_of(round), slot, root);
        const int root_count = stage.root_ranges[root].y, candidate = stage.candidates[slot];
        Growing at = {row[ROUND_FIRST_NODE] + 2 * stage.addition(0, slot),
                      row[ROUND_FIRST_REFERENCE] + stage.addition(2, slot) - stage.addition(2, 0),
                      stage.addition(1, slot) - stage.addition(1, 0), 0, 0};
        if (candidate != NO_CANDIDATE) {
            if (at.left_id + 1 < stage.node_capacity) add_children(stage, node, candidate, root, root_count, round, at);
        } else if (root_count > SMALL) {
            add_large_leaf(stage, node.node_id, root, root_count, at);
        } else {
            add_leaf(stage, node.node_id, node.set, root, root_count, at);
        }
        if (slot != count - 1 || thread_index() != 0) continue;
        const int nodes = at.left_id + (candidate == NO_CANDIDATE ? 0 : 2),
                  references = at.leaf_reference + at.leaf_references;
        const int open = at.next_slot + at.open;
        const int status = (nodes > stage.node_capacity ? NODES_FULL : 0) |
                           (references > stage.reference_capacity || open > stage.slot_capacity ? REFERENCES_FULL : 0);
        int* next_row = stage.rounds + ROUND_WORDS * (round + 1);
        stage.counts[NODES_NOW] = nodes;
        stage.counts[REFERENCES_NOW] = references;
        stage.counts[STATUS_NOW] = status;
        next_row[ROUND_NODES] = status == 0 ? open : 0;
        next_row[ROUND_FIRST_NODE] = nodes;
        next_row[ROUND_FIRST_REFERENCE] = references;
    }
}
