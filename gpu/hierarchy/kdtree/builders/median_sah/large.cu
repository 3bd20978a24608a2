// A level of large nodes by atomics per block (Chang, Seo and Ihm, On the Efficient Implementation of a Real-time
// Kd-tree Construction Algorithm): the counts of both sides, the children, and the sorting of references with the
// children's boxes, in one kernel each.
#include "gpu/hierarchy/kdtree/builders/median_sah/stage.cuh"

// Boxes of what lies in each node by themselves, for references that were sorted without: six atomics per chunk instead
// of six segmented reductions
// ([C] of the paper).
extern "C" __global__ void bound_chunks(LargeStage stage, int level) {
    SHARED int shared[BOX_WORDS];
    const Level at = stage.level(level);
    const int level_nodes = at.nodes(), chunks = at.chunks();
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(at.ranges, level_nodes, chunk);
        const ChunkRange range = range_of_chunk(at.ranges[slot], chunk);
        Aabb box = empty_aabb();
        for (int i : block_stride(range.last - range.first))
            box = merge(box, load_reference(stage.references, range.first + i).box);
        add_to_box(box, shared, at.boxes + BOX_WORDS * (int64)slot);
    }
}

// How many references lie on either side of the middle along each axis. The last of a node's chunks says what the node
// adds to the level.
extern "C" __global__ void count_sides(LargeStage stage, int level, int ends_here) {
    const Level at = stage.level(level);
    const LargeRules rules = stage.rules(ends_here);
    const int level_nodes = at.nodes(), chunks = at.chunks();
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(at.ranges, level_nodes, chunk);
        const OpenNode node = at.node(slot);
        const Aabb box = at.box(slot);
        int* mine = at.counts_of(slot);
        count_chunk(stage.references, range_of_chunk(at.ranges[slot], chunk), cuts_of(node, box, rules).cell, mine);
        if (thread_index() != 0 || atomic_arrive(mine + CHUNKS_COUNTED) != chunks_of(node.count) - 1) continue;
        stage.node_additions[slot] = packed_additions(fate_of(node, box, mine, rules, stage.small_count).additions());
    }
}

// The children of a level: each block takes some of its nodes, in their order, and adds up what those before them add.
extern "C" __global__ void make_children(LargeStage stage, int level, int ends_here) {
    const Level at = stage.level(level);
    const Destination to = stage.destination(at);
    const int level_nodes = at.nodes(), tiles = (level_nodes + THREADS - 1) / THREADS,
              share = (tiles + block_count() - 1) / block_count();
    const int first = min(block_index() * share * THREADS, level_nodes),
              last = min(first + share * THREADS, level_nodes);
    if (first == last) return;
    Additions before = {};
    for (int slot : block_stride(first)) before.add(unpacked_additions(stage.node_additions[slot]));
    before = {block_sum(before.nodes), block_sum(before.lists), block_sum(before.references)};
    for (int start = first; start < last; start += THREADS) {
        const int slot = start + thread_index();
        const bool is_node = slot < last;
        const Additions mine = is_node ? unpacked_additions(stage.node_additions[slot]) : Additions{};
        Additions all, here = mine.scan(all);
        here.add(before);
        if (is_node) {
            const Fate fate = fate_of(at.node(slot), at.box(slot), at.counts_of(slot), stage.rules(ends_here),
                                      stage.small_count);
            store_plan(stage.plans, slot, make_children_of(fate, here, to));
            const int child = low_of(here.nodes);
            stage.offsets[slot] = make_int4(0, 0, fate.is_left_large ? child : -1,
                                            fate.is_right_large ? child + (fate.is_left_large ? 1 : 0) : -1);
        }
        before.add(all);
    }
    if (last == level_nodes && thread_index() == 0)
        count_level(before, stage.room(), at.half, at.row, at.next_row, stage.totals, stage.counts);
}

// Each chunk's references go to the children, those on both sides to both, cut to what lies there; two atomics per
// chunk fetch the places of its references instead of two segmented scans ([A] of the paper). Their order is that of
// arrival: leaves are put in order at the end. With `bounds` the boxes of large children grow by what they get.
extern "C" __global__ void sort_chunks(Primitives primitives, const int* levels, int level, const int* counts,
                                       const int4* ranges, const int4* plans, int clips, int bounds, float4* references,
                                       int4* offsets, int* next_boxes) {
    SHARED int first_places[2];
    SHARED int shared[BOX_WORDS];
    if (counts[STATUS_NOW] != 0) return;
    const int* row = levels + LEVEL_WORDS * level;
    const int level_nodes = row[LEVEL_NODES], chunks = row[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const Plan plan = load_plan(plans, slot);
        const ChunkSides here = sides_of_chunk(references, plan, range_of_chunk(ranges[slot], chunk));
        if (thread_index() == 0) {
            first_places[0] = plan.left_base + atomic_add(&offsets[slot].x, lefts_of(here.all));
            first_places[1] = plan.right_base + atomic_add(&offsets[slot].y, rights_of(here.all));
        }
        block_sync();
        const SideBoxes boxes = store_sides(primitives, plan, here, first_places[0], first_places[1], clips,
                                            references);
        const int left_slot = offsets[slot].z, right_slot = offsets[slot].w;
        if (bounds && left_slot >= 0) add_to_box(boxes.left, shared, next_boxes + BOX_WORDS * (int64)left_slot);
        if (bounds && right_slot >= 0) add_to_box(boxes.right, shared, next_boxes + BOX_WORDS * (int64)right_slot);
        block_sync();
    }
}
