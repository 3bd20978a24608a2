// A level of large nodes by segmented scans and reductions, as Zhou has it (implementation I of Chang's paper): each step is a kernel, and what is
// summed up over chunks or nodes goes through the library's prefix sums. A segment's sums are differences: what comes before a chunk in its node is the
// chunk's sum less that of the node's first chunk.
#include "gpu/hierarchy/kdtree/builders/median_sah/chunks.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/children.cuh"

constexpr int ADDITION_WORDS = 6;

// Rows of a number a chunk, side by side, and one more: sums before any chunk, and behind the last.
struct Rows {
    const int* sums;
    int length;

    __device__ __forceinline__ int between(int row, int first, int last) const { return sums[row * (int64)length + last] - sums[row * (int64)length + first]; }
};

// Boxes of chunks: six rows of floats.
extern "C" __global__ void box_chunks(const int* level, const float4* references, const int4* ranges, int chunk_capacity, float* chunk_boxes) {
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const Aabb box = box_of_chunk(references, range_of_chunk(ranges[slot_of_chunk(ranges, level_nodes, chunk)], chunk));
        if (thread_index() != 0) continue;
        for (int axis = 0; axis < 3; ++axis) {
            chunk_boxes[axis * (int64)chunk_capacity + chunk] = along(box.lower, axis);
            chunk_boxes[(3 + axis) * (int64)chunk_capacity + chunk] = along(box.upper, axis);
        }
    }
}

// Six segmented reductions: a block for each node and row.
extern "C" __global__ void reduce_boxes(const int* level, const int4* ranges, int chunk_capacity, const float* chunk_boxes, int* boxes) {
    const int jobs = level[LEVEL_NODES] * BOX_WORDS;
    for (int job = block_index(); job < jobs; job += block_count()) {
        const int slot = job / BOX_WORDS, row = job % BOX_WORDS;
        const int4 range = ranges[slot];
        const float* at = chunk_boxes + row * (int64)chunk_capacity + range.w;
        float found = row < 3 ? FLOAT_MAX : -FLOAT_MAX;
        for (int i : block_stride(chunks_of(range.y))) found = row < 3 ? min(found, at[i]) : max(found, at[i]);
        found = row < 3 ? block_min(found) : block_max(found);
        if (thread_index() == 0) boxes[job] = ordered_int(found);
    }
}

// References of each chunk on either side of the middle along each axis: six rows, zero past the last chunk.
extern "C" __global__ void count_chunks(const int* level, const float4* references, const float4* cells, const int4* ranges, const int* boxes,
                                        float empty_fraction, int max_depth, int ends_here, int chunk_capacity, int* chunk_counts) {
    SHARED int side_counts[SIDE_WORDS];
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    for (int i : grid_stride(SIDE_WORDS * chunk_capacity + 1)) {
        if (i % chunk_capacity >= chunks || i == SIDE_WORDS * chunk_capacity) chunk_counts[i] = 0;
    }
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk);
        const OpenNode node = load_open_node(cells, ranges, slot);
        for (int i : block_stride(SIDE_WORDS)) side_counts[i] = 0;
        block_sync();
        count_chunk(references, range_of_chunk(ranges[slot], chunk), cuts_of(node, load_box(boxes, slot), rules).cell, side_counts);
        block_sync();
        for (int i : block_stride(SIDE_WORDS)) chunk_counts[i * (int64)chunk_capacity + chunk] = side_counts[i];
        block_sync();
    }
}

__device__ __forceinline__ Fate fate_by_sums(const OpenNode& node, const Aabb& box, const Rows& chunk_sums, const LargeRules& rules, int small_count) {
    int side_counts[SIDE_WORDS];
#pragma unroll
    for (int row = 0; row < SIDE_WORDS; ++row) side_counts[row] = chunk_sums.between(row, node.first_chunk, node.first_chunk + chunks_of(node.count));
    return fate_of(node, box, side_counts, rules, small_count);
}

// What each node adds: six rows, zero past the last node.
extern "C" __global__ void count_nodes(const int* level, const float4* cells, const int4* ranges, const int* boxes, float empty_fraction, int max_depth,
                                       int small_count, int ends_here, int chunk_capacity, const int* chunk_sums, int slot_capacity, int* additions) {
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const int level_nodes = level[LEVEL_NODES];
    for (int slot : grid_stride(slot_capacity)) {
        Additions mine = {};
        if (slot < level_nodes) {
            mine = fate_by_sums(load_open_node(cells, ranges, slot), load_box(boxes, slot), {chunk_sums, chunk_capacity}, rules, small_count).additions();
        }
        const uint64 pairs[3] = {mine.nodes, mine.lists, mine.references};
#pragma unroll
        for (int pair = 0; pair < 3; ++pair) {
            additions[2 * pair * (int64)slot_capacity + slot] = high_of(pairs[pair]);
            additions[(2 * pair + 1) * (int64)slot_capacity + slot] = low_of(pairs[pair]);
        }
    }
}

// The children of a level, and their parents' plans. `sums`: what nodes add, summed up.
extern "C" __global__ void place_nodes(const int* level, const float4* cells, const int4* ranges, const int* boxes, float empty_fraction, int max_depth,
                                       int small_count, int ends_here, int half, int node_capacity, int working_capacity, int slot_capacity,
                                       int root_capacity, int chunk_capacity, const int* chunk_sums, const int* sums, int2* draft_nodes, int* draft_parent, float4* next_cells, int4* next_ranges, int* next_boxes,
                                       int* next_side_counts, float4* root_cells, int4* root_ranges, int4* plans) {
    const LargeRules rules = {empty_fraction, max_depth, ends_here};
    const Room room = {node_capacity, working_capacity, slot_capacity, root_capacity};
    const Destination to = destination_of(level, half, room, {draft_nodes, draft_parent, node_capacity}, {next_cells, next_ranges, slot_capacity},
                                          {root_cells, root_ranges, root_capacity}, next_boxes, next_side_counts);
    const Rows before = {sums, slot_capacity};
    for (int slot : grid_stride(level[LEVEL_NODES])) {
        const Fate fate = fate_by_sums(load_open_node(cells, ranges, slot), load_box(boxes, slot), {chunk_sums, chunk_capacity}, rules, small_count);
        const Additions at = {pair_of(before.between(0, 0, slot), before.between(1, 0, slot)), pair_of(before.between(2, 0, slot), before.between(3, 0, slot)),
                              pair_of(before.between(4, 0, slot), before.between(5, 0, slot))};
        store_plan(plans, slot, make_children_of(fate, at, to));
    }
}

// The counters after a level, from the sums and what the last slot adds: there is one more than nodes, so that it adds nothing.
extern "C" __global__ void end_level(const int* level, int half, int node_capacity, int working_capacity, int slot_capacity, int root_capacity, const int* sums,
                                     int* next_level, int* totals, int* counts) {
    for (int item : grid_stride(min(1, level[LEVEL_NODES]))) {
        const Rows rows = {sums, slot_capacity};
        const int last = slot_capacity - 1;
        const Additions all = {pair_of(rows.between(0, item, last), rows.between(1, 0, last)), pair_of(rows.between(2, 0, last), rows.between(3, 0, last)),
                               pair_of(rows.between(4, 0, last), rows.between(5, 0, last))};
        count_level(all, {node_capacity, working_capacity, slot_capacity - 1, root_capacity}, half, level, next_level, totals, counts);
    }
}

// Each chunk's references go to their children, in their order: a scan within the chunk, and the sums over chunks.
extern "C" __global__ void place_chunks(Primitives primitives, const int* level, const int* counts, const int4* ranges, const int4* plans, int clips,
                                        int chunk_capacity, const int* chunk_sums, float4* references) {
    if (counts[STATUS_NOW] != 0) return;
    const int level_nodes = level[LEVEL_NODES], chunks = level[LEVEL_CHUNKS];
    const Rows before_chunks = {chunk_sums, chunk_capacity};
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk), first_chunk = ranges[slot].w;
        const ChunkRange range = range_of_chunk(ranges[slot], chunk);
        const Plan plan = load_plan(plans, slot);
        const bool is_whole = plan.axis == LEAF_AXIS;
        const int left_base = plan.left_base + (is_whole ? CHUNK * (chunk - first_chunk) : before_chunks.between(plan.axis, first_chunk, chunk));
        const int right_base = plan.right_base + (is_whole ? 0 : before_chunks.between(3 + plan.axis, first_chunk, chunk));
        store_sides(primitives, plan, sides_of_chunk(references, plan, range), left_base, right_base, clips, references);
    }
}
