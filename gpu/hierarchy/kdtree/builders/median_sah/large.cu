// A level of large nodes by atomics a block (Chang, Seo and Ihm, On the Efficient Implementation of a Real-time Kd-tree Construction Algorithm): the
// counts of both sides, the children, and the sorting of references with the children's boxes, in one kernel each.
#include "gpu/hierarchy/kdtree/builders/median_sah/chunks.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/children.cuh"

// Boxes of what lies in each node by themselves, for references that were sorted without: six atomics a chunk instead of six segmented reductions
// ([C] of the paper).
extern "C" __global__ void bound_chunks(const int* level, const float4* references, const int4* ranges, int* boxes) {
    SHARED int shared[BOX_WORDS];
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const ChunkRange range = range_of_chunk(ranges[slot], chunk);
        Aabb box = empty_aabb();
        for (int i : block_stride(range.last - range.first)) box = merge(box, load_reference(references, range.first + i).box);
        add_to_box(box, shared, boxes + BOX_WORDS * (int64)slot);
    }
}

// How many references lie on either side of the middle along each axis. The last of a node's chunks says what the node adds to the level.
extern "C" __global__ void count_sides(const int* level, const float4* references, const float4* cells, const int4* ranges, const int* boxes,
                                       float empty_fraction, int max_depth, int small_count, int ends_here, int* side_counts, int4* node_additions) {
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const OpenNode node = load_open_node(cells, ranges, slot);
        const Aabb box = load_box(boxes, slot);
        int* mine = side_counts + COUNT_STRIDE * (int64)slot;
        count_chunk(references, range_of_chunk(ranges[slot], chunk), cuts_of(node, box, rules).cell, mine);
        if (thread_index() != 0 || atomic_arrive(mine + CHUNKS_COUNTED) != chunks_of(node.count) - 1) continue;
        node_additions[slot] = packed_additions(fate_of(node, box, mine, rules, small_count).additions());
    }
}

// The children of a level: each block takes some of its nodes, in their order, and adds up what those before them add.
extern "C" __global__ void make_children(const int* level, const float4* cells, const int4* ranges, const int* boxes, float empty_fraction, int max_depth,
                                         int small_count, int ends_here, int half, int node_capacity, int working_capacity, int slot_capacity,
                                         int root_capacity, const int* side_counts, const int4* node_additions, int* next_level, int* totals,
                                         int* counts, int2* draft_nodes, int* draft_parent, float4* next_cells, int4* next_ranges, int* next_boxes,
                                         int* next_side_counts, float4* root_cells, int4* root_ranges, int4* plans, int4* offsets) {
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const Room room = {node_capacity, working_capacity, slot_capacity, root_capacity};
    const Destination to = destination_of(level, half, room, {draft_nodes, draft_parent, node_capacity}, {next_cells, next_ranges, slot_capacity},
                                          {root_cells, root_ranges, root_capacity}, next_boxes, next_side_counts);
    const int level_nodes = level[LEVEL_NODES], tiles = (level_nodes + THREADS - 1) / THREADS, share = (tiles + block_count() - 1) / block_count();
    const int first = min(block_index() * share * THREADS, level_nodes), last = min(first + share * THREADS, level_nodes);
    if (first == last) return;
    Additions before = {};
    for (int slot : block_stride(first)) before.add(unpacked_additions(node_additions[slot]));
    before = {block_sum(before.nodes), block_sum(before.lists), block_sum(before.references)};
    for (int start = first; start < last; start += THREADS) {
        const int slot = start + thread_index();
        const bool is_node = slot < last;
        const Additions mine = is_node ? unpacked_additions(node_additions[slot]) : Additions{};
        Additions all, here = mine.scan(all);
        here.add(before);
        if (is_node) {
            const int* counted = side_counts + COUNT_STRIDE * (int64)slot;
            const Fate fate = fate_of(load_open_node(cells, ranges, slot), load_box(boxes, slot), counted, rules, small_count);
            store_plan(plans, slot, make_children_of(fate, here, to));
            const int child = low_of(here.nodes);
            offsets[slot] = make_int4(0, 0, fate.is_left_large ? child : -1, fate.is_right_large ? child + (fate.is_left_large ? 1 : 0) : -1);
        }
        before.add(all);
    }
    if (last == level_nodes && thread_index() == 0) count_level(before, room, half, level, next_level, totals, counts);
}

// Each chunk's references go to the children, those on both sides to both, cut to what lies there; two atomics a chunk fetch the places of its
// references instead of two segmented scans ([A] of the paper). Their order is that of arrival: leaves are put in order at the end. With `bounds` the
// boxes of large children grow by what they get.
extern "C" __global__ void sort_chunks(Primitives primitives, const int* level, const int* counts, const int4* ranges, const int4* plans, int clips,
                                       int bounds, float4* references, int4* offsets, int* next_boxes) {
    SHARED int first_places[2];
    SHARED int shared[BOX_WORDS];
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
        const SideBoxes boxes = store_sides(primitives, plan, here, first_places[0], first_places[1], clips, references);
        const int left_slot = offsets[slot].z, right_slot = offsets[slot].w;
        if (bounds && left_slot >= 0) add_to_box(boxes.left, shared, next_boxes + BOX_WORDS * (int64)left_slot);
        if (bounds && right_slot >= 0) add_to_box(boxes.right, shared, next_boxes + BOX_WORDS * (int64)right_slot);
        block_sync();
    }
}
