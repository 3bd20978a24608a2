// Which cells attract which as a whole, and which leaves body by body: a dual traversal of the tree with itself, a
// depth after the other (Dehnen 2002; Warren and Salmon's lists). A cell goes through the pairs that its parent left
// open; each cell's lists are its own, first counted, then written, so that they do not depend on who comes first.
//
// Both sides of a pair decide alike: it is far by both radii, else the larger cell is opened, or both where they are
// equal. So each is in the other's list, and momentum is kept.
//
// Unit constant: MOST_PAIRS, of a kind.
// from gpu.nbody.lists import Lists, TOTALS
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"

// A place so far behind the first one of a list, or its end. Prefix sums that passed 2^31 are negative, and lie behind
// every end.
__device__ __forceinline__ int place_within(int first, int behind, int room) {
    const unsigned place = (unsigned)first + (unsigned)behind;
    return place < (unsigned)room ? (int)place : room;
}

struct CountPairs {
    int open = 0, far = 0, near = 0;

    __device__ __forceinline__ void on_open(int) { ++open; }
    __device__ __forceinline__ void on_far(int) { ++far; }
    __device__ __forceinline__ void on_near(int) { ++near; }
};
struct ListOpen {
    int* next;
    const int* end;

    __device__ __forceinline__ void on_open(int node) {
        if (next < end) *next++ = node;
    }
    __device__ __forceinline__ void on_far(int) {}
    __device__ __forceinline__ void on_near(int) {}
};
struct ListPairs {
    int *next_far, *next_near;

    __device__ __forceinline__ void on_open(int) {}
    __device__ __forceinline__ void on_far(int node) { *next_far++ = node; }
    __device__ __forceinline__ void on_near(int node) { *next_near++ = node; }
};

struct Cells {
    const PointTreeView& tree;
    const float4* centres;
    float inverse_angle;  // 1 / theta

    __device__ __forceinline__ bool is_leaf(int node) const { return tree.child_count[node] == 0; }
    __device__ __forceinline__ bool is_far(float4 a, float4 b) const {
        const float3 away = make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
        const float reach = (a.w + b.w) * inverse_angle;
        return dot(away, away) > reach * reach;
    }
};

// The pairs of `node` with `from`, and with the cells below it that are opened on this side.
template <class OnPair>
__device__ __forceinline__ void pair_up(const Cells& cells, int node, int from, bool opens_first, OnPair& on_pair) {
    const PointTreeView& tree = cells.tree;
    const float4 centre = cells.centres[node];
    const int level = tree.level[node];
    const bool is_leaf = cells.is_leaf(node);
    int next[MAX_DEPTH + 2], last[MAX_DEPTH + 2], top = 0;  // siblings to come, of each depth
    next[0] = opens_first ? tree.first_child[from] : from;
    last[0] = opens_first ? next[0] + tree.child_count[from] : from + 1;
    while (top >= 0) {
        if (next[top] == last[top]) {
            --top;
            continue;
        }
        const int other = next[top]++;
        const bool is_other_leaf = cells.is_leaf(other);
        if (cells.is_far(centre, cells.centres[other])) {
            on_pair.on_far(other);
        } else if (is_leaf && is_other_leaf) {
            on_pair.on_near(other);
        } else if (!is_other_leaf && (is_leaf || tree.level[other] < level)) {
            ++top;
            next[top] = tree.first_child[other];
            last[top] = next[top] + tree.child_count[other];
        } else {
            on_pair.on_open(other);
        }
    }
}

template <class OnPair>
__device__ __forceinline__ void pair_all(const Cells& cells, const Lists& lists, int node, OnPair& on_pair) {
    const int parent = cells.tree.parent[node];
    if (parent < 0) {
        pair_up(cells, node, node, false, on_pair);
        return;
    }
    const int first = lists.first_open[parent], last = place_within(first, lists.open_count[parent], lists.open_room);
    for (int i = place_within(first, 0, lists.open_room); i < last; ++i) {
        const int from = lists.open[i];
        const bool opens_both = cells.tree.level[from] == cells.tree.level[parent] && !cells.is_leaf(from);
        pair_up(cells, node, from, opens_both, on_pair);
    }
}

// How many pairs the nodes of a depth have.
extern "C" __global__ void count_pairs(PointTreeView tree, int depth, const float4* centres, float inverse_angle,
                                       Lists lists, int* open_count, int* far_count, int* near_count) {
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    const Cells cells = {tree, centres, inverse_angle};
    for (int i : grid_stride(count)) {
        CountPairs counted;
        pair_all(cells, lists, first + i, counted);
        open_count[first + i] = counted.open;
        far_count[first + i] = counted.far;
        near_count[first + i] = counted.near;
    }
}

// The pairs that they leave to their children.
extern "C" __global__ void list_open(PointTreeView tree, int depth, const float4* centres, float inverse_angle,
                                     Lists lists, int* open) {
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    const Cells cells = {tree, centres, inverse_angle};
    for (int i : grid_stride(count)) {
        const int begin = place_within(lists.first_open[first + i], 0, lists.open_room);
        const int end = place_within(begin, lists.open_count[first + i], lists.open_room);
        ListOpen listed = {open + begin, open + end};
        pair_all(cells, lists, first + i, listed);
    }
}

// Adds to `total` what the list of a node, from `first` on, says of all lists of its kind: the last one where they end,
// each whether they are longer than can be counted.
__device__ __forceinline__ void judge_list(int first, int count, int room, bool is_last, int* total, int* lacking) {
    const int end = (int)((unsigned)first + (unsigned)count);
    const bool is_too_long = first < 0 || end < 0;
    if (is_too_long || is_last) atomic_max(total, is_too_long ? MOST_PAIRS : end);
    if (is_too_long || (is_last && end > room)) atomic_max(lacking, 1);
}

// What the lists need in all, and what they lack; both are 0 before. Places are where a scan left them: of 32 bits, so
// sums past 2^31 are negative for some node before they could be small again, for none has that many pairs by itself.
extern "C" __global__ void judge_lists(PointTreeView tree, Lists lists, const int* first_far, const int* far_count,
                                       const int* first_near, const int* near_count, int* totals, int* lacking) {
    const int count = tree.counts[TREE_COUNTS::nodes];
    if (block_index() == 0 && thread_index() == 0 && tree.counts[TREE_COUNTS::status] != 0)
        atomic_max(lacking, tree.counts[TREE_COUNTS::status]);
    for (int i : grid_stride(count)) {
        const bool is_last = i == count - 1;
        judge_list(lists.first_open[i], lists.open_count[i], lists.open_room, is_last, totals + TOTALS::open, lacking);
        judge_list(first_far[i], far_count[i], lists.far_room, is_last, totals + TOTALS::far, lacking);
        judge_list(first_near[i], near_count[i], lists.near_room, is_last, totals + TOTALS::near, lacking);
    }
}

// The far and near cells of all nodes; nothing where there is no room.
extern "C" __global__ void list_pairs(PointTreeView tree, const float4* centres, float inverse_angle, Lists lists,
                                      const int* lacking, const int* first_far, const int* first_near, int* far,
                                      int* near) {
    const Cells cells = {tree, centres, inverse_angle};
    for (int node : grid_stride(*lacking != 0 ? 0 : tree.counts[TREE_COUNTS::nodes])) {
        ListPairs listed = {far + first_far[node], near + first_near[node]};
        pair_all(cells, lists, node, listed);
    }
}
