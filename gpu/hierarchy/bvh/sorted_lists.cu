// Top-down trees over three lists of all primitives, each sorted along one axis by centroids: whatever a set is
// split at, along any axis, is a place in a list, and the other two lists follow it stably, so that nothing is sorted
// twice (sweep_sah, object_median, spatial_median).
//
// One block splits a set. Its threads take neighbouring places of a list each, a segment; boxes before and behind a
// segment are merged in shared memory. A set is the same range of all three lists; sets of a level are listed in no
// order, which nobody can see in the result: node ids follow from ranges.
//
// Launch order: write_boxes; for each axis write_keys, a sort, take_list; then split_sets for every level. Unit
// constant: RULE.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

constexpr int SWEEP = 0, OBJECT_MEDIAN = 1, SPATIAL_MEDIAN = 2;  // RULE
constexpr int GREATEST_EXTENT = -1;
constexpr int MOST_SEGMENTS = RUNS_SERIAL ? 1 : 256;
// Sets of at most so many primitives are split to their end by the block that meets one: a thread that is alone finds
// their lists and boxes in its cache, where level by level all that is in between would be read before.
constexpr int ALONE = RUNS_SERIAL ? 1024 : 1;
constexpr int MOST_WAITING = ALONE / 2 + 1;

// [first, end) of the lists, and the share of nodes that is left.
__device__ __forceinline__ int4 set_over(int first, int end, bool is_left, int budget) {
    return make_int4(first, end, is_left ? 1 : 0, budget);
}

extern "C" __global__ void write_boxes(Primitives primitives, int level_count, int budget, int max_leaf_size,
                                       int by_cost, float4* boxes, int* counts, int4* sets, int* parent, uint8* flags,
                                       int* root) {
    const int n = primitives.count;
    for (int i : grid_stride(n)) {
        store_reference_box(boxes, i, primitives.aabb(i));
        if (i < n - 1) flags[i] = 0;
        if (i > 0) continue;
        const bool is_leaf = n <= (by_cost ? 1 : max_leaf_size);
        for (int level = 0; level <= level_count; ++level) counts[level] = level == 0 && !is_leaf ? 1 : 0;
        sets[0] = set_over(0, n, false, budget);
        root[0] = is_leaf ? leaf_child(0, n) : 0;
        if (n > 1) parent[0] = -1;
    }
}

__device__ __forceinline__ Aabb load_box(const float4* boxes, int prim_id) {
    const float4 lower = boxes[2 * (int64)prim_id], upper = boxes[2 * (int64)prim_id + 1];
    return {make_float3(lower.x, lower.y, lower.z), make_float3(upper.x, upper.y, upper.z)};
}

// Centroids in the order of unsigned integers, the primitive's number below; inactive ones come last.
extern "C" __global__ void write_keys(int n, int axis, const float4* boxes, uint64* keys) {
    for (int i : grid_stride(n)) {
        const Aabb box = load_box(boxes, i);
        const unsigned place = is_empty(box) ? 0xffffffffu
                                             : (unsigned)ordered_int(along(centre(box), axis)) ^ 0x80000000u;
        keys[i] = (uint64)place << 32 | (unsigned)i;
    }
}
// The first list is the order of the references until sets are split.
extern "C" __global__ void take_list(int n, const uint64* keys, int* list, int* order) {
    for (int i : grid_stride(n)) {
        list[i] = (int)(unsigned)keys[i];
        if (order != nullptr) order[i] = list[i];
    }
}

struct SetSplit {
    int axis, left_count;
    float cost;  // area times count of both sides, where the cost was asked for
};

struct Lists {
    Pointer<const float4> boxes;
    Pointer<const int> lists;  // one after the other
    int n;

    __device__ const int* list(int axis) const { return lists + (int64)axis * n; }
    __device__ Aabb box(int axis, int place) const { return load_box(boxes, list(axis)[place]); }

    // How many of a range come before the first one that is inactive, or whose centroid is past `at`.
    __device__ int count_until(int axis, int first, int end, float at) const {
        int low = first, high = end;
        while (low < high) {
            const int middle = (low + high) / 2;
            const Aabb here = box(axis, middle);
            if (!is_empty(here) && along(centre(here), axis) <= at) low = middle + 1;
            else high = middle;
        }
        return low - first;
    }
    // Half the extent of the active centroids along an axis, and their middle.
    __device__ float half_extent(int axis, int first, int end, float& middle) const {
        const int active = count_until(axis, first, end, FLOAT_MAX);
        if (active == 0) return 0.0f;
        const float low = along(centre(box(axis, first)), axis),
                    high = along(centre(box(axis, first + active - 1)), axis);
        middle = low * 0.5f + high * 0.5f;
        return high * 0.5f - low * 0.5f;
    }

    // The axis of the greatest extent, or the one whose turn it is if it has any; the first one where none has.
    __device__ int choose_axis(int first, int end, int turn, float& middle) const {
        int best = 0;
        float greatest = 0.0f;
        for (int i = 0; i < 3; ++i) {
            const int axis = turn == GREATEST_EXTENT ? i : (turn + i) % 3;
            float here = 0.0f;
            const float extent = half_extent(axis, first, end, here);
            if (!(extent > greatest)) continue;
            greatest = extent;
            best = axis;
            middle = here;
            if (turn != GREATEST_EXTENT) break;
        }
        return best;
    }
};

// What the threads of a block know of a list's segments.
struct Segments {
    Aabb boxes[MOST_SEGMENTS];

    // The cheapest place to split a set along one axis: as a word of planes.cuh. `behind`: scratch at the set's own
    // places.
    __device__ uint64 sweep(const Lists& lists, int axis, int first, int count, float* behind, float& area) {
        const int segment = thread_index(), segments = min(block_threads(), count);
        const int start = (int)((int64)count * segment / segments),
                  end = segment < segments ? (int)((int64)count * (segment + 1) / segments) : start;
        Aabb mine = empty_aabb();
#pragma unroll 1
        for (int i = start; i < end; ++i) mine = merge(mine, lists.box(axis, first + i));
        if (segment < segments) boxes[segment] = mine;
        block_sync();
        Aabb before = empty_aabb(), after = empty_aabb();
#pragma unroll 1
        for (int other = 0; other < segments; ++other) {
            if (other < segment) before = merge(before, boxes[other]);
            if (other > segment) after = merge(after, boxes[other]);
        }
        area = half_area(merge(merge(before, mine), after));
#pragma unroll 1
        for (int i = end - 1; i >= start; --i) {
            behind[first + i] = half_area(after) * (float)(count - 1 - i);
            after = merge(after, lists.box(axis, first + i));
        }
        uint64 best = NO_PLANE;
#pragma unroll 1
        for (int i = start; i < min(end, count - 1); ++i) {
            before = merge(before, lists.box(axis, first + i));
            const float cost = half_area(before) * (float)(i + 1) + behind[first + i];
            if (cost <= FLOAT_MAX) best = better(best, plane_word(cost, axis << REFERENCE_BITS | i));
        }
        block_sync();
        return best;
    }
};

// What splitting at a median costs; for sets that may be leaves, so small that every thread does it alone.
__device__ __forceinline__ float median_cost(const Lists& lists, int axis, int first, int left_count, int count,
                                             float& area) {
    Aabb left = empty_aabb(), right = empty_aabb();
    for (int i = 0; i < left_count; ++i) left = merge(left, lists.box(axis, first + i));
    for (int i = left_count; i < count; ++i) right = merge(right, lists.box(axis, first + i));
    area = half_area(merge(left, right));
    return half_area(left) * (float)left_count + half_area(right) * (float)(count - left_count);
}

struct Splitter {
    Lists lists;
    Stopping stopping;
    int turn, may_choose;  // may_choose: a set may be split anywhere, for it has levels and nodes left

    __device__ SetSplit choose(Segments& segments, float* behind, int first, int end, float& area) const {
        const int count = end - first;
        if (RULE == SWEEP && may_choose) {
            uint64 best = NO_PLANE;
#pragma unroll 1
            for (int axis = 0; axis < 3; ++axis)
                best = better(best, segments.sweep(lists, axis, first, count, behind, area));
            best = block_min(best);
            const int number = plane_number(best), place = number & ((1 << REFERENCE_BITS) - 1);
            if (best != NO_PLANE) return {number >> REFERENCE_BITS, place + 1, plane_cost(best)};
        }
        float middle = 0.0f;
        const int axis = lists.choose_axis(first, end, turn, middle);
        int left_count = count / 2;
        if (RULE == SPATIAL_MEDIAN && may_choose) {
            const int below = lists.count_until(axis, first, end, middle);
            if (below > 0 && below < count) left_count = below;
        }
        float cost = 0.0f;
        if (stopping.by_cost && count <= stopping.max_leaf_size)
            cost = median_cost(lists, axis, first, left_count, count, area);
        return {axis, left_count, cost};
    }
};

// What partition_list does, by a thread that is alone: without a branch, as the side of a primitive cannot be foreseen.
__device__ __forceinline__ void partition_alone(const int* list, int* partitioned, int first, int count, int left_count,
                                                const uint8* sides, int* order) {
    int left = first, right = first + left_count;
    for (int i = first; i < first + count; ++i) {
        const int prim_id = list[i], is_left = sides[prim_id], to = right + ((left - right) & -is_left);
        partitioned[to] = prim_id;
        if (order != nullptr) order[to] = prim_id;
        left += is_left;
        right += 1 - is_left;
    }
}

// The lists of a set, partitioned: those of the left side in front, each side in its order.
__device__ __forceinline__ void partition_list(const int* list, int* partitioned, int first, int count, int left_count,
                                               const uint8* sides, int* order) {
    if (RUNS_SERIAL) return partition_alone(list, partitioned, first, count, left_count, sides, order);
    int lefts = 0;
    for (int start = 0; start < count; start += block_threads()) {
        const int i = start + thread_index();
        const bool is_there = i < count;
        const int prim_id = is_there ? list[first + i] : 0;
        const bool is_left = is_there && sides[prim_id] != 0;
        int all;
        const int place = lefts + block_exclusive_scan(is_left ? 1 : 0, all);
        lefts += all;
        if (!is_there) continue;
        const int to = first + (is_left ? place : left_count + i - place);
        partitioned[to] = prim_id;
        if (order != nullptr) order[to] = prim_id;
    }
}

// A set that waits to be split, and how deep it lies.
struct Waiting {
    int4 set;
    int level;
};

// Sets of a level go from one copy of the lists to the other, those of the next level back.
struct Copies {
    Pointer<int> even, odd;  // what sets of even and of odd levels are read from
    int n;

    __device__ Pointer<const int> read_at(int level) const { return level % 2 == 0 ? even : odd; }
    __device__ int* written_at(int level, int axis) const { return (level % 2 == 0 ? odd : even) + (int64)axis * n; }
};

struct Levels {
    int count, last, in_turn;  // of sets that are split; the deepest one; whether axes take turns

    __device__ int left_below(int level) const { return count - level; }
    __device__ bool end_at(int level) const { return level >= last; }
    __device__ int turn_of(int level) const { return in_turn ? level % 3 : GREATEST_EXTENT; }
};

struct Sides {
    int4 left, right;
    bool has_left, has_right;  // whether they are to be split, too
};

struct SetSplitter {
    Pointer<const float4> boxes;
    Copies copies;
    Levels levels;
    Stopping stopping;
    Pointer<uint8> sides;
    Pointer<float> behind;
    Pointer<int> order;
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<uint8> flags;
    Pointer<int> root, long_leaves;

    // By all threads of a block.
    __device__ Sides split(Segments& segments, const Waiting& waiting) const {
        const int4 set = waiting.set;
        const int level = waiting.level, n = copies.n, first = set.x, end = set.y, count = end - first,
                  node_id = node_over(first, end - 1, set.z != 0, level == 0);
        const int least = levels.end_at(level) ? n : stopping.by_cost ? 1 : stopping.max_leaf_size;
        const Links links = {nodes, parent, flags, least, long_leaves};
        const bool may_choose = ceil_log2(count) < levels.left_below(level) && has_nodes_to_choose(count, set.w);
        const Splitter splitter = {{boxes, copies.read_at(level), n}, stopping, levels.turn_of(level), may_choose};
        bool ends = stopping.ends_at_once(count, set.w);
        SetSplit split = {0, count / 2, 0.0f};
        if (!ends) {
            float area = 0.0f;
            split = splitter.choose(segments, behind, first, end, area);
            ends = stopping.ends_by_cost(count, area, split.cost);
        }
        if (ends) {
            if (thread_index() == 0) links.close(node_id, first, end - 1, root);
            return {set, set, false, false};
        }
        const int* const along_axis = splitter.lists.list(split.axis);
        for (int i : block_stride(count)) sides[along_axis[first + i]] = i < split.left_count ? 1 : 0;
        block_sync();
        for (int axis = 0; axis < 3; ++axis) {
            partition_list(splitter.lists.list(axis), copies.written_at(level, axis), first, count, split.left_count,
                           sides, axis == 0 ? (int*)order : nullptr);
        }
        const int middle = first + split.left_count;
        if (thread_index() == 0) links.write_inner_node(node_id, first, middle - 1, end - 1);
        return {set_over(first, middle, true, share_of_left(set.w, split.left_count, count)),
                set_over(middle, end, false, share_of_right(set.w, split.left_count, count)),
                !links.is_leaf_range(first, middle - 1), !links.is_leaf_range(middle, end - 1)};
    }
};

// Sets that a block has still to split, the newest first. As they share no primitive there are never more.
struct Stack {
    Waiting waiting[MOST_WAITING];
    int count;

    __device__ void push(const int4& set, int level) { waiting[count++] = {set, level}; }
    __device__ Waiting pop() { return waiting[--count]; }
};

// One block a set. Sets that remain are told to the next level, but small ones that the block goes on with.
extern "C" __global__ void split_sets(int n, int level, int level_count, int last_level, int in_turn, int max_leaf_size,
                                      int by_cost, float traversal_cost, float intersection_cost, const float4* boxes,
                                      int* even_lists, int* odd_lists, int* counts, const int4* sets, int4* next_sets,
                                      uint8* sides, float* behind, int* order, float4* nodes, int* parent, uint8* flags,
                                      int* root, int* long_leaves) {
    SHARED Segments segments;
    const Stopping stopping = {max_leaf_size, by_cost, traversal_cost, intersection_cost};
    const SetSplitter splitter = {boxes,
                                  {even_lists, odd_lists, n},
                                  {level_count, last_level, in_turn},
                                  stopping,
                                  sides,
                                  behind,
                                  order,
                                  nodes,
                                  parent,
                                  flags,
                                  root,
                                  long_leaves};
    const int set_count = counts[level];
    for (int number = block_index(); number < set_count; number += block_count()) {
        Stack stack;
        stack.count = 0;
        stack.push(sets[number], level);
        while (stack.count > 0) {
            const Waiting waiting = stack.pop();
            const Sides found = splitter.split(segments, waiting);
            const bool goes_on = ALONE > 1 && waiting.set.y - waiting.set.x <= ALONE;
            if (goes_on && found.has_right) stack.push(found.right, waiting.level + 1);
            if (goes_on && found.has_left) stack.push(found.left, waiting.level + 1);
            if (!goes_on && thread_index() == 0) {
                const int place = atomic_add(counts + level + 1, (found.has_left ? 1 : 0) + (found.has_right ? 1 : 0));
                if (found.has_left) next_sets[place] = found.left;
                if (found.has_right) next_sets[place + (found.has_left ? 1 : 0)] = found.right;
            }
            block_sync();
        }
    }
}
