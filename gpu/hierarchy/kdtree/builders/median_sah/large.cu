// A level of large nodes by atomics a block (Chang, Seo and Ihm, On the Efficient Implementation of a Real-time Kd-tree Construction Algorithm): the
// boxes of nodes, the counts of both sides and the children, and the sorting of references, in one kernel each.
#include "gpu/hierarchy/kdtree/builders/median_sah/chunks.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/children.cuh"

// Boxes of what lies in each node: six atomics a chunk instead of six segmented reductions ([C] of the paper).
extern "C" __global__ void bound_chunks(const int* level, const float4* references, const int4* ranges, int* boxes) {
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const Aabb box = box_of_chunk(references, range_of_chunk(ranges[slot], chunk));
        if (thread_index() != 0) continue;
        int* at = boxes + BOX_WORDS * (int64)slot;
        for (int axis = 0; axis < 3; ++axis) {
            atomic_min_float(at + axis, along(box.lower, axis));
            atomic_max_float(at + 3 + axis, along(box.upper, axis));
        }
    }
}

// How many references lie on either side of the middle along each axis. The last block to arrive makes the children.
extern "C" __global__ void count_sides(int* level, const float4* references, const float4* cells, const int4* ranges, const int* boxes, float empty_fraction,
                                       int max_depth, int small_count, int ends_here, int half, int node_capacity, int working_capacity, int slot_capacity,
                                       int root_capacity, int* side_counts, int* next_level, int* totals, int* counts, int2* draft_nodes, int* draft_parent,
                                       float4* next_cells, int4* next_ranges, int* next_boxes, int* next_side_counts, float4* root_cells,
                                       int4* root_ranges, int4* plans, int2* offsets) {
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const OpenNode node = load_open_node(cells, ranges, slot);
        count_chunk(references, range_of_chunk(ranges[slot], chunk), cuts_of(node, load_box(boxes, slot), rules).cell, side_counts + SIDE_WORDS * (int64)slot);
    }
    if (!is_last_block(level + LEVEL_ARRIVED)) return;
    const Room room = {node_capacity, working_capacity, slot_capacity, root_capacity};
    const Destination to = {{draft_nodes, draft_parent, node_capacity}, {next_cells, next_ranges, slot_capacity}, {root_cells, root_ranges, root_capacity},
                            next_boxes, next_side_counts, counts[NODES_NOW], totals[SMALL_ROOTS], half * working_capacity,
                            (half + 1) * working_capacity - totals[TAILS + half]};
    block_sync();
    Additions before = {};
    for (int start = 0; start < level_nodes; start += THREADS) {
        const int slot = start + thread_index();
        const bool is_node = slot < level_nodes;
        Fate fate;
        Additions mine = {}, all;
        if (is_node) {
            fate = fate_of(load_open_node(cells, ranges, slot), load_box(boxes, slot), side_counts + SIDE_WORDS * (int64)slot, rules, small_count);
            mine = fate.additions();
        }
        Additions here = mine.scan(all);
        here.add(before);
        if (is_node) {
            store_plan(plans, slot, make_children_of(fate, here, to));
            offsets[slot] = make_int2(0, 0);
        }
        before.add(all);
    }
    block_sync();
    if (thread_index() == 0) count_level(before, room, half, next_level, totals, counts);
}

// Each chunk's references go to the children, those on both sides to both, cut to what lies there; two atomics a chunk fetch the places of its
// references instead of two segmented scans ([A] of the paper). Their order is that of arrival: leaves are put in order at the end.
extern "C" __global__ void sort_chunks(Primitives primitives, const int* level, const int* counts, const int4* ranges, const int4* plans, int clips,
                                       float4* references, int2* offsets) {
    SHARED int first_places[2];
    if (counts[STATUS_NOW] != 0) return;
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const Plan plan = load_plan(plans, slot);
        const ChunkSides here = sides_of_chunk(references, plan, range_of_chunk(ranges[slot], chunk));
        if (thread_index() == 0) {
            first_places[0] = plan.left_base + atomic_add(&offsets[slot].x, lefts_of(here.all));
            first_places[1] = plan.right_base + atomic_add(&offsets[slot].y, rights_of(here.all));
        }
        block_sync();
        store_sides(primitives, plan, here, first_places[0], first_places[1], clips, references);
        block_sync();
    }
}
