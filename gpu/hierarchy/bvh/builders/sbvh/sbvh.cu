// Top-down SAH with spatial splits, level by level: one block splits one set of references, and cuts in two what
// lies on both sides of its plane.
//
// A set owns a range of places of which its references take the first ones; the others are its share of the extra
// references, which its two sides inherit in proportion. So no set can take another one's places, whatever the order,
// and the number of references is bounded beforehand; of the nodes that memory allows a set has a share by its places,
// too. Node ids follow from the ranges (range_links.cuh). At the end references move together, and leaves learn their
// places.
//
// What a spatial split saves by the heuristic may be lost further down, where cut references count twice. So the tree
// of object splits is made first, then that of all splits, and should that be the dearer one, the first once more
// (tree_cost.cuh): nothing is read back, launches that have no tree to make find no set.
//
// Launch order: for each of these trees write_references, and split_sets for every level; a scan of `used`;
// gather_references; relink_leaves. Unit constant: BINS.
#include "gpu/hierarchy/bvh/builders/sbvh/split_planes.cuh"
#include "gpu/hierarchy/bvh/builders/sbvh/tree_cost.cuh"
#include "gpu/hierarchy/bvh/stopping.cuh"

// References [first, first + count) of the places [first, first + room), and the share of nodes that is left.
__device__ __forceinline__ int4 set_over(int first, int count, int room, bool is_left, int budget) {
    return make_int4(first, count, room, budget << 1 | (is_left ? 1 : 0));
}
__device__ __forceinline__ bool is_left_set(const int4& set) { return set.w & 1; }
__device__ __forceinline__ int share_of_set(const int4& set) { return set.w >> 1; }

extern "C" __global__ void write_references(Primitives primitives, int tree, uint64* sums, int capacity,
                                            int level_count, int budget, int max_leaf_size, int by_cost,
                                            float4* references, float4* finished, int* used, int* counts, int4* sets,
                                            int* parent, uint8* flags, int* root) {
    const int n = primitives.count;
    const bool is_leaf = n <= (by_cost ? 1 : max_leaf_size);
    const bool is_kept = is_left_out(tree, sums);  // the tree that is there
    for (int i : grid_stride(capacity)) {
        if (i == 0) {
            for (int level = 0; level <= level_count; ++level)
                counts[level] = level == 0 && !is_leaf && !is_kept ? 1 : 0;
            if (sums != nullptr && tree != OBJECT_SPLITS_AGAIN) sums[tree] = 0;
        }
        if (is_kept) continue;
        used[i] = is_leaf && i < n ? 1 : 0;
        if (i < capacity - 1) flags[i] = 0;
        if (i < n) {
            const BoxedReference reference = {primitives.aabb(i), i};
            store_reference(references, i, reference);
            if (is_leaf) store_reference(finished, i, reference);
        }
        if (i > 0) continue;
        sets[0] = set_over(0, n, capacity, false, budget);
        root[0] = is_leaf ? leaf_child(0, n) : 0;
        if (capacity > 1) parent[0] = -1;
    }
}

struct SetChoice {
    SetSplit split;
    BinGrid grid;
    float area;  // of the set's box
    bool ends;
};

struct Chooser {
    Primitives primitives;
    Stopping stopping;
    Pointer<const float4> references;
    float alpha;
    Pointer<float> root_area;

    // Where a set is split. `may_choose`: not at its middle yet, for there are levels and nodes left.
    __device__ SetChoice choose(SetBins& bins, const int4& set, bool may_choose, bool is_root) const {
        const int first = set.x, count = set.y;
        Aabb box = empty_aabb();
        CentroidBounds centroids = CentroidBounds::none();
        for (int i : block_stride(count)) {
            const Aabb here = load_reference(references, first + i).box;
            box = merge(box, here);
            centroids.grow(here);
        }
        box = {make_float3(block_min(box.lower.x), block_min(box.lower.y), block_min(box.lower.z)),
               make_float3(block_max(box.upper.x), block_max(box.upper.y), block_max(box.upper.z))};
        const BinGrid grid = BinGrid::over(
            make_float3(block_min(centroids.lower.x), block_min(centroids.lower.y), block_min(centroids.lower.z)),
            make_float3(block_max(centroids.upper.x), block_max(centroids.upper.y), block_max(centroids.upper.z)));
        if (is_root && thread_index() == 0) root_area[0] = half_area(box);
        SetChoice choice = {
            {HALVES, 0, 0, count / 2, 0.0f, empty_aabb(), empty_aabb(), 0, 0}, grid, half_area(box), false};
        choice.ends = stopping.ends_at_once(count, share_of_set(set)) ||
                      (!may_choose && count <= stopping.max_leaf_size);
        if (choice.ends || !may_choose) return choice;
        const uint64 objects = bins.best_object_plane(references, first, count, grid);
        uint64 best = objects;
        bool overlaps = false;  // what has one centroid, and so no object split, is halved
        if (objects != NO_PLANE) {
            choice.split.kind = OBJECTS;
            choice.split.axis = plane_axis(objects);
            choice.split.bin = plane_bin(objects);
            bins.sides(objects, choice.split.left, choice.split.right);
            // Only where the sides of the object split overlap by more than this is a spatial split worth its time (4.5
            // of the paper).
            overlaps = half_area(intersection(choice.split.left, choice.split.right)) >
                       alpha * (is_root ? half_area(box) : root_area[0]);
        }
        if (overlaps && set.z > count && half_area(box) <= FLOAT_MAX) {
            const SpaceGrid space = {box};
            const uint64 plane = bins.best_space_plane(primitives, references, first, count, set.z, space);
            if (plane != NO_PLANE && (objects == NO_PLANE || plane_cost(plane) < plane_cost(objects))) {
                best = plane;
                choice.split.kind = SPACE;
                choice.split.axis = plane_axis(plane);
                choice.split.plane = space.plane(plane_axis(plane), plane_bin(plane));
                bins.sides(plane, choice.split.left, choice.split.right);
                bins.count_sides(plane, count, choice.split.left_count, choice.split.right_count);
            }
        }
        choice.ends = stopping.ends_by_cost(count, half_area(box), best == NO_PLANE ? FLOAT_MAX : plane_cost(best));
        return choice;
    }

    // References that a split sends to each side.
    __device__ void count(const SetChoice& choice, const int4& set, int& lefts, int& rights) const {
        int left = 0, right = 0;
        for (int i : block_stride(set.y)) {
            const int sides = choice.split.sides_of(choice.grid, load_reference(references, set.x + i).box, i);
            left += sides & GOES_LEFT ? 1 : 0;
            right += sides & GOES_RIGHT ? 1 : 0;
        }
        lefts = block_sum(left);
        rights = block_sum(right);
    }
};

// Where a set's references go: those of a side that is a leaf are finished.
struct Mover {
    Primitives primitives;
    Pointer<const float4> references;
    Pointer<float4> partitioned, finished;
    Pointer<int> used;

    __device__ void put(int place, const BoxedReference& reference, bool is_finished) const {
        store_reference(is_finished ? finished : partitioned, place, reference);
        if (is_finished) used[place] = 1;
    }
    __device__ void keep(const int4& set) const {
        for (int i : block_stride(set.y)) put(set.x + i, load_reference(references, set.x + i), true);
    }
    // Of a leaf that is finished.
    __device__ float leaf_area(int first, int count) const {
        Aabb box = empty_aabb();
        for (int i : block_stride(count)) box = merge(box, load_reference(finished, first + i).box);
        if (count == 1) return half_area(box);  // thread 0 alone needs it
        return half_area({make_float3(block_min(box.lower.x), block_min(box.lower.y), block_min(box.lower.z)),
                          make_float3(block_max(box.upper.x), block_max(box.upper.y), block_max(box.upper.z))});
    }
    __device__ void split(const SetChoice& choice, const int4& set, int first_right, bool is_left_leaf,
                          bool is_right_leaf) const {
        int lefts = 0, rights = 0;
        const SetSplit& split = choice.split;
        for (int start = 0; start < set.y; start += block_threads()) {
            const int i = start + thread_index();
            const bool is_there = i < set.y;
            const BoxedReference reference = load_reference(references, set.x + min(i, set.y - 1));
            const int sides = is_there ? split.sides_of(choice.grid, reference.box, i) : 0;
            int all;
            const int before = block_exclusive_scan((sides & GOES_LEFT ? 1 : 0) | (sides & GOES_RIGHT ? 1 << 16 : 0),
                                                    all);
            const bool is_cut = sides == (GOES_LEFT | GOES_RIGHT);
            if (sides & GOES_LEFT) {
                const Aabb box = is_cut ? piece_between(primitives, reference, split.axis, -FLOAT_MAX, split.plane)
                                        : reference.box;
                put(set.x + lefts + (before & 0xffff), {box, reference.prim_id}, is_left_leaf);
            }
            if (sides & GOES_RIGHT) {
                const Aabb box = is_cut ? piece_between(primitives, reference, split.axis, split.plane, FLOAT_MAX)
                                        : reference.box;
                put(first_right + rights + (before >> 16), {box, reference.prim_id}, is_right_leaf);
            }
            lefts += all & 0xffff;
            rights += all >> 16;
        }
    }
};

// A set's two sides: their places, how many references they have, and whether they are leaves.
struct SetSides {
    int first, lefts, middle, rights;
    bool is_left_leaf, is_right_leaf;
};

// Adds a node over `area` to the tree's cost, and those of its sides that are leaves.
__device__ __forceinline__ void add_to_cost(const TreeCost& cost, float area, const Mover& mover,
                                            const SetSides& sides) {
    block_sync();
    const float left_area = sides.is_left_leaf ? mover.leaf_area(sides.first, sides.lefts) : 0.0f,
                right_area = sides.is_right_leaf ? mover.leaf_area(sides.middle, sides.rights) : 0.0f;
    if (thread_index() == 0) {
        cost.add_node(area);
        if (sides.is_left_leaf) cost.add_leaf(left_area, sides.lefts);
        if (sides.is_right_leaf) cost.add_leaf(right_area, sides.rights);
    }
}

// One block a set. Sets that remain are told to the next level; with `ends_here` none does, for the depth ends there.
extern "C" __global__ void split_sets(Primitives primitives, int level, int levels_left, int ends_here,
                                      int max_leaf_size, int by_cost, float traversal_cost, float intersection_cost,
                                      float alpha, const float4* references, float4* partitioned, float4* finished,
                                      int* used, float* root_area, uint64* sum, int* counts, const int4* sets,
                                      int4* next_sets, int* long_sets, float4* nodes, int* parent, uint8* flags,
                                      int* root) {
    SHARED SetBins bins;
    const Stopping stopping = {max_leaf_size, by_cost, traversal_cost, intersection_cost};
    const Chooser chooser = {primitives, stopping, references, alpha, root_area};
    const Mover mover = {primitives, references, partitioned, finished, used};
    const Links links = {nodes, parent, flags, by_cost ? 1 : max_leaf_size, long_sets};
    const int set_count = counts[level];
    for (int number = block_index(); number < set_count; number += block_count()) {
        const int4 set = sets[number];
        const int first = set.x, node_id = node_over(first, first + set.z - 1, is_left_set(set), level == 0);
        SetChoice choice = chooser.choose(
            bins, set, ceil_log2(set.y) < levels_left && has_nodes_to_choose(set.y, share_of_set(set)), level == 0);
        const TreeCost cost = {sum, traversal_cost, intersection_cost, level == 0 ? choice.area : root_area[0]};
        if (choice.ends) {
            mover.keep(set);
            if (sum != nullptr && thread_index() == 0) cost.add_leaf(choice.area, set.y);
            if (thread_index() == 0)
                links.link_leaf(node_id, links.leaf(first, first + set.y - 1), is_left_set(set), root);
            continue;
        }
        int lefts, rights;
        chooser.count(choice, set, lefts, rights);
        if (lefts == 0 || rights == 0 || lefts + rights > set.z) {
            choice.split.kind = HALVES;
            lefts = set.y / 2;
            rights = set.y - lefts;
        }
        const int spare = set.z - lefts - rights, left_room = lefts + (int)((int64)spare * lefts / (lefts + rights)),
                  right_room = set.z - left_room;
        const int middle = first + left_room;
        const bool is_left_leaf = ends_here || lefts <= links.max_leaf_size,
                   is_right_leaf = ends_here || rights <= links.max_leaf_size;
        mover.split(choice, set, middle, is_left_leaf, is_right_leaf);
        if (sum != nullptr)
            add_to_cost(cost, choice.area, mover, {first, lefts, middle, rights, is_left_leaf, is_right_leaf});
        if (thread_index() == 0) {
            const int left = is_left_leaf ? links.leaf(first, first + lefts - 1) : middle - 1;
            const int right = is_right_leaf ? links.leaf(middle, middle + rights - 1) : middle;
            store_node(nodes, node_id, empty_aabb(), left, right);
            flags[node_id] = NODE_EXISTS;
            if (!is_left_leaf) parent[middle - 1] = node_id;
            if (!is_right_leaf) parent[middle] = node_id;
            const int place = atomic_add(counts + level + 1, (is_left_leaf ? 0 : 1) + (is_right_leaf ? 0 : 1));
            const int budget = share_of_set(set), left_share = share_of_left(budget, left_room, set.z),
                      right_share = share_of_right(budget, left_room, set.z);
            if (!is_left_leaf) next_sets[place] = set_over(first, lefts, left_room, true, left_share);
            if (!is_right_leaf)
                next_sets[place + (is_left_leaf ? 0 : 1)] = set_over(middle, rights, right_room, false, right_share);
        }
        block_sync();
    }
}

// References move together, in their order. `places` is the exclusive scan of `used`.
extern "C" __global__ void gather_references(int capacity, const float4* finished, const int* used, const int* places,
                                             int* order, float4* boxes, int* reference_count_now) {
    for (int i : grid_stride(capacity)) {
        if (used[i]) {
            const BoxedReference reference = load_reference(finished, i);
            order[places[i]] = reference.prim_id;
            store_reference_box(boxes, places[i], reference.box);
        }
        if (i == capacity - 1) reference_count_now[0] = places[i] + used[i];
    }
}

// `long_sets`: counts of leaves that are long, by their first place; `long_leaves`: by their first reference.
__device__ __forceinline__ int moved(int child, const int* places, const int* long_sets, int* long_leaves) {
    return is_leaf(child) ? leaf_child(places[first_reference(child)], reference_count(child, long_sets), long_leaves)
                          : child;
}
extern "C" __global__ void relink_leaves(int node_capacity, const int* places, const uint8* flags, const int* long_sets,
                                         float4* nodes, int* long_leaves) {
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(nodes, node_id);
        store_node(nodes, node_id, node.aabb(), moved(node.left, places, long_sets, long_leaves),
                   moved(node.right, places, long_sets, long_leaves));
    }
}
