// Insertion one by one (Goldsmith and Salmon 1987): every primitive descends from the root to where it costs least,
// gets a new node there with what it found, and the boxes above grow. One thread inserts; a launch takes some of the
// primitives, so that none lasts long. What follows is parallel.
//
// While the tree grows, its node i below n is primitive i, its node n + i the inner node made with the i-th insertion
// but one. Launch order: begin_tree; insert as often as there are primitives to insert; end_leaves; emit_tree.
// from gpu.hierarchy.bvh.builders.incremental import MOST_HEIGHT
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

constexpr int NONE = -1;

// Half an area, one number for all that is past all floats, so that differences are numbers.
__device__ __forceinline__ float cost_area(const Aabb& box) {
    const float area = half_area(box);
    return area <= FLOAT_MAX ? area : FLOAT_MAX;
}

struct Growing {
    Pointer<float4> nodes;  // as canonical ones, links to nodes of this list; a primitive's are NONE
    Pointer<int> parent;
    Pointer<int2> sizes;  // primitives below, height
    Pointer<int> root;
    int n;

    __device__ CanonicalNode node(int id) const { return load_node(nodes, id); }
    __device__ Aabb box(int id) const { return load_node(nodes, id).aabb(); }
    __device__ int2 size(int id) const { return sizes[id]; }
    __device__ bool is_primitive(int id) const { return id < n; }

    // Whether something can go below a node at that depth: it is not a full tree down to the greatest depth yet.
    __device__ bool has_room(int id, int depth) const {
        return MOST_HEIGHT - depth > 30 || size(id).x < 1 << (MOST_HEIGHT - depth);
    }

    // What the whole tree's areas grow by if the primitive goes somewhere into a child: at least this.
    __device__ float growth_in(int child, const Aabb& added) const {
        const Aabb here = box(child);
        const float joined = cost_area(merge(here, added));
        return is_primitive(child) ? joined : joined - cost_area(here);
    }

    // The node beside which a primitive goes, from the root down while a child promises less than this place costs. A
    // tree that would become too high sends it on into a child that is not full; there is one wherever a node has no
    // room above it.
    __device__ int place_for(const Aabb& added) const {
        int here = root[0];
        for (int depth = 0; !is_primitive(here); ++depth) {
            const CanonicalNode at = node(here);
            const float joined = cost_area(merge(at.aabb(), added)), inherited = joined - cost_area(at.aabb());
            const bool left_room = has_room(at.left, depth + 1), right_room = has_room(at.right, depth + 1);
            const float left = inherited + growth_in(at.left, added), right = inherited + growth_in(at.right, added);
            const bool fits_here = depth + 1 + size(here).y <= MOST_HEIGHT;
            const bool is_cheaper = left < right || (left == right && size(at.left).x <= size(at.right).x);
            const bool is_left = left_room && (!right_room || is_cheaper);
            if (fits_here && ((!left_room && !right_room) || joined < (is_left ? left : right))) break;
            here = is_left ? at.left : at.right;
        }
        return here;
    }

    __device__ void insert(int primitive, int made) const {
        const Aabb added = box(primitive);
        const int beside = place_for(added), above = parent[beside];
        parent[made] = above;
        parent[beside] = parent[primitive] = made;
        store_node(nodes, made, empty_aabb(), beside, primitive);
        if (above == NONE) root[0] = made;
        else {
            const CanonicalNode at = node(above);
            store_node(nodes, above, at.aabb(), at.left == beside ? made : at.left,
                       at.left == beside ? at.right : made);
        }
        for (int id = made; id != NONE; id = parent[id]) {
            const CanonicalNode at = node(id);
            const int2 left = size(at.left), right = size(at.right);
            sizes[id] = make_int2(left.x + right.x, max(left.y, right.y) + 1);
            store_node(nodes, id, merge(box(at.left), box(at.right)), at.left, at.right);
        }
    }
};

extern "C" __global__ void begin_tree(Primitives primitives, float4* growing, int* growing_parent, int2* sizes,
                                      int* growing_root, int* arrived, uint8* ends, uint8* flags) {
    const int n = primitives.count;
    for (int i : grid_stride(n)) {
        store_node(growing, i, primitives.aabb(i), NONE, NONE);
        growing_parent[i] = NONE;
        sizes[i] = make_int2(1, 0);
        arrived[i] = 0;
        ends[i] = 0;
        if (i == 0) growing_root[0] = 0;
        else flags[i - 1] = 0;
    }
}

// Insertions [first, end): the i-th is primitive i * step modulo n, which meets each one once. The first primitive of
// all is the tree to begin with; `first` is 1 at least.
extern "C" __global__ void insert(int n, int first, int end, int step, float4* growing, int* growing_parent,
                                  int2* sizes, int* growing_root) {
    if (block_index() > 0 || thread_index() > 0) return;
    const Growing tree = {growing, growing_parent, sizes, growing_root, n};
    for (int i = first; i < end; ++i) tree.insert((int)((int64)i * step % n), n + i - 1);
}

// From below: which nodes that fit into a leaf become one. `ends` and `costs` by inner node; the last child to arrive
// goes on.
extern "C" __global__ void end_leaves(int n, int max_leaf_size, int by_cost, float traversal_cost,
                                      float intersection_cost, float4* growing, int* growing_parent, int2* sizes,
                                      int* growing_root, int* arrived, uint8* ends, float* costs) {
    const Growing tree = {growing, growing_parent, sizes, growing_root, n};
    for (int i : grid_stride(n)) {
        int id = growing_parent[i];
        while (id != NONE && tree.size(id).x <= max_leaf_size && atomic_arrive(arrived + (id - n)) == 1) {
            const CanonicalNode at = tree.node(id);
            const float area = cost_area(at.aabb());
            float split = traversal_cost * area;
            split += tree.is_primitive(at.left) ? intersection_cost * cost_area(tree.box(at.left)) : costs[at.left - n];
            split += tree.is_primitive(at.right) ? intersection_cost * cost_area(tree.box(at.right))
                                                 : costs[at.right - n];
            const float whole = intersection_cost * area * (float)tree.size(id).x;
            ends[id - n] = !by_cost || whole <= split ? 1 : 0;
            costs[id - n] = ends[id - n] ? whole : split;
            id = growing_parent[id];
        }
    }
}

struct Emitter {
    Growing tree;
    Pointer<const uint8> ends;

    __device__ bool is_leaf_node(int id) const { return tree.is_primitive(id) || ends[id - tree.n]; }
    // The first reference of a node: all that lies left of its way up. `is_inside`: a node above is a leaf.
    __device__ int first_below(int id, bool& is_inside) const {
        int first = 0;
        is_inside = false;
        for (int above = tree.parent[id]; above != NONE; above = tree.parent[above]) {
            const CanonicalNode at = tree.node(above);
            if (at.right == id) first += tree.size(at.left).x;
            is_inside = is_inside || ends[above - tree.n];
            id = above;
        }
        return first;
    }
    __device__ int child_word(int id, int first, bool is_left) const {
        const int count = tree.size(id).x;
        return is_leaf_node(id) ? leaf_child(first, count) : node_over(first, first + count - 1, is_left, false);
    }
};

// Order and links; ids follow from the ranges of references (range_links.cuh).
extern "C" __global__ void emit_tree(int n, float4* growing, int* growing_parent, int2* sizes, int* growing_root,
                                     const uint8* ends, int* order, float4* nodes, int* parent, uint8* flags,
                                     int* root) {
    const Emitter emitter = {{growing, growing_parent, sizes, growing_root, n}, ends};
    const Growing& tree = emitter.tree;
    for (int i : grid_stride(2 * n - 1)) {
        bool is_inside;
        const int first = emitter.first_below(i, is_inside), count = tree.size(i).x, above = growing_parent[i];
        if (above == NONE) root[0] = emitter.is_leaf_node(i) ? leaf_child(0, n) : 0;
        if (i < n) order[first] = i;
        if (is_inside || emitter.is_leaf_node(i)) continue;
        const CanonicalNode at = tree.node(i);
        const int middle = first + tree.size(at.left).x;
        const bool is_left = above != NONE && tree.node(above).left == i;
        const int node_id = node_over(first, first + count - 1, is_left, above == NONE);
        const int left = emitter.child_word(at.left, first, true), right = emitter.child_word(at.right, middle, false);
        store_node(nodes, node_id, empty_aabb(), left, right);
        flags[node_id] = NODE_EXISTS;
        if (above == NONE) parent[node_id] = NONE;
        if (!is_leaf(left)) parent[left] = node_id;
        if (!is_leaf(right)) parent[right] = node_id;
    }
}
