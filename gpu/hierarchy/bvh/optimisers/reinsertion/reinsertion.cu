// Parallel reinsertion (Meister and Bittner 2018): every subtree searches the whole tree for the place where it would
// cost least; those whose moves touch no common node move at once.
//
// A subtree is named by its edge, 2 * parent + side. When the subtree at an edge of p moves to edge e, its sibling
// takes p's place, and p goes to e, over what was there and the subtree. Who wants to move locks every node whose box
// or link would change, with a key of gain and edge; the greatest key wins a node, whoever comes first, and only who
// holds all its nodes moves. So gains add up, and the result depends on no order of arrival.
//
// A round is the file's launches in their order, from mark_round on. Should a round end with a dearer or too deep a
// tree all the same, it is taken back, and it was the last. In and out: the canonical tree, or several in its arrays,
// whose subtrees stay each in its own. Unit constant: SLACK (how much deeper the tree may get).
#include "gpu/device/block.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/climb.cuh"

// of the area of the node that is taken out: what rounding alone could show is none
constexpr int MOST_WAITING = 24;  // edges that a search keeps for later; what does not fit is left out
constexpr int MOST_VISITS = 512;  // of one search
constexpr int NOWHERE = -1;

// What the rounds hand on.
struct Progress {
    double cost;
    int most_height, is_running, takes_back, unused;
};

struct Reinserter {
    ReferencesOf<Records> references;
    Pointer<float4> nodes;
    Pointer<int> parent;

    __device__ Aabb box(int child) const { return child_aabb(nodes, references, child); }
    __device__ int link(int edge) const { return __float_as_int(nodes[2 * (int64)(edge >> 1) + (edge & 1)].w); }
    __device__ void set_link(int edge, int child) const {
        ((int*)(nodes + 2 * (int64)(edge >> 1) + (edge & 1)))[3] = child;
        if (!is_leaf(child)) parent[child] = edge >> 1;
    }
    __device__ int edge_of(int node_id) const {
        return 2 * parent[node_id] + (link(2 * parent[node_id]) == node_id ? 0 : 1);
    }
    __device__ bool is_root(int node_id) const { return parent[node_id] == NO_ONE; }
    __device__ int depth_of(int node_id) const {
        int depth = 0;
        for (; !is_root(node_id); node_id = parent[node_id]) ++depth;
        return depth;
    }
};

// The best place for one subtree.
struct Search {
    const Reinserter& tree;
    Aabb moved;
    float moved_area, best;
    int target, visits;

    // Try an edge: `gain` is what was gained so far on the way to it.
    __device__ void consider(int edge, float gain, const Aabb& there) {
        const float found = gain - half_area(merge(there, moved));
        if (found > best) {
            best = found;
            target = edge;
        }
    }
    // All edges from `edge` down, but those below which nothing better can lie.
    __device__ void descend(int edge, float gain) {
        int edges[MOST_WAITING];
        float gains[MOST_WAITING];
        int waiting = 0;
        while (gain - moved_area > best && visits < MOST_VISITS) {
            ++visits;
            const int child = tree.link(edge);
            const Aabb there = tree.box(child);
            consider(edge, gain, there);
            const float below = gain - (half_area(merge(there, moved)) - half_area(there));
            if (!is_leaf(child) && below - moved_area > best) {
                if (waiting < MOST_WAITING) {
                    edges[waiting] = 2 * child + 1;
                    gains[waiting++] = below;
                }
                edge = 2 * child;
                gain = below;
                continue;
            }
            do {
                if (waiting == 0) return;
                edge = edges[--waiting];
                gain = gains[waiting];
            } while (gain - moved_area <= best);
        }
    }
    // Beside the sibling's subtree, then beside every ancestor's, on the way to the root.
    __device__ void run(int edge) {
        int node_id = edge >> 1;
        const int sibling = tree.link(edge ^ 1);
        Aabb rest = tree.box(sibling);
        float gain = half_area(load_node(tree.nodes, node_id).aabb());
        best = LEAST_GAIN * gain;
        if (!is_leaf(sibling)) {
            const float below = gain - (half_area(merge(rest, moved)) - half_area(rest));
            descend(2 * sibling, below);
            descend(2 * sibling + 1, below);
        }
        while (!tree.is_root(node_id)) {
            const int above = tree.edge_of(node_id);
            descend(above ^ 1, gain);
            node_id = above >> 1;
            rest = merge(rest, tree.box(tree.link(above ^ 1)));
            gain += half_area(load_node(tree.nodes, node_id).aabb()) - half_area(rest);
            if (!tree.is_root(node_id)) consider(tree.edge_of(node_id), gain, rest);
        }
    }
};

// Every node whose box or link changes when the subtree at `edge` moves to `target`: `visit` says whether to go on.
template <class Visit>
__device__ bool for_each_touched(const Reinserter& tree, int edge, int target, const Visit& visit) {
    int from = edge >> 1, to = target >> 1;
    const int subtrees[3] = {tree.link(edge), tree.link(edge ^ 1), tree.link(target)};
    for (int subtree : subtrees) {
        if (!is_leaf(subtree) && !visit(subtree)) return false;
    }
    if (!visit(tree.parent[from])) return false;
    int from_depth = tree.depth_of(from), to_depth = tree.depth_of(to);
    while (from != to) {
        int& lower = from_depth > to_depth ? from : to;
        if (!visit(lower)) return false;
        lower = tree.parent[lower];
        --(from_depth > to_depth ? from_depth : to_depth);
    }
    return visit(from);
}

// -- a round ---------------------------------------------------------------------------------------------

extern "C" __global__ void mark_round(const float4* nodes, const uint8* flags, int node_capacity, uint8* starts,
                                      uint64* locks) {
    for (int node_id : grid_stride(node_capacity)) {
        mark_start(nodes, flags, node_id, starts);
        locks[node_id] = 0;
    }
}

// Boxes, heights and sums of inner areas, from below.
extern "C" __global__ void sum_areas(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                     float4* nodes, int* parent, const uint8* starts, int node_capacity, int2* subtrees,
                                     double* costs, int* waiting) {
    const ReferencesOf<Records> references = {{record_data}, reference_boxes, long_leaves};
    const Climb climb = {nodes, parent, waiting};
    for (int start : grid_stride(node_capacity)) {
        if (!starts[start]) continue;
        for (int node_id = start; node_id != NO_ONE; node_id = climb.next(node_id)) {
            const CanonicalNode node = load_node(nodes, node_id);
            const Aabb box = merge(child_aabb(nodes, references, node.left), child_aabb(nodes, references, node.right));
            store_node(nodes, node_id, box, node.left, node.right);
            store_subtree_of(
                subtrees, node_id,
                join_subtrees(load_subtree_of(subtrees, node.left), load_subtree_of(subtrees, node.right)));
            double cost = half_area(box);
            if (!is_leaf(node.left)) cost += costs[node.left];
            if (!is_leaf(node.right)) cost += costs[node.right];
            costs[node_id] = cost;
        }
    }
}

// One block: whether the last round's tree stays, or trees, whose costs are summed up.
extern "C" __global__ void judge_round(const int2* subtrees, const double* costs, const int* roots, int root_count,
                                       int is_first, double* progress) {
    double cost = 0.0;
    int height = 0;
    for (int i : block_stride(root_count)) {
        if (is_leaf(roots[i])) continue;
        cost += costs[roots[i]];
        height = max(height, load_subtree_of(subtrees, roots[i]).height);
    }
    cost = block_sum(cost);
    height = block_max(height);
    if (thread_index() == 0) {
        Progress& now = *(Progress*)progress;
        if (is_first) now = {cost, height + SLACK, height > 0, 0, 0};
        now.takes_back = now.is_running && (!(cost <= now.cost) || height > now.most_height);
        if (now.takes_back) now.is_running = 0;
        else if (now.is_running) now.cost = cost;
    }
}

// `saved`: both links and the parent of every node, as they were before the round to come.
extern "C" __global__ void save_or_take_back(const uint8* flags, int node_capacity, const double* progress,
                                             float4* nodes, int* parent, int* saved) {
    const Progress now = *(const Progress*)progress;
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        int* links = (int*)(nodes + 2 * (int64)node_id);
        int* kept = saved + 3 * (int64)node_id;
        if (now.takes_back) {
            links[3] = kept[0];
            links[7] = kept[1];
            parent[node_id] = kept[2];
        } else if (now.is_running) {
            kept[0] = links[3];
            kept[1] = links[7];
            kept[2] = parent[node_id];
        }
    }
}

// `keys`: gain and edge of each edge's subtree that wants to move, 0 of the others; `targets`: where to.
extern "C" __global__ void find_targets(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                        float4* nodes, int* parent, const uint8* flags, int node_capacity,
                                        const double* progress, uint64* keys, int* targets) {
    const Reinserter tree = {{{record_data}, reference_boxes, long_leaves}, nodes, parent};
    if (!((const Progress*)progress)->is_running) return;
    for (int edge : grid_stride(2 * node_capacity)) {
        keys[edge] = 0;
        targets[edge] = NOWHERE;
        if (!(flags[edge >> 1] & NODE_EXISTS) || tree.is_root(edge >> 1)) continue;
        const Aabb moved = tree.box(tree.link(edge));
        Search search = {tree, moved, half_area(moved), 0.0f, NOWHERE, 0};
        search.run(edge);
        if (search.target == NOWHERE) continue;
        targets[edge] = search.target;
        keys[edge] = (uint64)(unsigned)__float_as_int(search.best) << 32 | (unsigned)edge;
    }
}

extern "C" __global__ void lock_nodes(float4* nodes, int* parent, int node_capacity, const double* progress,
                                      const uint64* keys, const int* targets, uint64* locks) {
    const Reinserter tree = {{{nullptr}, nullptr}, nodes, parent};
    if (!((const Progress*)progress)->is_running) return;
    for (int edge : grid_stride(2 * node_capacity)) {
        const uint64 key = keys[edge];
        if (key == 0) continue;
        for_each_touched(tree, edge, targets[edge], [&](int node_id) {
            atomic_max(locks + node_id, key);
            return true;
        });
    }
}

extern "C" __global__ void check_locks(float4* nodes, int* parent, int node_capacity, const double* progress,
                                       const uint64* keys, int* targets, const uint64* locks) {
    const Reinserter tree = {{{nullptr}, nullptr}, nodes, parent};
    if (!((const Progress*)progress)->is_running) return;
    for (int edge : grid_stride(2 * node_capacity)) {
        const uint64 key = keys[edge];
        if (key == 0) continue;
        if (!for_each_touched(tree, edge, targets[edge], [&](int node_id) { return locks[node_id] == key; }))
            targets[edge] = NOWHERE;
    }
}

// The winners move; no two of them touch a common node.
extern "C" __global__ void move_subtrees(float4* nodes, int* parent, int node_capacity, const double* progress,
                                         const int* targets) {
    const Reinserter tree = {{{nullptr}, nullptr}, nodes, parent};
    if (!((const Progress*)progress)->is_running) return;
    for (int edge : grid_stride(2 * node_capacity)) {
        const int target = targets[edge];
        if (target == NOWHERE) continue;
        const int node_id = edge >> 1, moved_to = tree.link(target);
        tree.set_link(tree.edge_of(node_id), tree.link(edge ^ 1));
        tree.set_link(target, node_id);
        tree.set_link(edge ^ 1, moved_to);
    }
}
