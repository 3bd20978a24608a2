// The octree over points level by level (Goradia et al. 2008, section 5): the points of a node are divided along its
// longest axis, the halves along the second and the quarters along the third, pointers are moved instead of points, and
// children that hold points become the nodes of the next level, counted before they are written. `order` holds the
// pointers; the points of a node are a range of them, the parts of a node one after the other in it.
//
// A level is divided by all points at once, or by a thread a node (`divide_alone`), as the paper does. All at once, the
// three axes are one move: which eighth of its node each point is in, prefix sums for each eighth, and a move that
// keeps the order of those before. Where half of the points are on each side they are sorted, axis by axis.
#include "gpu/device/block.cuh"
#include "gpu/device/aabb.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/octree/top_down.cuh"

constexpr int RUN = 64;  // points that one thread bounds before it tells their node

// -- before and after the levels -----------------------------------------------------------------------------------
// Points that are not finite come last: `is_upper` is what they are divided by.
extern "C" __global__ void flag_dropped(const float* positions, int width, int n, int* order, int* is_upper) {
    const Given given = {positions, width, nullptr};
    for (int i : grid_stride(n + 1)) {
        is_upper[i] = i < n && !is_finite(given.point(i)) ? 1 : 0;
        if (i < n) order[i] = i;
    }
}

extern "C" __global__ void begin_tree(const int* is_upper, const int* before, int n, const int* order, int* moved,
                                      int* owner, int* counts, uint64* code, int* level, int* parent, int* first_point,
                                      int* point_count, int* depth_first) {
    const int dropped = before[n], kept = n - dropped;
    for (int i : grid_stride(n + 1)) {
        if (i < n) {
            moved[is_upper[i] ? kept + before[i] : i - before[i]] = order[i];
            owner[i] = i < kept ? 0 : -1;
            continue;
        }
        counts[TREE_COUNTS::points] = point_count[0] = kept;
        counts[TREE_COUNTS::dropped] = dropped;
        counts[TREE_COUNTS::needed] = counts[TREE_COUNTS::depths] = 1;
        code[0] = 0;
        level[0] = first_point[0] = depth_first[0] = 0;
        parent[0] = -1;
        for (int d = 1; d < MAX_DEPTH + 2; ++d) depth_first[d] = 1;
    }
}

// `codes` name the leaf of each point: its path, followed by zeros. No tree, where a level did not fit.
extern "C" __global__ void finish_tree(const float* positions, const float* values, int width, int n,
                                       const int* last_order, const int* owner, const uint64* code, const int* level,
                                       const int* first_child, float4* points, int* order, uint64* codes, int* counts,
                                       int* depth_first) {
    const bool is_whole = counts[TREE_COUNTS::status] == 0;
    const int nodes = is_whole ? counts[TREE_COUNTS::needed] : 0;
    const Given given = {positions, width, nullptr};
    int leaves = 0;
    for (int i : grid_stride(max(n, nodes))) {
        if (i < nodes && first_child[i] < 0) ++leaves;
        if (i >= n) continue;
        const int id = last_order[i], leaf = owner[i];
        const float3 point = given.point(id);
        const float value = values != nullptr ? values[id] : width > 3 ? positions[(int64)id * width + 3] : 0.0f;
        points[i] = make_float4(point.x, point.y, point.z, value);
        order[i] = id;
        codes[i] = leaf < 0 ? 1ull << 3 * BITS : code[leaf] << 3 * (BITS - level[leaf]);
    }
    leaves = block_sum(leaves);
    if (thread_index() != 0) return;
    atomic_add(counts + TREE_COUNTS::leaves, leaves);
    if (block_index() != 0) return;
    counts[TREE_COUNTS::nodes] = nodes;
    for (int d = 0; d < MAX_DEPTH + 2 && !is_whole; ++d) depth_first[d] = 0;
}

// -- a level -------------------------------------------------------------------------------------------------------
extern "C" __global__ void begin_boxes(const int* depth_first, int depth, int* boxes) {
    const int first = depth_first[depth];
    for (int i : grid_stride(6 * (depth_first[depth + 1] - first)))
        boxes[6 * (int64)first + i] = ordered_int(i % 6 < 3 ? FLOAT_MAX : -FLOAT_MAX);
}

__device__ __forceinline__ void grow_box(int* box, const Aabb& by) {
    for (int axis = 0; axis < 3; ++axis) {
        atomic_min_float(box + axis, along(by.lower, axis));
        atomic_max_float(box + 3 + axis, along(by.upper, axis));
    }
}
extern "C" __global__ void bound_nodes(const float* positions, int width, const int* order, const int* owner,
                                       const int* counts, const int* depth_first, int depth, int* boxes) {
    const Given given = {positions, width, nullptr};
    const int points = counts[TREE_COUNTS::points], first = depth_first[depth];
    if (first == depth_first[depth + 1]) return;
    for (int run : grid_stride((points + RUN - 1) / RUN)) {
        int node = -1;
        Aabb box = empty_aabb();
        for (int i = run * RUN; i < min(points, run * RUN + RUN); ++i) {
            if (owner[i] != node) {
                if (node >= first) grow_box(boxes + 6 * (int64)node, box);
                node = owner[i];
                box = empty_aabb();
            }
            box = grow(box, given.point(order[i]));
        }
        if (node >= first) grow_box(boxes + 6 * (int64)node, box);
    }
}

// Which eighth of its node each point is in, a bit an axis, 32 points a word, and how many points of each eighth a word
// has. `words`: one more than n / 32, so that every place has one, the end too. Points of nodes that are not divided
// are nobody's, and counted in the first eighth.
extern "C" __global__ void part_points(const float* positions, int width, const uint64* given_codes, const int* order,
                                       const int* owner, const int* first_point, const int* point_count,
                                       const int* depth_first, const int* boxes, int depth, int leaf_points, int n,
                                       int words, unsigned* planes, int* tallies) {
    const Given given = {positions, width, given_codes};
    const Level level = {first_point, point_count, depth_first, boxes, nullptr, depth, leaf_points};
    const int warp = thread_index() / WARP_LANES, warps = block_threads() / WARP_LANES;
    if (level.first() == level.end()) return;
    for (int word = block_index() * warps + warp; word < words; word += block_count() * warps) {
        const int first = word * TILE_ITEMS, count = min(TILE_ITEMS, n - first);
        TileValues<int> parts;
        for (int i : lane_stride(count)) {
            const int node = owner[first + i];
            parts[i] = level.is_divided(node) ? part_in(given, order[first + i], level.box(node), depth) : 0;
        }
        const Planes of = {tile_ballot(count, [&](int i) { return (parts[i] & 4) != 0; }),
                           tile_ballot(count, [&](int i) { return (parts[i] & 2) != 0; }),
                           tile_ballot(count, [&](int i) { return (parts[i] & 1) != 0; })};
        const unsigned all = count < TILE_ITEMS ? (1u << count) - 1u : ~0u;
        for (int part : lane_stride(8)) tallies[part * words + word] = __popc(of.part(part) & all);
        for (int axis : lane_stride(3)) planes[3 * word + axis] = axis == 0 ? of.a : axis == 1 ? of.b : of.c;
    }
}

// Where the parts of each node begin. `before`: the prefix sums of the tallies.
extern "C" __global__ void divide_nodes(const unsigned* planes, const int* before, int words, const int* first_point,
                                        const int* point_count, const int* depth_first, const int* boxes, int depth,
                                        int leaf_points, int* begins) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    const PartSums sums = {planes, before, words};
    for (int i : grid_stride(level.end() - level.first())) {
        const int node = level.first() + i;
        if (!level.is_inner(node)) continue;
        int at = first_point[node];
        for (int part = 1; part < 8; ++part) {
            at += sums.before(level.end_of(node), part - 1) - sums.before(first_point[node], part - 1);
            begins[8 * (int64)node + part] = at;
        }
    }
}

// Pointers go to the part of their node that they are in, which is a child now. Nothing moves where the level did not
// fit.
extern "C" __global__ void move_points(const unsigned* planes, const int* before, int words, const int* order,
                                       const int* owner, const int* first_point, const int* point_count,
                                       const int* depth_first, const int* boxes, int* begins, int depth,
                                       int leaf_points, const int* first_child, const int* counts, int n, int* moved,
                                       int* moved_owner) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    const PartSums sums = {planes, before, words};
    const bool is_whole = counts[TREE_COUNTS::status] == 0;
    for (int i : grid_stride(n)) {
        int node = owner[i], to = i;
        if (is_whole && level.is_divided(node)) {
            const int part = sums.part_of(i);
            to = level.begin(node, part) + sums.before(i, part) - sums.before(first_point[node], part);
            node = level.child_of(node, first_child[node], part);
        }
        moved[to] = order[i];
        moved_owner[to] = node;
    }
}

// -- half of the points on each side, axis by axis -----------------------------------------------------------------
// Where the upper half of each part begins.
extern "C" __global__ void halve_parts(const int* first_point, const int* point_count, const int* depth_first,
                                       const int* boxes, int depth, int leaf_points, int stage, int* begins) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    const int first = level.first(), parts = 1 << stage, width = 8 >> stage;
    for (int i : grid_stride((level.end() - first) * parts)) {
        const int node = first + i / parts, part = i % parts * width;
        if (!level.is_inner(node)) continue;
        const int begin = level.begin(node, part), end = level.begin(node, part + width);
        begins[8 * (int64)node + part + width / 2] = begin + (end - begin + 1) / 2;
    }
}

// Keys whose order puts the points of each part in order along its axis, and leaves the others where they are.
extern "C" __global__ void key_points(const float* positions, int width, const int* order, const int* owner,
                                      const int* first_point, const int* point_count, const int* depth_first,
                                      const int* boxes, int* begins, int depth, int leaf_points, int stage, int n,
                                      uint64* keys) {
    const Given given = {positions, width, nullptr};
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    for (int i : grid_stride(n)) {
        const int node = owner[i];
        unsigned along_axis = 0;
        int begin = i;
        if (level.is_divided(node)) {
            begin = level.begin(node, level.part_of(node, i, stage));
            const float coordinate = along(given.point(order[i]), level.box(node).axis(stage));
            along_axis = (unsigned)ordered_int(coordinate) ^ 0x80000000u;
        }
        keys[i] = (uint64)(unsigned)begin << 32 | along_axis;
    }
}

// What was sorted, in memory of its own: order and keys of the next sort lie in that of this one.
extern "C" __global__ void copy_order(const int* order, int n, int* moved) {
    for (int i : grid_stride(n)) moved[i] = order[i];
}

// -- the next level ------------------------------------------------------------------------------------------------
// How many parts of each node of the level hold points; 0 behind the last one.
extern "C" __global__ void count_children(const int* first_point, const int* point_count, const int* depth_first,
                                          const int* boxes, int* begins, int depth, int leaf_points, int n,
                                          int* children) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    const int first = level.first(), nodes = level.end() - first;
    for (int i : grid_stride(n + 1)) {
        int count = 0;
        for (int part = 0; part < 8 && i < nodes && level.is_inner(first + i); ++part)
            count += level.begin(first + i, part) < level.begin(first + i, part + 1) ? 1 : 0;
        children[i] = count;
    }
}

// The next level, unless it does not fit. `before`: the prefix sums of the counts.
extern "C" __global__ void write_children(const int* children, const int* before, const int* boxes, int* begins,
                                          int depth, int leaf_points, int n, int capacity, int* first_point,
                                          int* point_count, int* depth_first, uint64* code, int* level_of, int* parent,
                                          int* first_child, int* child_count, int* counts) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    const int first = level.first(), end = level.end(), all = end + before[n];
    for (int i : grid_stride(max(end - first, 1))) {
        if (i == 0 && all > end) {
            counts[TREE_COUNTS::needed] = all;
            counts[TREE_COUNTS::status] = all > capacity ? TREE_FULL : 0;
            counts[TREE_COUNTS::depths] = depth + 2;
            for (int d = depth + 2; d < MAX_DEPTH + 2 && all <= capacity; ++d) depth_first[d] = all;
        }
        if (i >= end - first) break;
        const int node = first + i, count = children[i];
        child_count[node] = count;
        first_child[node] = count > 0 ? end + before[i] : -1;
        int child = end + before[i];
        for (int part = 0; part < 8 && count > 0 && all <= capacity; ++part) {
            const int begin = level.begin(node, part), points = level.begin(node, part + 1) - begin;
            if (points == 0) continue;
            code[child] = code[node] << 3 | (unsigned)part;
            level_of[child] = depth + 1;
            parent[child] = node;
            first_point[child] = begin;
            point_count[child] = points;
            ++child;
        }
    }
}

// Points of divided nodes belong to their children now.
extern "C" __global__ void own_points(const int* first_point, const int* point_count, const int* depth_first,
                                      const int* boxes, int* begins, int depth, int leaf_points, const int* first_child,
                                      const int* counts, int n, int* owner) {
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    for (int i : grid_stride(n)) {
        const int node = owner[i];
        if (counts[TREE_COUNTS::status] != 0 || !level.is_divided(node)) continue;
        owner[i] = level.child_of(node, first_child[node], level.part_of(node, i, 3));
    }
}

// -- a thread a node -----------------------------------------------------------------------------------------------
__device__ __forceinline__ void swap(int* order, int a, int b) {
    const int other = order[a];
    order[a] = order[b];
    order[b] = other;
}

// The lower half first; where the upper one begins.
__device__ __forceinline__ int divide_part(const Given& given, int* order, int begin, int end, Box box, int level,
                                           int stage) {
    while (begin < end) {
        if (is_upper(given, order[begin], box, level, stage)) swap(order, begin, --end);
        else ++begin;
    }
    return begin;
}

// The same with half of the points, by quickselect: [begin, end) holds the middle all the time. Equal coordinates are
// kept apart from both sides, so that they do not make it slow.
__device__ __forceinline__ int halve_part(const Given& given, int* order, int begin, int end, int axis) {
    const int middle = begin + (end - begin + 1) / 2;
    while (end - begin > 1 && middle < end) {
        const float pivot = along(given.point(order[begin + (end - begin) / 2]), axis);
        int low = begin, high = end;
        for (int i = begin; i < high;) {
            const float at = along(given.point(order[i]), axis);
            if (at < pivot) swap(order, low++, i++);
            else if (at > pivot) swap(order, --high, i);
            else ++i;
        }
        if (middle < low) end = low;
        else if (middle >= high) begin = high;
        else break;
    }
    return middle;
}

extern "C" __global__ void divide_alone(const float* positions, int width, const uint64* given_codes, int* order,
                                        const int* first_point, const int* point_count, const int* depth_first,
                                        int* boxes, int* begins, int depth, int leaf_points) {
    const Given given = {positions, width, given_codes};
    const Level level = {first_point, point_count, depth_first, boxes, begins, depth, leaf_points};
    for (int i : grid_stride(level.end() - level.first())) {
        const int node = level.first() + i;
        if (point_count[node] <= leaf_points || depth >= BITS) continue;
        Aabb bounds = empty_aabb();
        for (int k = first_point[node]; k < level.end_of(node) && SPLIT != CELL_MIDDLE; ++k)
            bounds = grow(bounds, given.point(order[k]));
        for (int axis = 0; axis < 3 && SPLIT != CELL_MIDDLE; ++axis) {
            boxes[6 * (int64)node + axis] = ordered_int(along(bounds.lower, axis));
            boxes[6 * (int64)node + 3 + axis] = ordered_int(along(bounds.upper, axis));
        }
        const Box box = level.box(node);
        if (SPLIT != CELL_MIDDLE && box.is_point()) continue;
        for (int stage = 0; stage < 3; ++stage) {
            for (int part = 0; part < 8; part += 8 >> stage) {
                const int begin = level.begin(node, part), end = level.begin(node, part + (8 >> stage));
                begins[8 * (int64)node + part + (4 >> stage)] = SPLIT == MEDIAN ? halve_part(given, order, begin, end,
                                                                                             box.axis(stage))
                                                                                : divide_part(given, order, begin, end,
                                                                                              box, depth, stage);
            }
        }
    }
}
