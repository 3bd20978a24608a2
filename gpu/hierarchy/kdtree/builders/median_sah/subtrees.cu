// The small-node stage by subtrees: a block takes a small root to its leaves, with planes, sets and a stack in shared
// memory. Twice: the first time counts, so that places follow from the order of the small roots, and notes its choices;
// the second time writes. It is the same kernel, so that what was not noted is chosen by the same instructions.
// from gpu.hierarchy.kdtree.builders.median_sah.small import NOTES
#include "gpu/hierarchy/kdtree/builders/median_sah/small_lanes.cuh"

constexpr int PLACE_THREADS = RUNS_SERIAL ? 1 : 512;

struct SmallTree {
    float planes[CANDIDATES];
    uint4 sets[IN_LANES ? SMALL : CANDIDATES];
    int words[SET_WORDS][LANE_CANDIDATES];
    int unsorted[SMALL], prim_ids[SMALL];
    SmallNode waiting[SMALL_LEVELS + 2];

    __device__ __forceinline__ Planes all() { return {planes, sets, SMALL}; }
    __device__ __forceinline__ LanePlanes in_lanes() { return {planes, words}; }
    __device__ __forceinline__ void make_sets(int count) {
        if (IN_LANES) in_lanes().make_sets(count);
        else all().make_sets(count);
    }
    __device__ __forceinline__ SmallSplit split_of_node(const SmallNode& node, const SmallRules& rules) {
        return IN_LANES ? split_of(in_lanes(), node, rules) : split_of(all(), node, rules);
    }
};

// The sets of a root's noted choices, in the order of its visits.
__device__ __forceinline__ void make_noted_sets(SmallTree& tree, int count, const short* notes, int visits) {
    for (int visit : block_stride(visits)) {
        const int candidate = notes[visit];
        if (candidate == NO_CANDIDATE) continue;
        tree.sets[visit] = IN_LANES ? tree.in_lanes().sets_of(candidate, count) : tree.all().sets_of(candidate, count);
    }
    block_sync();
}
// The split that was noted for a visit.
__device__ __forceinline__ SmallSplit noted_split(const SmallTree& tree, const SmallNode& node, int candidate,
                                                  int visit) {
    if (candidate == NO_CANDIDATE) return {NO_CANDIDATE, 0.0f, 0.0f, 0, 0};
    return split_at(node, candidate, tree.planes[candidate], tree.sets[visit]);
}

// Where a tree's nodes and leaves are written.
struct Drafted {
    LeafWriter leaves;
    Pointer<int> parent;

    __device__ __forceinline__ void add_inner(const SmallNode& node, const SmallSplit& split, int left_id) const {
        store_kd_inner(leaves.nodes, node.node_id, split.axis(), split.plane, left_id);
        parent[left_id] = parent[left_id + 1] = node.node_id;
    }
};

// A small root's whole tree, with `places` written, without them counted and noted. Gives the number of splits,
// references and visits: of nodes that may be split.
__device__ __forceinline__ int4 grow_tree(SmallTree& tree, const OpenNode& root, const SmallRules& rules, int visits,
                                          short* notes, const int2* places, const Drafted& to) {
    const bool writes = places != nullptr, is_noted = visits <= NOTES;
    if (!is_noted) tree.make_sets(root.count);
    else if (visits > 0) make_noted_sets(tree, root.count, notes, visits);
    if (thread_index() == 0) tree.waiting[0] = small_root(root);
    int waiting = 1, splits = 0, references = 0, visit = 0;
    for (; waiting > 0; ++visit) {
        block_sync();
        const SmallNode node = tree.waiting[--waiting];
        const SmallSplit split = is_noted
                                     ? noted_split(tree, node, visits > 0 ? (int)notes[visit] : NO_CANDIDATE, visit)
                                     : tree.split_of_node(node, rules);
        block_sync();
        if (!writes && thread_index() == 0 && visit < NOTES) notes[visit] = (short)split.candidate;
        if (split.candidate == NO_CANDIDATE) {
            if (writes) to.leaves.add(node.node_id, node.set, root.count, tree.prim_ids, places->y + references);
            references += bits_of(node.set);
            continue;
        }
        const int left_id = writes ? places->x + 2 * splits : 0;
        if (writes && thread_index() == 0) to.add_inner(node, split, left_id);
        for (int side = 1; side >= 0; --side) {
            const SmallNode child = split.child(node, side, left_id + side);
            const int count = bits_of(child.set);
            if (may_be_split(child, count, rules)) {
                if (thread_index() == 0) tree.waiting[waiting] = child;
                ++waiting;
                continue;
            }
            if (writes) to.leaves.add(child.node_id, child.set, root.count, tree.prim_ids, places->y + references);
            references += count;
        }
        ++splits;
    }
    block_sync();
    return make_int4(splits, references, visit, 0);
}

// All small roots' trees, counted (into `root_counts`, with `notes`) or written (to `places`).
extern "C" __global__ void grow_subtrees(const int* totals, const int* counts, const float4* references,
                                         const float4* cells, const int4* ranges, float traversal_cost,
                                         float intersection_cost, float empty_factor, int by_cost, int max_leaf_size,
                                         int max_depth, int writes, int4* root_counts, short* notes, const int2* places,
                                         int2* draft_nodes, int* draft_parent, int* draft_references) {
    SHARED SmallTree tree;
    if (counts[STATUS_NOW] != 0) return;
    const SmallRules rules = {{traversal_cost, intersection_cost, empty_factor}, by_cost, max_leaf_size, max_depth};
    const Drafted to = {{draft_nodes, draft_references}, draft_parent};
    const int roots = totals[SMALL_ROOTS];
    for (int index = block_index(); index < roots; index += block_count()) {
        const OpenNode root = load_open_node(cells, ranges, index);
        if (!writes && is_leaf_at_once(root, rules)) {
            if (thread_index() == 0) root_counts[index] = make_int4(0, root.count, 0, 0);
            continue;
        }
        if (root.count > SMALL) {
            to.leaves.add_large(root.node_id, ranges[index], references, places[index].y);
            continue;
        }
        tree.all().load(references, root.first, root.count, tree.unsorted, tree.prim_ids);
        short* noted = notes + (int64)index * NOTES;
        const int visits = writes ? root_counts[index].z : NOTES + 1;
        const int4 made = grow_tree(tree, root, rules, visits, noted, writes ? places + index : nullptr, to);
        if (!writes && thread_index() == 0) root_counts[index] = made;
    }
}

// One block: where each small root's nodes and references begin, and the counters of the tree.
extern "C" __global__ void place_subtrees(const int* totals, const int4* root_counts, int node_capacity,
                                          int reference_capacity, int* counts, int2* places) {
    if (block_index() != 0 || counts[STATUS_NOW] != 0) return;
    const int roots = totals[SMALL_ROOTS];
    int node = counts[NODES_NOW], reference = 0;
    block_sync();
    for (int start = 0; start < roots; start += PLACE_THREADS) {
        const int index = start + thread_index();
        const int4 mine = index < roots ? root_counts[index] : make_int4(0, 0, 0, 0);
        int all_nodes, all_references;
        const int nodes_before = block_exclusive_scan(2 * mine.x, all_nodes),
                  references_before = block_exclusive_scan(mine.y, all_references);
        if (index < roots) places[index] = make_int2(node + nodes_before, reference + references_before);
        node += all_nodes;
        reference += all_references;
    }
    if (thread_index() != 0) return;
    counts[NODES_NOW] = node;
    counts[REFERENCES_NOW] = reference;
    counts[STATUS_NOW] = (node > node_capacity ? NODES_FULL : 0) |
                         (reference > reference_capacity ? REFERENCES_FULL : 0);
}
