// Treelets after Pantaleoni and Luebke, HLBVH (2010), section 3.2: every step takes LEVELS bits of the codes at once,
// and each interval that is still to be split becomes a treelet of up to 2^LEVELS - 1 nodes. A treelet is an array of
// gaps: the root has place 0, the children of place i the places 2 i + 1 and 2 i + 2 (the thesis prints 2 i and 2 i +
// 1, which gives the root itself as a child). A place without a gap is an interval that stays whole at that level.
//
// start_intervals once, then for every LEVELS levels of the codes a scan of `heads`, find_splits, emit_treelets; at
// last split_ties. Unit constants: CODE_BITS, LEVELS.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/code_levels.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

constexpr int PLACES = (1 << LEVELS) - 1;  // of a treelet
constexpr int NO_SPLIT = -1;
constexpr uint8 NO_LEVEL = 255;  // of a gap within a leaf

// One interval: all references. `heads` is 1 where an interval that is to be split begins; of each its end and its
// node's id.
extern "C" __global__ void start_intervals(int n, const uint64* keys, const int* prim_ids, int position_bits,
                                           int max_leaf_size, int* order, uint8* levels, int* heads, int* last_of_head,
                                           int* node_of_head, int* parent, uint8* flags, int* root) {
    const bool is_one_leaf = n <= max_leaf_size;
    for (int i : grid_stride(n)) {
        order[i] = prim_id_of(keys, prim_ids, i);
        heads[i] = i == 0 && !is_one_leaf;
        if (i < n - 1) {
            levels[i] = is_one_leaf ? NO_LEVEL : (uint8)level_of_gap(keys, i, position_bits);
            flags[i] = 0;
        }
        if (i > 0) continue;
        last_of_head[0] = n - 1;
        node_of_head[0] = 0;
        root[0] = is_one_leaf ? leaf_child(0, n) : 0;
        if (n > 1) parent[0] = -1;
    }
}

// Every gap of the levels [first_level, first_level + LEVELS) finds its place in its interval's treelet: on level k of
// the treelet it is the k bits that all references of the split range share. `before`: prefix sums of `heads`; they
// number the intervals.
extern "C" __global__ void find_splits(int n, const uint64* keys, int first_level, const uint8* levels,
                                       const int* heads, const int* before, int* interval_head, int* interval_count,
                                       int* splits) {
    for (int i : grid_stride(n)) {
        const int interval = before[i] + heads[i] - 1;
        if (heads[i]) interval_head[interval] = i;
        if (i == n - 1) *interval_count = interval + 1;
        const int level = i < n - 1 ? levels[i] - first_level : -1;
        if (level < 0 || level >= min(LEVELS, CODE_BITS - first_level)) continue;
        int prefix = 0;
        for (int k = 0; k < level; ++k) prefix = prefix * 2 + bit_at(keys, i, first_level + k);
        splits[(int64)interval * PLACES + (1 << level) - 1 + prefix] = i;
    }
}

// A range of references that waits for its part of a treelet: none where `last` < `first`.
struct Range {
    int first, last;
    bool is_left;
};

// Where intervals lie, and what a step changes of it.
struct Frontier {
    Pointer<int> heads;
    Pointer<int> last_of_head;
    Pointer<int> node_of_head;
    Pointer<uint8> levels;
    int max_leaf_size;

    __device__ void wait(const Range& range, int node_id) const {
        heads[range.first] = 1;
        last_of_head[range.first] = range.last;
        node_of_head[range.first] = node_id;
    }
    // Nothing is split any more inside a leaf.
    __device__ Range close_leaf(const Range& range) const {
        if (range.last - range.first + 1 > max_leaf_size) return range;
        for (int gap = range.first; gap < range.last; ++gap) levels[gap] = NO_LEVEL;
        return {0, -1, false};
    }
};

extern "C" __global__ void emit_treelets(int n, const uint64* keys, int first_level, const int* interval_head,
                                         const int* interval_count, int max_leaf_size, int* splits, uint8* levels,
                                         int* heads, int* last_of_head, int* node_of_head, float4* nodes, int* parent,
                                         uint8* flags) {
    const Links links = {nodes, parent, flags, max_leaf_size};
    const Frontier frontier = {heads, last_of_head, node_of_head, levels, max_leaf_size};
    for (int interval : grid_stride(*interval_count)) {
        const int head = interval_head[interval], root_id = node_of_head[head];
        Range ranges[2 * PLACES + 1];
        for (int place = 0; place < 2 * PLACES + 1; ++place) ranges[place] = {0, -1, false};
        ranges[0] = {head, last_of_head[head], root_id != head};
        heads[head] = 0;
#pragma unroll
        for (int place = 0; place < PLACES; ++place) {
            const Range range = ranges[place];
            int& slot = splits[(int64)interval * PLACES + place];
            const int gap = slot;
            slot = NO_SPLIT;
            if (range.last < range.first) continue;  // its gaps lie within a leaf
            if (gap != NO_SPLIT) {
                const bool is_root = range.first == 0 && range.last == n - 1;
                links.write_inner_node(node_over(range.first, range.last, range.is_left, is_root), range.first, gap,
                                       range.last);
                ranges[2 * place + 1] = frontier.close_leaf({range.first, gap, true});
                ranges[2 * place + 2] = frontier.close_leaf({gap + 1, range.last, false});
            } else {
                const int level = 31 - __clz(place + 1);
                if (bit_at(keys, range.first, first_level + level)) ranges[2 * place + 2] = range;
                else ranges[2 * place + 1] = range;
            }
        }
#pragma unroll
        for (int place = PLACES; place < 2 * PLACES + 1; ++place) {
            const Range range = ranges[place];
            if (range.last < range.first) continue;
            frontier.wait(range,
                          node_over(range.first, range.last, range.is_left, range.first == 0 && range.last == n - 1));
        }
    }
}

// Where codes are equal, positions go on: no step waits for another there, so every gap finds its node by itself. A
// node that is split at bit k of the positions reaches 2^k references to both sides, and ends with its code.
extern "C" __global__ void split_ties(int n, const uint64* keys, const uint8* levels, int max_leaf_size, float4* nodes,
                                      int* parent, uint8* flags) {
    const Links links = {nodes, parent, flags, max_leaf_size};
    for (int gap : grid_stride(n - 1)) {
        if (levels[gap] < CODE_BITS || levels[gap] == NO_LEVEL) continue;
        const uint64 code = code_of(keys[gap]);
        const int reach = 1 << (31 - __clz(gap ^ (gap + 1)));
        int first = max(gap + 1 - reach, 0), last = min(gap + reach, n - 1);
        for (int end = gap; first < end;) {
            const int middle = (first + end) / 2;
            if (code_of(keys[middle]) == code) end = middle;
            else first = middle + 1;
        }
        for (int start = gap + 1; start < last;) {
            const int middle = (start + last + 1) / 2;
            if (code_of(keys[middle]) == code) start = middle;
            else last = middle - 1;
        }
        if (links.is_leaf_range(first, last)) continue;
        const int before = first > 0 ? levels[first - 1] : -1, after = last < n - 1 ? levels[last] : -1;
        links.write_inner_node(node_over(first, last, after > before, first == 0 && last == n - 1), first, gap, last);
    }
}
