// Split lists after Lauterbach et al., Fast BVH Construction on GPUs (2009), section 3.2. Where the codes of two
// neighbours are split at level h (0: the highest bit), their gap bounds intervals at level h and at every level below,
// so it gives one record (level, gap) to each. Sorted by level, stably, the list of a level holds the ends of its
// intervals from left to right: a record that splits something there finds both ends of the interval it splits beside
// itself. A record of an interval that stays whole is a singleton of the paper: it gets no node.
//
// In: keys in Morton order. Out: the canonical tree's topology. LEVELS levels are listed and sorted at a time, so that
// a gap has at most LEVELS records; launch order is the file's, the last three (and a scan and a sort between them)
// once for every LEVELS levels. Unit constants: CODE_BITS, LEVELS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/code_levels.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

// A record: the level within those that are sorted now, and the gap. NO_RECORD comes after all of them.
constexpr unsigned NO_RECORD = 0xffffffffu;
__device__ __forceinline__ unsigned split_record(int level, int gap) {
    return (unsigned)level << REFERENCE_BITS | (unsigned)gap;
}
__device__ __forceinline__ int level_of(unsigned record) { return (int)(record >> REFERENCE_BITS); }
__device__ __forceinline__ int gap_of(unsigned record) { return (int)(record & ((1u << REFERENCE_BITS) - 1u)); }

// The level at which each gap (between `gap` and `gap` + 1) splits its neighbours; equal codes are split by position,
// below every code bit.
extern "C" __global__ void find_levels(int n, const uint64* keys, const int* prim_ids, int position_bits,
                                       int max_leaf_size, int* order, uint8* levels, int* parent, int* root) {
    for (int i : grid_stride(n)) {
        order[i] = prim_id_of(keys, prim_ids, i);
        if (i == 0) {
            root[0] = n <= max_leaf_size ? leaf_child(0, n) : 0;
            if (n > 1) parent[0] = -1;
        }
        if (i == n - 1) continue;
        levels[i] = (uint8)level_of_gap(keys, i, position_bits);
    }
}

// The levels within [first_level, first_level + LEVELS) at which a gap has records. Below the levels at which both
// neighbours of a gap stand alone nothing is left to split, so its list ends there, or, as in the paper, at the last
// level there is (`level_count` more than 0).
struct Span {
    int first, count;
};
__device__ __forceinline__ Span span_of(const uint8* levels, int gap_count, int gap, int first_level, int level_count) {
    const int own = levels[gap], before = gap > 0 ? levels[gap - 1] : 0,
              after = gap + 1 < gap_count ? levels[gap + 1] : 0;
    const int end = level_count > 0 ? level_count - 1 : max(own, max(before, after));
    const int first = max(own, first_level), last = min(end, first_level + LEVELS - 1);
    return {first - first_level, max(last - first + 1, 0)};
}

extern "C" __global__ void count_records(int gap_count, const uint8* levels, int first_level, int level_count,
                                         int* counts) {
    for (int gap : grid_stride(gap_count))
        counts[gap] = span_of(levels, gap_count, gap, first_level, level_count).count;
}

// `offsets`: prefix sums of the counts. The rest of the list is filled with NO_RECORD.
extern "C" __global__ void write_records(int gap_count, const uint8* levels, int first_level, int level_count,
                                         const int* counts, const int* offsets, unsigned* records, int* record_count) {
    const int total = offsets[gap_count - 1] + counts[gap_count - 1];
    for (int i : grid_stride(gap_count * LEVELS)) {
        if (i >= total) records[i] = NO_RECORD;
        if (i >= gap_count) continue;
        const Span span = span_of(levels, gap_count, i, first_level, level_count);
        for (int k = 0; k < span.count; ++k) records[offsets[i] + k] = split_record(span.first + k, i);
        if (i == 0) *record_count = total;
    }
}

// Ids are Karras' (2012): a node hangs at the deeper one of the gaps beside it.
extern "C" __global__ void emit_nodes(int n, const uint8* levels, int first_level, const unsigned* records,
                                      const int* record_count, int max_leaf_size, float4* nodes, int* parent,
                                      uint8* flags) {
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int count = *record_count;
    for (int i : grid_stride(count)) {
        const unsigned record = records[i];
        const int gap = gap_of(record), level = level_of(record);
        if (levels[gap] != first_level + level) continue;
        const int first = i > 0 && level_of(records[i - 1]) == level ? gap_of(records[i - 1]) + 1 : 0;
        const int last = i + 1 < count && level_of(records[i + 1]) == level ? gap_of(records[i + 1]) : n - 1;
        const int before = first > 0 ? levels[first - 1] : -1, after = last < n - 1 ? levels[last] : -1;
        const int node_id = node_over(first, last, after > before, first == 0 && last == n - 1);
        if (links.is_leaf_range(first, last)) flags[node_id] = 0;
        else links.write_inner_node(node_id, first, gap, last);
    }
}
