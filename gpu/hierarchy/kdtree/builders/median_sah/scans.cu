// A level of large nodes by segmented scans and reductions, as Zhou has it (implementation I of Chang's paper): each
// step is a kernel, and what is summed up over chunks and nodes goes through the project's prefix sums. A segment's
// sums are differences: what comes before a chunk in its node is the chunk's sum less that of the node's first chunk.
#include "gpu/hierarchy/kdtree/builders/median_sah/stage.cuh"

constexpr int ADDITION_WORDS = 6;

// Rows of a number a chunk, or a node, side by side: sums of what comes before.
struct Rows {
    Pointer<int> sums;
    int length;

    __device__ __forceinline__ int& at(int row, int index) const { return sums[row * (int64)length + index]; }
    __device__ __forceinline__ int between(int row, int first, int last) const {
        return at(row, last) - at(row, first);
    }
};
__device__ __forceinline__ Rows chunk_rows(int* sums, int chunk_capacity) { return {sums, chunk_capacity}; }
__device__ __forceinline__ Rows node_rows(const LargeStage& stage) {
    return {stage.sums + SIDE_WORDS * (int64)stage.chunk_capacity, stage.slot_capacity};
}

// Boxes of chunks: six rows of floats.
extern "C" __global__ void box_chunks(LargeStage stage, int level) {
    const Level at = stage.level(level);
    const int level_nodes = at.nodes(), chunks = at.chunks();
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const Aabb box = box_of_chunk(stage.references,
                                      range_of_chunk(at.ranges[slot_of_chunk(at.ranges, level_nodes, chunk)], chunk));
        if (thread_index() != 0) continue;
        for (int axis = 0; axis < 3; ++axis) {
            stage.chunk_boxes[axis * (int64)stage.chunk_capacity + chunk] = along(box.lower, axis);
            stage.chunk_boxes[(3 + axis) * (int64)stage.chunk_capacity + chunk] = along(box.upper, axis);
        }
    }
}

// Six segmented reductions: a block for each node and row.
extern "C" __global__ void reduce_boxes(LargeStage stage, int level) {
    const Level at = stage.level(level);
    const int jobs = at.nodes() * BOX_WORDS;
    for (int job = block_index(); job < jobs; job += block_count()) {
        const int slot = job / BOX_WORDS, row = job % BOX_WORDS;
        const int4 range = at.ranges[slot];
        const float* boxes = stage.chunk_boxes + row * (int64)stage.chunk_capacity + range.w;
        float found = row < 3 ? FLOAT_MAX : -FLOAT_MAX;
        for (int i : block_stride(chunks_of(range.y))) found = row < 3 ? min(found, boxes[i]) : max(found, boxes[i]);
        found = row < 3 ? block_min(found) : block_max(found);
        if (thread_index() == 0) at.boxes[job] = ordered_int(found);
    }
}

// References of each chunk on either side of the middle along each axis: six rows, zero past the last chunk.
extern "C" __global__ void count_chunks(LargeStage stage, int level, int ends_here) {
    SHARED int side_counts[SIDE_WORDS];
    const Level at = stage.level(level);
    const LargeRules rules = stage.rules(ends_here);
    const Rows rows = chunk_rows(stage.sums, stage.chunk_capacity);
    const int level_nodes = at.nodes(), chunks = at.chunks();
    for (int i : grid_stride(SIDE_WORDS * stage.chunk_capacity)) {
        if (i % stage.chunk_capacity >= chunks) rows.sums[i] = 0;
    }
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(at.ranges, level_nodes, chunk);
        for (int i : block_stride(SIDE_WORDS)) side_counts[i] = 0;
        block_sync();
        count_chunk(stage.references, range_of_chunk(at.ranges[slot], chunk),
                    cuts_of(at.node(slot), at.box(slot), rules).cell, side_counts);
        block_sync();
        for (int i : block_stride(SIDE_WORDS)) rows.at(i, chunk) = side_counts[i];
        block_sync();
    }
}

// Counts of nodes, by segmented reductions, a warp each; and what each node adds: six rows, zero past the last node.
extern "C" __global__ void count_nodes(LargeStage stage, int level, int ends_here) {
    const Level at = stage.level(level);
    const Rows chunks = chunk_rows(stage.sums, stage.chunk_capacity), additions = node_rows(stage);
    const int level_nodes = at.nodes();
    for (int i : grid_stride(ADDITION_WORDS * stage.slot_capacity)) {
        if (i % stage.slot_capacity >= level_nodes) additions.sums[i] = 0;
    }
    for (int slot = block_index(); slot < level_nodes; slot += block_count()) {
        const OpenNode node = at.node(slot);
        int side_counts[SIDE_WORDS];
#pragma unroll
        for (int row = 0; row < SIDE_WORDS; ++row) {
            int count = 0;
            for (int i : block_stride(chunks_of(node.count))) count += chunks.at(row, node.first_chunk + i);
            side_counts[row] = warp_sum(count);
        }
        if (thread_index() != 0) continue;
#pragma unroll
        for (int row = 0; row < SIDE_WORDS; ++row) at.counts_of(slot)[row] = side_counts[row];
        const Additions mine =
            fate_of(node, at.box(slot), at.counts_of(slot), stage.rules(ends_here), stage.small_count).additions();
        const uint64 pairs[3] = {mine.nodes, mine.lists, mine.references};
#pragma unroll
        for (int pair = 0; pair < 3; ++pair) {
            additions.at(2 * pair, slot) = high_of(pairs[pair]);
            additions.at(2 * pair + 1, slot) = low_of(pairs[pair]);
        }
    }
}

// The children of a level, and their parents' plans, from what nodes add, summed up. The last node ends the level.
extern "C" __global__ void place_nodes(LargeStage stage, int level, int ends_here) {
    const Level at = stage.level(level);
    const Destination to = stage.destination(at);
    const Rows sums = node_rows(stage);
    const int level_nodes = at.nodes();
    for (int slot : grid_stride(level_nodes)) {
        const Fate fate = fate_of(at.node(slot), at.box(slot), at.counts_of(slot), stage.rules(ends_here),
                                  stage.small_count);
        Additions here = {pair_of(sums.between(0, 0, slot), sums.between(1, 0, slot)),
                          pair_of(sums.between(2, 0, slot), sums.between(3, 0, slot)),
                          pair_of(sums.between(4, 0, slot), sums.between(5, 0, slot))};
        store_plan(stage.plans, slot, make_children_of(fate, here, to));
        here.add(fate.additions());
        if (slot == level_nodes - 1)
            count_level(here, stage.room(), at.half, at.row, at.next_row, stage.totals, stage.counts);
    }
}

// Each chunk's references go to their children, in their order: a scan within the chunk, and the sums over chunks.
extern "C" __global__ void place_chunks(Primitives primitives, const int* levels, int level, const int* counts,
                                        const int4* ranges, const int4* plans, int clips, int chunk_capacity,
                                        int* chunk_sums, float4* references) {
    if (counts[STATUS_NOW] != 0) return;
    const int* row = levels + LEVEL_WORDS * level;
    const int level_nodes = row[LEVEL_NODES], chunks = row[LEVEL_CHUNKS];
    const Rows before_chunks = chunk_rows(chunk_sums, chunk_capacity);
    for (int chunk = block_index(); chunk < chunks; chunk += block_count()) {
        const int slot = slot_of_chunk(ranges, level_nodes, chunk), first_chunk = ranges[slot].w;
        const ChunkRange range = range_of_chunk(ranges[slot], chunk);
        const Plan plan = load_plan(plans, slot);
        const bool is_whole = plan.axis == LEAF_AXIS;
        const int left_base = plan.left_base + (is_whole ? CHUNK * (chunk - first_chunk)
                                                         : before_chunks.between(plan.axis, first_chunk, chunk));
        const int right_base = plan.right_base +
                               (is_whole ? 0 : before_chunks.between(3 + plan.axis, first_chunk, chunk));
        store_sides(primitives, plan, sides_of_chunk(references, plan, range), left_base, right_base, clips,
                    references);
    }
}
