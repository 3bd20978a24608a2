// Adds up the copies of counts that blocks wrote apart (count_nodes.cuh), into a NodeCount a slot, then the primitives'
// tests, then their hits. The copies stay as they are, and can be counted into further.
// from gpu.analysis.node_counts import COUNT_BITS, NodeCount, PRIMITIVE_BITS
#include "gpu/device/loops.cuh"

// -- two counts in a word --------------------------------------------------------------------------------------------
extern "C" __global__ void unpack_copies(const uint64* counts, int slot_count, int node_space, int primitive_count,
                                         int copies, NodeCount* of_slots, uint64* of_primitives) {
    const int64 length = 2 * (int64)slot_count + primitive_count;
    const uint64 low = ((uint64)1 << COUNT_BITS) - 1u;
    for (int at : grid_stride(slot_count)) {
        NodeCount sum = {};
        uint64 culled_or_tests = 0;
        for (int copy = 0; copy < copies; ++copy) {
            const uint64* words = counts + copy * length + 2 * (int64)at;
            sum.visits += words[0] & low;
            culled_or_tests += words[0] >> COUNT_BITS;
            sum.found += words[1] & low;
            sum.hits += words[1] >> COUNT_BITS;
        }
        if (at < node_space) sum.culled = culled_or_tests;
        else sum.tests = culled_or_tests;
        of_slots[at] = sum;
    }
    for (int at : grid_stride(primitive_count)) {
        uint64 tests = 0, hits = 0;
        for (int copy = 0; copy < copies; ++copy) {
            const uint64 word = counts[copy * length + 2 * (int64)slot_count + at];
            tests += word & (((uint64)1 << PRIMITIVE_BITS) - 1u);
            hits += word >> PRIMITIVE_BITS;
        }
        of_primitives[at] = tests;
        of_primitives[primitive_count + (int64)at] = hits;
    }
}

// -- a word a count --------------------------------------------------------------------------------------------------
extern "C" __global__ void sum_copies(const uint64* counts, int64 length, int copies, uint64* sums) {
    for (int at : grid_stride((int)length)) {
        uint64 sum = 0;
        for (int copy = 0; copy < copies; ++copy) sum += counts[copy * length + at];
        sums[at] = sum;
    }
}
