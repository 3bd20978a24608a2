// Small sets: one warp each splits its set down to the leaves, in shared memory. They are not binned: every plane
// between two references is tried, and spatial splits where those overlap. The side with fewer references goes on
// first, which has fewer each time, so that fewer than SMALL sets wait.
//
// Places are counted from the set's first; of its room no more than LOCAL are used. Unit constants: BINS (of space
// alone), SMALL, LARGE, CHUNK, THREADS (a warp's).
#include "gpu/hierarchy/bvh/builders/sbvh/sets.cuh"
#include "gpu/hierarchy/bvh/rank_sweep.cuh"

constexpr int LOCAL = 2 * SMALL;
static_assert(SMALL <= TILE_ITEMS, "a reference a lane");

// A set within a small one. `set` has its place, references, room, and share of the nodes (sets.cuh).
struct LocalSet {
    int4 set;
    int node_id, level;
};

struct LocalReferences {
    Aabb boxes[LOCAL];
    int prim_ids[LOCAL];
    RankSweep<SMALL> swept;
    SetBins bins;
    LocalSet waiting[SMALL];
};

// The references of a set, one a lane, and to which sides they go.
struct Held {
    TileValues<BoxedReference> references;
    TileValues<int> goes;
};

__device__ __forceinline__ Aabb warp_box(const Aabb& of_lane) {
    return {make_float3(warp_min(of_lane.lower.x), warp_min(of_lane.lower.y), warp_min(of_lane.lower.z)),
            make_float3(warp_max(of_lane.upper.x), warp_max(of_lane.upper.y), warp_max(of_lane.upper.z))};
}

// What a set is split into, and which of its sides are split further.
struct LocalSides {
    LocalSet left, right;
    bool goes_on_left, goes_on_right;
};

// References of a set to their sides' places; those of leaves are finished, at places of the tree from `first_place`.
// What the leaves cost.
__device__ __forceinline__ uint64 move_small(LocalReferences& local, const Held& held, const Mover& mover,
                                             const SetChoice& choice, const SetSides& sides, int count, int first_place,
                                             const TreeCost& cost) {
    const unsigned lefts = tile_ballot(count, [&](int i) { return (held.goes[i] & GOES_LEFT) != 0; });
    const unsigned rights = tile_ballot(count, [&](int i) { return (held.goes[i] & GOES_RIGHT) != 0; });
    Aabb left = empty_aabb(), right = empty_aabb();  // of what this lane moves
    for (int i : lane_stride(count)) {
        const BoxedReference& reference = held.references[i];
        if (held.goes[i] & GOES_LEFT) {
            const Aabb box = mover.left_box(choice.split, reference, held.goes[i]);
            const int place = sides.first + tile_place(lefts, i);
            local.boxes[place] = box;
            local.prim_ids[place] = reference.prim_id;
            if (sides.is_left_leaf) mover.finish(first_place + place, {box, reference.prim_id});
            left = merge(left, box);
        }
        if (held.goes[i] & GOES_RIGHT) {
            const Aabb box = mover.right_box(choice.split, reference, held.goes[i]);
            const int place = sides.middle + tile_place(rights, i);
            local.boxes[place] = box;
            local.prim_ids[place] = reference.prim_id;
            if (sides.is_right_leaf) mover.finish(first_place + place, {box, reference.prim_id});
            right = merge(right, box);
        }
    }
    block_sync();
    uint64 found = 0;
    if (sides.is_left_leaf) found += cost.of_leaf(half_area(warp_box(left)), sides.lefts);
    if (sides.is_right_leaf) found += cost.of_leaf(half_area(warp_box(right)), sides.rights);
    return found;
}

struct SmallSplitter {
    Primitives primitives;
    Stopping stopping;
    float alpha;

    // The cheapest split of a set whose references are in `local`, at its places; by ranks where it is an object split.
    // `root_area`: below 0 of the root itself.
    __device__ SetChoice choose(LocalReferences& local, const Held& held, const int4& set, bool chooses,
                                float root_area) const {
        const int first = set.x, count = set.y;
        Aabb box = empty_aabb();
        for (int i : lane_stride(count)) box = merge(box, held.references[i].box);
        box = warp_box(box);
        SetChoice choice = SetChoice::halves(count, half_area(box));
        choice.ends = stopping.ends_at_once(count, share_of_set(set)) || (!chooses && count <= stopping.max_leaf_size);
        if (choice.ends || !chooses) return choice;
        float area = 0.0f;
        uint64 best = local.swept.sweep(count, [&](int i) { return local.boxes[first + i]; }, area);
        if (best != NO_PLANE) {
            choice.split.kind = OBJECTS;
            choice.split.axis = local.swept.axis_of(best);
            choice.split.half = local.swept.left_count_of(best);
        }
        if (alpha < 1.0f && best != NO_PLANE) {
            Aabb left = empty_aabb(), right = empty_aabb();
            for (int i : lane_stride(count)) {
                if (local.swept.ranks[choice.split.axis][i] < choice.split.half)
                    left = merge(left, held.references[i].box);
                else right = merge(right, held.references[i].box);
            }
            choice.split.left = warp_box(left);
            choice.split.right = warp_box(right);
            if (choice.tries_space(set, alpha, root_area < 0.0f ? choice.area : root_area)) {
                const SpaceGrid space = {box};
                const auto reference_of = [&](int i) {
                    return BoxedReference{local.boxes[first + i], local.prim_ids[first + i]};
                };
                local.bins.bin_space(primitives, reference_of, count, space);
                const PlaneSides of_space = local.bins.best_space_plane(count, set.z);
                if (of_space.plane != NO_PLANE && plane_cost(of_space.plane) < plane_cost(best)) {
                    best = of_space.plane;
                    choice.take_space(space, of_space);
                }
            }
        }
        choice.ends = stopping.ends_by_cost(count, choice.area, best == NO_PLANE ? FLOAT_MAX : plane_cost(best));
        return choice;
    }

    __device__ void share_out(const LocalReferences& local, Held& held, const SetChoice& choice, int count) const {
        const BinGrid grid = {};  // of no use: object splits are by ranks
        for (int i : lane_stride(count)) {
            held.goes[i] = choice.split.kind == OBJECTS
                               ? (local.swept.ranks[choice.split.axis][i] < choice.split.half ? GOES_LEFT : GOES_RIGHT)
                               : choice.split.sides_of(grid, held.references[i].box, i);
        }
    }

    // A set that is no leaf: its node, and its references at its sides' places. What node and leaves cost.
    __device__ uint64 split(LocalReferences& local, Held& held, SetChoice& choice, const LocalSet& now,
                            const Mover& mover, const Links& links, int first_place, bool ends_here,
                            const TreeCost& cost, LocalSides& into) const {
        const int4 set = now.set;
        share_out(local, held, choice, set.y);
        int lefts = __popc(tile_ballot(set.y, [&](int i) { return (held.goes[i] & GOES_LEFT) != 0; }));
        int rights = __popc(tile_ballot(set.y, [&](int i) { return (held.goes[i] & GOES_RIGHT) != 0; }));
        if (!SetSides::is_legal(set, lefts, rights)) {
            choice = SetChoice::halves(set.y, choice.area);
            share_out(local, held, choice, set.y);
            lefts = set.y / 2;
            rights = set.y - lefts;
        }
        block_sync();
        SetSides sides = SetSides::of(set, lefts, rights, links.max_leaf_size, ends_here);
        const uint64 found = cost.of_node(choice.area) +
                             move_small(local, held, mover, choice, sides, set.y, first_place, cost);
        into = {{sides.left_set(set), first_place + sides.middle - 1, now.level + 1},
                {sides.right_set(set), first_place + sides.middle, now.level + 1},
                !sides.is_left_leaf,
                !sides.is_right_leaf};
        sides.first += first_place;
        sides.middle += first_place;
        if (thread_index() == 0) sides.link(links, now.node_id);
        return found;
    }
};

// The set after one with these sides, of which the larger one waits; false at the end.
__device__ __forceinline__ bool next_set(LocalReferences& local, const LocalSides& sides, LocalSet& now,
                                         int& waiting_count) {
    const bool left_is_next = sides.goes_on_left && (!sides.goes_on_right || sides.left.set.y <= sides.right.set.y);
    if (sides.goes_on_left && sides.goes_on_right) {
        check_stack(waiting_count, SMALL);
        if (thread_index() == 0) local.waiting[waiting_count] = left_is_next ? sides.right : sides.left;
        ++waiting_count;
    }
    block_sync();
    if (sides.goes_on_left || sides.goes_on_right) now = left_is_next ? sides.left : sides.right;
    else if (waiting_count == 0) return false;
    else now = local.waiting[--waiting_count];
    return true;
}

extern "C" __global__ void split_small_sets(Primitives primitives, int levels, int max_depth, int max_leaf_size,
                                            int by_cost, float traversal_cost, float intersection_cost, float alpha,
                                            const float4* references, const float4* other_references, float4* finished,
                                            int* used, const float* root_area, uint64* sum, const int* small_count,
                                            const int4* small_sets, int* long_sets, float4* nodes, int* parent,
                                            uint8* flags, int* root) {
    SHARED LocalReferences local;
    const Stopping stopping = {max_leaf_size, by_cost, traversal_cost, intersection_cost};
    const Links links = {nodes, parent, flags, by_cost ? 1 : max_leaf_size, long_sets};
    const int set_count = small_count[0];
    uint64 cost_of_mine = 0;
    for (int number = block_index(); number < set_count; number += block_count()) {
        const int4 small = small_sets[number];
        const int first_place = small.x, level = level_of_small(small), size = count_of_small(small);
        const Mover mover = {primitives, level % 2 ? other_references : references, nullptr, finished, used};
        block_sync();
        for (int i : block_stride(size)) {
            const BoxedReference reference = mover.reference(first_place + i);
            local.boxes[i] = reference.box;
            local.prim_ids[i] = reference.prim_id;
        }
        block_sync();
        LocalSet now = {make_int4(0, size, min(small.z, LOCAL), small.w),
                        id_of_set(make_int4(first_place, size, small.z, small.w), level == 0), level};
        const SmallSplitter splitter = {primitives, stopping, alpha};
        float whole = level == 0 ? -1.0f : root_area[0];
        int waiting_count = 0;
        for (bool goes_on = true; goes_on;) {
            const int4 set = now.set;
            Held held;
            for (int i : lane_stride(set.y)) held.references[i] = {local.boxes[set.x + i], local.prim_ids[set.x + i]};
            SetChoice choice = splitter.choose(local, held, set,
                                               may_choose(set.y, share_of_set(set), levels - now.level), whole);
            if (now.level == 0) whole = choice.area;
            const TreeCost cost = {traversal_cost, intersection_cost, whole};
            LocalSides sides = {now, now, false, false};
            if (choice.ends) {
                for (int i : lane_stride(set.y)) mover.finish(first_place + set.x + i, held.references[i]);
                cost_of_mine += cost.of_leaf(choice.area, set.y);
                if (thread_index() == 0)
                    links.link_leaf(now.node_id, links.leaf(first_place + set.x, first_place + set.x + set.y - 1),
                                    is_left_set(set), root);
            } else {
                cost_of_mine += splitter.split(local, held, choice, now, mover, links, first_place,
                                               now.level + 1 == max_depth, cost, sides);
            }
            goes_on = next_set(local, sides, now, waiting_count);
        }
    }
    if (thread_index() == 0 && sum != nullptr && cost_of_mine > 0) atomic_add(sum, cost_of_mine);
}
