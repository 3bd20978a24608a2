// Whether a tree is sound over boxes, proved by counting what speaks against it (proved_trees.py): nothing follows an
// index of it that was not looked at before. Of a binary tree of a file `children` are given, and `parent` is found; of
// a structure's table `parent` and `is_leaf` are, parents before children.
//
// Boxes of nodes lie `stride` floats apart, `lower` and `upper` each three of them; null: there are none. The alias
// Index is the type of the tree's numbers. Unit constants: MOST_DEPTH, nodes on a way; LONG_LEAF, references that a
// thread looks at; IS_TABLE; SPLITS, whether a primitive may be in several leaves.
// from gpu.analysis.proved_trees import Tally
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

__device__ __forceinline__ bool is_number(float value) { return value - value == 0.0f; }

// Adds up a number of each thread. By all threads of a block.
__device__ __forceinline__ void tell(uint64* at, int64 value) {
    const int64 sum = block_sum(value);
    if (thread_index() == 0 && sum > 0) atomic_add(at, (uint64)sum);
}

// Whether a box is not within another, by more than `slack`. Boxes of nothing are.
__device__ __forceinline__ bool stands_out(const float* low, const float* high, const float* around_low,
                                           const float* around_high, double slack) {
    bool is_out = false, is_any = true;
    for (int axis = 0; axis < 3; ++axis) {
        is_out = is_out || (double)low[axis] < (double)around_low[axis] - slack ||
                 (double)high[axis] > (double)around_high[axis] + slack;
        is_any = is_any && low[axis] <= high[axis];
    }
    return is_out && is_any;
}

// Which boxes are finite and not inverted, and the largest coordinate of these.
extern "C" __global__ void look_at_boxes(const float* boxes, int box_count, uint8* is_active, Tally* tally) {
    float largest = 0.0f;
    for (int at : grid_stride(box_count)) {
        const float* box = boxes + 6 * (int64)at;
        bool is_one = true;
        float most = 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            is_one = is_one && is_number(box[axis]) && is_number(box[axis + 3]) && box[axis] <= box[axis + 3];
            most = fmaxf(most, fmaxf(fabsf(box[axis]), fabsf(box[axis + 3])));
        }
        is_active[at] = is_one;
        if (is_one) largest = fmaxf(largest, most);
    }
    largest = block_max(largest);
    if (thread_index() == 0) atomic_max(&tally->largest_bits, (uint64)__float_as_int(largest));
}

// Of a tree of a file: whose child each node is. A child that is the root, or another's already, is no child of a tree.
extern "C" __global__ void note_parents(const Index* children, const Index* count, int node_count, int* parent,
                                        Tally* tally) {
    int64 shared = 0;
    for (int at : grid_stride(node_count)) {
        if (count[at] != 0) continue;
        for (int side = 0; side < 2; ++side) {
            const Index child = children[2 * (int64)at + side];
            if (child < 0 || child >= node_count) continue;
            shared += child == 0 || atomic_exchange(parent + child, at) != -1;
        }
    }
    tell(&tally->bad_links, shared);
}

// How many nodes lie above each, -1 where no way leads to the root.
extern "C" __global__ void climb(const int* parent, int node_count, int* level) {
    for (int at : grid_stride(node_count)) {
        int above = at, steps = 0;
        while (above > 0 && steps <= MOST_DEPTH) {
            above = parent[above];
            ++steps;
        }
        level[at] = above == 0 ? steps : -1;
    }
}

__device__ __forceinline__ int64 listed_by(const Index* count, const uint8* is_leaf, int at) {
    return IS_TABLE && is_leaf[at] == 0 ? 0 : (int64)count[at];
}

// What the leaves that are reached list in all.
extern "C" __global__ void count_listed(const Index* count, const uint8* is_leaf, const int* level, int node_count,
                                        Tally* tally) {
    int64 listed = 0, is_long = 0;
    for (int at : grid_stride(node_count)) {
        const int64 mine = listed_by(count, is_leaf, at);
        if (mine <= 0 || (!IS_TABLE && level[at] < 0)) continue;
        // A range that cannot be is a fault whatever it sums up to, and must not overflow the sum.
        listed += mine < 1 << 30 ? mine : 1 << 30;
        is_long += mine > LONG_LEAF;
    }
    tell(&tally->listed, listed);
    tell(&tally->long_leaves, is_long);
}

// Links and boxes of every node that is reached.
extern "C" __global__ void look_at_nodes(const Index* children, const Index* count, const int* parent, const int* level,
                                         const float* lower, const float* upper, int stride, int node_count,
                                         float slack, Tally* tally) {
    int64 reached = 0, links = 0, wrong_boxes = 0, out = 0;
    int deepest = -1;
    for (int at : grid_stride(node_count)) {
        const int above = parent[at];
        if (IS_TABLE) {
            if (above >= at || above < -1 || (above == -1) != (at == 0)) {
                ++links;
                continue;
            }
        } else {
            if (level[at] < 0) continue;
            deepest = max(deepest, level[at]);
            if (count[at] == 0) {
                const Index left = children[2 * (int64)at], right = children[2 * (int64)at + 1];
                links += left < 0 || left >= node_count || right < 0 || right >= node_count || left == right ||
                         level[at] >= MOST_DEPTH;
            }
            links += count[at] < 0;
        }
        ++reached;
        if (lower == nullptr) continue;
        const float* low = lower + (int64)stride * at;
        const float* high = upper + (int64)stride * at;
        const int64 holder = max(above, 0);
        out += stands_out(low, high, lower + stride * holder, upper + stride * holder, slack);
        bool is_box = true;
        for (int axis = 0; axis < 3; ++axis) {
            is_box = is_box && is_number(low[axis]) && is_number(high[axis]) && low[axis] <= high[axis];
        }
        wrong_boxes += !IS_TABLE && !is_box;
    }
    tell(&tally->reached, reached);
    tell(&tally->bad_links, links);
    tell(&tally->bad_boxes, wrong_boxes);
    tell(&tally->children_outside, out);
    deepest = block_max(deepest);
    if (thread_index() == 0 && deepest >= 0) atomic_max(&tally->deepest, (uint64)deepest);
}

// Whether an active primitive lies where its leaf says; of a split one, away from it, and its leaves together grow.
__device__ __forceinline__ bool is_held_wrong(const float* box, const float* low, const float* high, float slack,
                                              int* hull) {
    if (!SPLITS) return stands_out(box, box + 3, low, high, slack);
    bool is_away = false;
    for (int axis = 0; axis < 3; ++axis) {
        is_away = is_away || box[axis] > high[axis] + slack || box[axis + 3] < low[axis] - slack;
        atomic_min_float(hull + axis, low[axis]);
        atomic_max_float(hull + axis + 3, high[axis]);
    }
    return is_away;
}

// What the leaves that are reached list. `times`: how often each primitive is listed; `hull`: of split ones the box
// around their leaves, as ordered integers.
extern "C" __global__ void look_at_leaves(const Index* first, const Index* count, const uint8* is_leaf,
                                          const int* level, const Index* primitives, const float* lower,
                                          const float* upper, const float* boxes, const uint8* is_active, int stride,
                                          int node_count, int64 reference_count, int box_count, float slack, int* times,
                                          int* hull, Tally* tally) {
    int64 leaves = 0, references = 0, ranges = 0, ids = 0, held = 0, again = 0;
    for (int at : grid_stride(node_count)) {
        const int64 mine = listed_by(count, is_leaf, at);
        if (mine <= 0 || (!IS_TABLE && level[at] < 0)) continue;
        ++leaves;
        const int64 begin = first[at], offset = (int64)stride * at;
        if (begin < 0 || mine > reference_count || begin > reference_count - mine) {
            ++ranges;
            continue;
        }
        for (int64 place = begin; place < begin + mine; ++place) {
            const Index id = primitives[place];
            if (id < 0 || id >= box_count) {
                ++ids;
                continue;
            }
            again += atomic_add(times + id, 1) > 0;
            const bool is_counted = lower == nullptr || is_active[id] != 0;
            references += is_counted;
            if (lower == nullptr || !is_counted) continue;
            const int64 row = 6 * (int64)id;
            held += is_held_wrong(boxes + row, lower + offset, upper + offset, slack, SPLITS ? hull + row : nullptr);
        }
    }
    tell(&tally->leaves, leaves);
    tell(&tally->references, references);
    tell(&tally->bad_ranges, ranges);
    tell(&tally->bad_primitives, ids);
    tell(&tally->primitives_outside, held);
    if (!SPLITS) tell(&tally->duplicates, again);
}

// Every primitive is somewhere, and where it is split within its leaves together.
extern "C" __global__ void look_at_primitives(const float* boxes, const uint8* is_active, const int* times,
                                              const int* hull, int box_count, float slack, Tally* tally) {
    int64 lost = 0, out = 0;
    for (int at : grid_stride(box_count)) {
        if (is_active[at] == 0) continue;
        lost += times[at] == 0;
        if (hull == nullptr || times[at] == 0) continue;
        float around[6];
        for (int side = 0; side < 6; ++side) around[side] = ordered_float(hull[6 * (int64)at + side]);
        const float* box = boxes + 6 * (int64)at;
        out += stands_out(box, box + 3, around, around + 3, slack);
    }
    tell(&tally->lost, lost);
    tell(&tally->primitives_outside, out);
}
