// Treelet restructuring (Karras and Aila 2013): around every node, from below, up to 7 subtrees are put under the best
// of all binary trees over them, found by dynamic programming over their 127 subsets. A warp works on a treelet; lanes
// climb each for itself and are served one after the other.
//
// In and out: the canonical tree. Launch order is the file's. The nodes of a treelet change places among themselves;
// its root keeps its id. A node stands at most SLACK higher than before the climb. Unit constant: SLACK.
#include "gpu/device/block.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/climb.cuh"

constexpr int LEAVES = 7;
constexpr int SUBSETS = 1 << LEAVES;
constexpr int WARPS = RUNS_SERIAL ? 1 : 4;  // of a block

extern "C" __global__ void mark_starts_of_treelets(const float4* nodes, const uint8* flags, int node_capacity,
                                                   uint8* starts) {
    for (int node_id : grid_stride(node_capacity)) mark_start(nodes, flags, node_id, starts);
}

// One warp's treelet in shared memory: its leaves (subtrees of the tree), its inner nodes, and a table over all sets of
// leaves.
struct Treelet {
    Aabb boxes[LEAVES];
    int words[LEAVES];
    float areas_to_open[LEAVES];  // below 0 where a leaf of the treelet is a leaf of the tree
    int ids[LEAVES - 1], above[LEAVES - 1], sets[LEAVES - 1], heights[LEAVES - 1];
    float area[SUBSETS], cost[SUBSETS];
    uint8 part[SUBSETS];  // the half of the best split of a set that holds its first leaf
    int count;
    float old_cost;
};

struct Restructurer {
    ReferencesOf<Records> references;
    Pointer<float4> nodes;
    Pointer<int> parent;
    Pointer<int2> subtrees;

    __device__ float area_to_open(int word) const {
        return is_leaf(word) ? -1.0f : half_area(load_node(nodes, word).aabb());
    }
    __device__ void add(Treelet& treelet, int at, int word) const {
        treelet.words[at] = word;
        treelet.areas_to_open[at] = area_to_open(word);
    }

    // One lane: open the largest inner node until there are LEAVES leaves, or nothing is left to open.
    __device__ void form(Treelet& treelet, int root_id) const {
        treelet.count = 1;
        treelet.old_cost = 0.0f;
        add(treelet, 0, root_id);
        while (treelet.count < LEAVES) {
            int largest = 0;
            for (int i = 1; i < treelet.count; ++i) {
                if (treelet.areas_to_open[i] > treelet.areas_to_open[largest]) largest = i;
            }
            if (treelet.areas_to_open[largest] < 0.0f) return;
            treelet.old_cost += treelet.areas_to_open[largest];
            treelet.ids[treelet.count - 1] = treelet.words[largest];
            const CanonicalNode node = load_node(nodes, treelet.words[largest]);
            add(treelet, largest, node.left);
            add(treelet, treelet.count++, node.right);
        }
    }

    __device__ Aabb box_of_set(const Treelet& treelet, int set) const {
        Aabb box = empty_aabb();
#pragma unroll 1
        for (int i = 0; i < treelet.count; ++i) {
            if (set >> i & 1) box = merge(box, treelet.boxes[i]);
        }
        return box;
    }

    // The whole warp: areas of all sets, then their cheapest trees, small sets first.
    __device__ void fill_table(Treelet& treelet) const {
        const int set_count = 1 << treelet.count;
        for (int i : lane_stride(treelet.count)) treelet.boxes[i] = child_aabb(nodes, references, treelet.words[i]);
        warp_sync();
        for (int set : lane_stride(set_count)) {
            treelet.area[set] = half_area(box_of_set(treelet, set));
            treelet.cost[set] = 0.0f;
        }
        warp_sync();
        for (int size = 2; size <= treelet.count; ++size) {
            for (int set : lane_stride(set_count)) {
                if (__popc((unsigned)set) != size) continue;
                const int first = set & -set;
                float least = FLOAT_MAX;
                int best = first;
                for (int part = (set - 1) & set; part > 0; part = (part - 1) & set) {
                    const float cost = treelet.cost[part] + treelet.cost[set ^ part];
                    if ((part & first) && cost < least) {
                        least = cost;
                        best = part;
                    }
                }
                treelet.cost[set] = treelet.area[set] + least;
                treelet.part[set] = (uint8)best;
            }
            warp_sync();
        }
    }

    // One lane: which inner node stands over which set, from above, and how high; the height of the whole.
    __device__ int lay_out(Treelet& treelet) const {
        const int inner_count = treelet.count - 1;
        treelet.sets[0] = (1 << treelet.count) - 1;
        for (int at = 0, next = 1; at < inner_count; ++at) {
            const int part = treelet.part[treelet.sets[at]], halves[2] = {part, treelet.sets[at] ^ part};
            for (int half : halves) {
                if ((half & (half - 1)) == 0) continue;
                treelet.sets[next] = half;
                treelet.above[next++] = at;
            }
        }
        for (int at = 0; at < inner_count; ++at) treelet.heights[at] = 0;
        for (int at = inner_count - 1; at >= 0; --at) {
            const int part = treelet.part[treelet.sets[at]], halves[2] = {part, treelet.sets[at] ^ part};
            for (int half : halves) {
                if ((half & (half - 1)) == 0)
                    treelet.heights[at] = max(treelet.heights[at],
                                              1 + load_subtree_of(subtrees, treelet.words[__ffs(half) - 1]).height);
            }
            if (at > 0)
                treelet.heights[treelet.above[at]] = max(treelet.heights[treelet.above[at]], treelet.heights[at] + 1);
        }
        return treelet.heights[0];
    }

    // The child that stands over a set: a leaf of the treelet, or the inner node laid out for it.
    __device__ int child_over(const Treelet& treelet, int set) const {
        if ((set & (set - 1)) == 0) return treelet.words[__ffs(set) - 1];
        for (int at = 1; at < treelet.count - 1; ++at) {
            if (treelet.sets[at] == set) return treelet.ids[at];
        }
        return EMPTY_CHILD;  // never: every set of two and more has its node
    }

    __device__ void write(const Treelet& treelet, int first_height) const {
        for (int at = treelet.count - 2; at >= 0; --at) {
            const int set = treelet.sets[at], node_id = treelet.ids[at];
            const int left = child_over(treelet, treelet.part[set]),
                      right = child_over(treelet, set ^ treelet.part[set]);
            store_node(nodes, node_id, box_of_set(treelet, set), left, right);
            if (!is_leaf(left)) parent[left] = node_id;
            if (!is_leaf(right)) parent[right] = node_id;
            const int leaf_count = load_subtree_of(subtrees, left).leaf_count +
                                   load_subtree_of(subtrees, right).leaf_count;
            store_subtree_of(subtrees, node_id, {leaf_count, treelet.heights[at], first_height});
        }
    }

    // The whole warp restructures the treelet under a node.
    __device__ void visit(Treelet& treelet, int root_id) const {
        warp_sync();
        if (warp_lane() == 0) form(treelet, root_id);
        warp_sync();
        if (treelet.count < 3) return;
        fill_table(treelet);
        if (warp_lane() == 0 && treelet.cost[(1 << treelet.count) - 1] < treelet.old_cost * (1.0f - LEAST_GAIN)) {
            const int first_height = load_subtree_of(subtrees, root_id).first_height;
            if (lay_out(treelet) <= first_height + SLACK) write(treelet, first_height);
        }
        warp_sync();
    }
};

// `least_leaves`: of a subtree that is worth a treelet.
extern "C" __global__ void restructure_treelets(float4* record_data, const float4* reference_boxes,
                                                const int* long_leaves, float4* nodes, int* parent, const uint8* starts,
                                                int node_capacity, int least_leaves, int2* subtrees, int* waiting) {
    SHARED Treelet treelets[WARPS];
    Treelet& treelet = treelets[thread_index() / WARP_LANES];
    const Restructurer restructurer = {{{record_data}, reference_boxes, long_leaves}, nodes, parent, subtrees};
    const Climb climb = {nodes, parent, waiting};
    const int rounded = (node_capacity + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
    for (int start : grid_stride(rounded)) {
        int node_id = start < node_capacity && starts[start] ? start : NO_ONE;
        while (warp_any(node_id != NO_ONE)) {
            bool is_worth = false;
            if (node_id != NO_ONE) {
                const CanonicalNode node = load_node(nodes, node_id);
                const Subtree subtree = join_subtrees(load_subtree_of(subtrees, node.left),
                                                      load_subtree_of(subtrees, node.right));
                store_subtree_of(subtrees, node_id, subtree);
                is_worth = subtree.leaf_count >= least_leaves;
            }
            for (unsigned turns = warp_ballot(is_worth); turns != 0; turns &= turns - 1) {
                restructurer.visit(treelet, warp_broadcast(node_id, __ffs((int)turns) - 1));
            }
            if (node_id != NO_ONE) node_id = climb.next(node_id);
        }
    }
}
