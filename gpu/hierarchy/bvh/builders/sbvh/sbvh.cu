// Top-down SAH with spatial splits, level by level: every set of references is split, and what lies on both sides of
// its plane is cut in two.
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
// Launch order: for each of these trees start_tree and write_references; for every level those of large_sets.cu and
// split_sets; split_small_sets (small_sets.cu). Then a scan of `used`; gather_references; relink_leaves. Unit
// constants: BINS, SMALL, LARGE, CHUNK, THREADS.
#include "gpu/hierarchy/bvh/builders/sbvh/large_sets.cuh"

// The root, which is in one list, and nothing in all others.
extern "C" __global__ void start_tree(int n, int tree, uint64* sums, int capacity, int level_count, int budget,
                                      int root_is_large, int max_leaf_size, int by_cost, int* counts, int4* sets,
                                      LargeSet* large, int* small_count, int4* small_sets, int* parent, int* root) {
    const bool is_leaf = n <= (by_cost ? 1 : max_leaf_size);
    const bool is_kept = is_left_out(tree, sums);  // the tree that is there
    if (block_index() > 0) return;
    for (int i : block_stride(COUNTS * (level_count + 1))) counts[i] = 0;
    block_sync();
    if (thread_index() > 0) return;
    small_count[0] = 0;
    if (sums != nullptr && tree != OBJECT_SPLITS_AGAIN) sums[tree] = 0;
    if (is_kept) return;
    root[0] = is_leaf ? leaf_child(0, n) : 0;
    if (capacity > 1) parent[0] = -1;
    if (is_leaf) return;
    const int4 set = set_over(0, n, capacity, false, budget);
    if (n <= SMALL) {
        small_sets[0] = small_set(set, 0);
        small_count[0] = 1;
    } else if (root_is_large) {
        large[0].set = set;
        large[0].first_chunk = large[0].arrived = 0;
        empty_bounds(large[0].bounds);
        counts[LARGE_SETS] = 1;
        counts[CHUNKS] = chunks_of(n);
    } else {
        sets[0] = set;
        counts[MIDDLE_SETS] = 1;
    }
}

extern "C" __global__ void write_references(Primitives primitives, int tree, const uint64* sums, int capacity,
                                            int root_is_large, int max_leaf_size, int by_cost, float4* references,
                                            float4* finished, int* used, uint8* flags, LargeSet* large,
                                            int* set_of_chunk, int bin_set_count, SharedBins* all_bins) {
    const int n = primitives.count;
    const bool is_leaf = n <= (by_cost ? 1 : max_leaf_size);
    if (is_left_out(tree, sums)) return;
    Aabb bounds = empty_aabb();
    CentroidBounds centroids = CentroidBounds::none();
    for (int i : grid_stride(capacity)) {
        used[i] = is_leaf && i < n ? 1 : 0;
        if (i < capacity - 1) flags[i] = 0;
        if (i >= n) continue;
        const BoxedReference reference = {primitives.aabb(i), i};
        store_reference(references, i, reference);
        if (is_leaf) store_reference(finished, i, reference);
        bounds = merge(bounds, reference.box);
        centroids.grow(reference.box);
    }
    if (!root_is_large) return;
    merge_block_box(bounds, large[0].bounds);
    centroids.merge_block_into(large[0].bounds + 6);
    for (int i : grid_stride(chunks_of(n))) set_of_chunk[i] = 0;
    for (int i : grid_stride(bin_set_count * ALL_BINS)) {
        SharedBins& bins = all_bins[i / ALL_BINS];
        bins.bins[i % ALL_BINS].clear();
        bins.ends[i % ALL_BINS] = 0;
    }
}

struct Chooser {
    Primitives primitives;
    Stopping stopping;
    Pointer<const float4> references;
    float alpha;
    Pointer<float> root_area;

    // Where a set is split. `chooses`: not at its middle yet, for there are levels and nodes left.
    __device__ SetChoice choose(SetBins& bins, const int4& set, bool chooses, bool is_root, BinGrid& grid) const {
        const int first = set.x, count = set.y;
        Aabb box = empty_aabb();
        CentroidBounds centroids = CentroidBounds::none();
        for (int i : block_stride(count)) {
            const Aabb here = load_reference(references, first + i).box;
            box = merge(box, here);
            centroids.grow(here);
        }
        box = block_box(box);
        const Aabb of_centroids = block_box({centroids.lower, centroids.upper});
        grid = BinGrid::over(of_centroids.lower, of_centroids.upper);
        const float area = half_area(box);
        if (is_root && thread_index() == 0) root_area[0] = area;
        SetChoice choice = SetChoice::halves(count, area);
        choice.ends = stopping.ends_at_once(count, share_of_set(set)) || (!chooses && count <= stopping.max_leaf_size);
        if (choice.ends || !chooses) return choice;
        const auto reference_of = [&](int i) { return load_reference(references, first + i); };
        bins.bin_objects(reference_of, count, grid);
        PlaneSides best = bins.best_object_plane(count);
        if (best.plane != NO_PLANE) choice.take_objects(best);
        if (choice.tries_space(set, alpha, is_root ? area : root_area[0])) {
            const SpaceGrid space = {box};
            bins.bin_space(primitives, reference_of, count, space);
            const PlaneSides of_space = bins.best_space_plane(count, set.z);
            if (of_space.plane != NO_PLANE && plane_cost(of_space.plane) < plane_cost(best.plane)) {
                best = of_space;
                choice.take_space(space, of_space);
            }
        }
        choice.ends = stopping.ends_by_cost(count, area, best.plane == NO_PLANE ? FLOAT_MAX : plane_cost(best.plane));
        return choice;
    }

    // References that a split sends to each side.
    __device__ void count(const SetSplit& split, const BinGrid& grid, const int4& set, int& lefts, int& rights) const {
        int left = 0, right = 0;
        for (int i : block_stride(set.y)) {
            const int sides = split.sides_of(grid, load_reference(references, set.x + i).box, i);
            left += sides & GOES_LEFT ? 1 : 0;
            right += sides & GOES_RIGHT ? 1 : 0;
        }
        lefts = block_sum(left);
        rights = block_sum(right);
    }
};

__device__ __forceinline__ void move_all(const Mover& mover, const SetSplit& split, const BinGrid& grid,
                                         const int4& set, const SetSides& sides) {
    int lefts = sides.first, rights = sides.middle;
    for (int start = 0; start < set.y; start += block_threads()) {
        const int i = start + thread_index();
        const BoxedReference reference = mover.reference(set.x + min(i, set.y - 1));
        const int goes = i < set.y ? split.sides_of(grid, reference.box, i) : 0;
        int all;
        const int before = block_exclusive_scan((goes & GOES_LEFT ? 1 : 0) | (goes & GOES_RIGHT ? 1 << 16 : 0), all);
        if (goes & GOES_LEFT)
            mover.put(lefts + (before & 0xffff), {mover.left_box(split, reference, goes), reference.prim_id},
                      sides.is_left_leaf);
        if (goes & GOES_RIGHT)
            mover.put(rights + (before >> 16), {mover.right_box(split, reference, goes), reference.prim_id},
                      sides.is_right_leaf);
        lefts += all & 0xffff;
        rights += all >> 16;
    }
}

// One block a set of a middle size. Sets that remain are told to the next level; with `ends_here` none does, for the
// depth ends there.
extern "C" __global__ void split_sets(Primitives primitives, int level, int levels_left, int queue_left, int ends_here,
                                      int max_leaf_size, int by_cost, float traversal_cost, float intersection_cost,
                                      float alpha, const float4* references, float4* partitioned, float4* finished,
                                      int* used, float* root_area, uint64* sum, const int* counts, const int4* sets,
                                      int* next_counts, int4* next_sets, int* small_count, int4* small_sets,
                                      int* long_sets, float4* nodes, int* parent, uint8* flags, int* root) {
    SHARED SetBins bins;
    const Stopping stopping = {max_leaf_size, by_cost, traversal_cost, intersection_cost};
    const Chooser chooser = {primitives, stopping, references, alpha, root_area};
    const Mover mover = {primitives, references, partitioned, finished, used};
    const Links links = {nodes, parent, flags, by_cost ? 1 : max_leaf_size, long_sets};
    const NextSets next = {next_counts, next_sets, small_count, small_sets, level + 1};
    const int set_count = counts[MIDDLE_SETS];
    uint64 cost_of_mine = 0;
    for (int number = block_index(); number < set_count; number += block_count()) {
        const int4 set = sets[number];
        const bool is_root = level == 0;
        BinGrid grid;
        SetChoice choice = chooser.choose(bins, set, may_choose_in_queue(set, levels_left, queue_left), is_root, grid);
        const TreeCost cost = {traversal_cost, intersection_cost, is_root ? choice.area : root_area[0]};
        if (choice.ends) {
            for (int i : block_stride(set.y)) mover.finish(set.x + i, mover.reference(set.x + i));
            if (thread_index() == 0) {
                links.link_leaf(id_of_set(set, is_root), links.leaf(set.x, set.x + set.y - 1), is_left_set(set), root);
                cost_of_mine += cost.of_leaf(choice.area, set.y);
            }
            continue;
        }
        int lefts, rights;
        chooser.count(choice.split, grid, set, lefts, rights);
        if (!SetSides::is_legal(set, lefts, rights)) {
            choice = SetChoice::halves(set.y, choice.area);
            lefts = set.y / 2;
            rights = set.y - lefts;
        }
        const SetSides sides = SetSides::of(set, lefts, rights, links.max_leaf_size, ends_here != 0);
        move_all(mover, choice.split, grid, set, sides);
        block_sync();
        if (sum != nullptr) {
            const float left_area = sides.is_left_leaf ? mover.leaf_area(sides.first, lefts) : 0.0f,
                        right_area = sides.is_right_leaf ? mover.leaf_area(sides.middle, rights) : 0.0f;
            if (thread_index() == 0) {
                cost_of_mine += cost.of_node(choice.area);
                if (sides.is_left_leaf) cost_of_mine += cost.of_leaf(left_area, lefts);
                if (sides.is_right_leaf) cost_of_mine += cost.of_leaf(right_area, rights);
            }
        }
        if (thread_index() == 0) {
            sides.link(links, id_of_set(set, is_root));
            next.add(sides.left_set(set), !sides.is_left_leaf, sides.right_set(set), !sides.is_right_leaf);
        }
        block_sync();
    }
    if (thread_index() == 0 && sum != nullptr && cost_of_mine > 0) atomic_add(sum, cost_of_mine);
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
