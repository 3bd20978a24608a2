// Large sets: each is split by as many blocks as it has chunks of CHUNK references, so that the few sets near the root
// fill a device as the many further down do. In every launch the last block of a set that arrives goes on with what
// needs all of them.
//
// Launch order, for every level: bin_objects, bin_space, count_sides, move_references. Results depend neither on the
// order of sets in their list nor on blocks. Unit constants: BINS, SMALL, LARGE, CHUNK, THREADS.
#include "gpu/hierarchy/bvh/builders/sbvh/large_sets.cuh"

// The references [start, start + count) of its set that a block works on.
struct Chunk {
    int set, start, count;

    __device__ static Chunk at(int chunk, const LargeSet* large, const int* set_of_chunk) {
        const int number = set_of_chunk[chunk];
        const int start = (chunk - large[number].first_chunk) * CHUNK;
        return {number, start, min(CHUNK, large[number].set.y - start)};
    }
};

// Whether a set's other blocks have all arrived; all threads of the block call it and get the same.
__device__ __forceinline__ bool arrives_last(LargeSet& large, int& is_last) {
    block_sync();
    if (thread_index() == 0) {
        is_last = atomic_arrive(&large.arrived) == chunks_of(large.set.y) - 1 ? 1 : 0;
        if (is_last) large.arrived = 0;  // for the next launch
    }
    block_sync();
    return is_last != 0;
}

// The best object split of every set, and whether its sides overlap so much that a spatial one is to be tried.
extern "C" __global__ void bin_objects(const int* counts, int is_root, int levels_left, int queue_left, float alpha,
                                       const float4* references, float* root_area, LargeSet* large,
                                       const int* set_of_chunk, SharedBins* all_bins) {
    SHARED SetBins bins;
    SHARED int is_last;
    const int chunk_count = counts[CHUNKS];
    for (int number = block_index(); number < chunk_count; number += block_count()) {
        const Chunk chunk = Chunk::at(number, large, set_of_chunk);
        LargeSet& mine = large[chunk.set];
        const int4 set = mine.set;
        const bool chooses = may_choose_in_queue(set, levels_left, queue_left);
        if (chooses) {
            const int first = set.x + chunk.start;
            bins.bin_objects([&](int i) { return load_reference(references, first + i); }, chunk.count, mine.grid());
            bins.add_to(all_bins[chunk.set]);
        }
        if (!arrives_last(mine, is_last)) continue;
        const float area = half_area(mine.box());
        SetChoice choice = SetChoice::halves(set.y, area);
        PlaneSides best;
        best.plane = NO_PLANE;
        if (chooses) {
            bins.take(all_bins[chunk.set]);
            best = bins.best_object_plane(set.y);
        }
        if (best.plane != NO_PLANE) choice.take_objects(best);
        if (thread_index() == 0) {
            if (is_root) root_area[0] = area;
            mine.choice = choice;
            mine.cost = best.plane == NO_PLANE ? FLOAT_MAX : plane_cost(best.plane);
            mine.tries_space = choice.tries_space(set, alpha, is_root ? area : root_area[0]) ? 1 : 0;
        }
        block_sync();
    }
}

// The best spatial split of every set that tries one, where that is cheaper.
extern "C" __global__ void bin_space(Primitives primitives, const int* counts, const float4* references,
                                     LargeSet* large, const int* set_of_chunk, SharedBins* all_bins) {
    SHARED SetBins bins;
    SHARED int is_last;
    const int chunk_count = counts[CHUNKS];
    for (int number = block_index(); number < chunk_count; number += block_count()) {
        const Chunk chunk = Chunk::at(number, large, set_of_chunk);
        LargeSet& mine = large[chunk.set];
        if (!mine.tries_space) continue;
        const int4 set = mine.set;
        const int first = set.x + chunk.start;
        const SpaceGrid space = {mine.box()};
        bins.bin_space(primitives, [&](int i) { return load_reference(references, first + i); }, chunk.count, space);
        bins.add_to(all_bins[chunk.set]);
        if (!arrives_last(mine, is_last)) continue;
        bins.take(all_bins[chunk.set]);
        const PlaneSides best = bins.best_space_plane(set.y, set.z);
        if (best.plane != NO_PLANE && plane_cost(best.plane) < mine.cost && thread_index() == 0)
            mine.choice.take_space(space, best);
        block_sync();
    }
}

// A large child is told to the next level; its number there. By one thread.
__device__ __forceinline__ int add_large_set(const int4& set, int* next_counts, LargeSet* next_large) {
    const int number = atomic_add(next_counts + LARGE_SETS, 1);
    next_large[number].set = set;
    next_large[number].arrived = 0;
    next_large[number].first_chunk = atomic_add(next_counts + CHUNKS, chunks_of(set.y));
    return number;
}

// How many references of a chunk go to each side.
__device__ __forceinline__ void count_chunk(const LargeSet& mine, const Chunk& chunk, const float4* references,
                                            int2& place) {
    const SetSplit split = mine.choice.split;
    const BinGrid grid = mine.grid();
    int left = 0, right = 0;
    for (int i : block_stride(chunk.count)) {
        const Aabb box = load_reference(references, mine.set.x + chunk.start + i).box;
        const int sides = split.sides_of(grid, box, chunk.start + i);
        left += sides & GOES_LEFT ? 1 : 0;
        right += sides & GOES_RIGHT ? 1 : 0;
    }
    left = block_sum(left);
    right = block_sum(right);
    if (thread_index() == 0) place = make_int2(left, right);
}

// Of a set whose chunks are all counted, in `places`: how many go to each side in chunks before, there; all of them. A
// split that is not legal becomes one into halves.
__device__ __forceinline__ int2 sum_chunks(LargeSet& mine, Pointer<int2> places) {
    const int4 set = mine.set;
    const int chunk_count = chunks_of(set.y);
    int lefts = 0, rights = 0;
    for (int start = 0; start < chunk_count; start += block_threads()) {
        const int i = start + thread_index();
        const int2 here = i < chunk_count ? places[i] : make_int2(0, 0);
        int all_left, all_right;
        const int left_before = block_exclusive_scan(here.x, all_left);
        const int right_before = block_exclusive_scan(here.y, all_right);
        if (i < chunk_count) places[i] = make_int2(lefts + left_before, rights + right_before);
        lefts += all_left;
        rights += all_right;
    }
    if (SetSides::is_legal(set, lefts, rights)) return make_int2(lefts, rights);
    lefts = set.y / 2;
    block_sync();
    for (int i : block_stride(chunk_count)) {
        const int before = min(lefts, i * CHUNK);
        places[i] = make_int2(before, i * CHUNK - before);
    }
    if (thread_index() == 0) mine.choice = SetChoice::halves(set.y, mine.choice.area);
    return make_int2(lefts, set.y - lefts);
}

// How many references of each chunk go to each side, and of its set before it; then nodes and children.
extern "C" __global__ void count_sides(const int* counts, int is_root, int ends_here, int next_is_large, int level,
                                       int max_leaf_size, int by_cost, const float4* references, LargeSet* large,
                                       const int* set_of_chunk, int2* places, int* next_counts, int4* next_sets,
                                       LargeSet* next_large, int* next_set_of_chunk, int* small_count, int4* small_sets,
                                       int* long_sets, float4* nodes, int* parent, uint8* flags) {
    SHARED int is_last;
    SHARED int children[2];
    const Links links = {nodes, parent, flags, by_cost ? 1 : max_leaf_size, long_sets};
    const NextSets next = {next_counts, next_sets, small_count, small_sets, level + 1};
    const int chunk_count = counts[CHUNKS];
    for (int number = block_index(); number < chunk_count; number += block_count()) {
        const Chunk chunk = Chunk::at(number, large, set_of_chunk);
        LargeSet& mine = large[chunk.set];
        const int4 set = mine.set;
        count_chunk(mine, chunk, references, places[number]);
        if (!arrives_last(mine, is_last)) continue;
        const int2 all = sum_chunks(mine, places + mine.first_chunk);
        const int lefts = all.x, rights = all.y;
        const SetSides sides = SetSides::of(set, lefts, rights, links.max_leaf_size, ends_here != 0);
        const int4 left = sides.left_set(set), right = sides.right_set(set);
        const bool is_left_large = !sides.is_left_leaf && next_is_large && lefts > LARGE,
                   is_right_large = !sides.is_right_leaf && next_is_large && rights > LARGE;
        if (thread_index() == 0) {
            sides.link(links, id_of_set(set, is_root));
            mine.sides = sides;
            empty_bounds(mine.of_left);
            empty_bounds(mine.of_right);
            children[0] = is_left_large ? add_large_set(left, next_counts, next_large) : NO_LARGE_SET;
            children[1] = is_right_large ? add_large_set(right, next_counts, next_large) : NO_LARGE_SET;
            mine.left_child = children[0];
            mine.right_child = children[1];
            next.add(left, !sides.is_left_leaf && !is_left_large, right, !sides.is_right_leaf && !is_right_large);
        }
        block_sync();
        for (int side = 0; side < 2; ++side) {
            const int child = children[side];
            if (child == NO_LARGE_SET) continue;
            const int first_chunk = next_large[child].first_chunk;
            for (int i : block_stride(chunks_of(side == 0 ? lefts : rights)))
                next_set_of_chunk[first_chunk + i] = child;
        }
        block_sync();
    }
}

// What a block's references of one side are together.
struct SideBounds {
    Aabb box;
    CentroidBounds centroids;

    __device__ void grow(const Aabb& more) {
        box = merge(box, more);
        centroids.grow(more);
    }
    __device__ void merge_into(int* bounds) const {
        merge_block_box(box, bounds);
        centroids.merge_block_into(bounds + 6);
    }
};

// References to their side, in their order; then what the sides are together.
extern "C" __global__ void move_references(Primitives primitives, const int* counts, float traversal_cost,
                                           float intersection_cost, const float4* references, float4* partitioned,
                                           float4* finished, int* used, const float* root_area, uint64* sum,
                                           LargeSet* large, const int* set_of_chunk, const int2* places,
                                           LargeSet* next_large) {
    SHARED int is_last;
    const Mover mover = {primitives, references, partitioned, finished, used};
    const int chunk_count = counts[CHUNKS];
    for (int number = block_index(); number < chunk_count; number += block_count()) {
        const Chunk chunk = Chunk::at(number, large, set_of_chunk);
        LargeSet& mine = large[chunk.set];
        {
            const SetSplit split = mine.choice.split;
            const BinGrid grid = mine.grid();
            const SetSides sides = mine.sides;
            const int2 before = places[number];
            const int first = mine.set.x + chunk.start;
            int left_place = sides.first + before.x, right_place = sides.middle + before.y;
            SideBounds left = {empty_aabb(), CentroidBounds::none()}, right = left;
            for (int start = 0; start < chunk.count; start += block_threads()) {
                const int i = start + thread_index();
                const BoxedReference reference = mover.reference(first + min(i, chunk.count - 1));
                const int goes = i < chunk.count ? split.sides_of(grid, reference.box, chunk.start + i) : 0;
                int all;
                const int here = block_exclusive_scan((goes & GOES_LEFT ? 1 : 0) | (goes & GOES_RIGHT ? 1 << 16 : 0),
                                                      all);
                if (goes & GOES_LEFT) {
                    const Aabb box = mover.left_box(split, reference, goes);
                    mover.put(left_place + (here & 0xffff), {box, reference.prim_id}, sides.is_left_leaf);
                    left.grow(box);
                }
                if (goes & GOES_RIGHT) {
                    const Aabb box = mover.right_box(split, reference, goes);
                    mover.put(right_place + (here >> 16), {box, reference.prim_id}, sides.is_right_leaf);
                    right.grow(box);
                }
                left_place += all & 0xffff;
                right_place += all >> 16;
            }
            left.merge_into(mine.of_left);
            right.merge_into(mine.of_right);
        }
        if (!arrives_last(mine, is_last)) continue;
        const SetSides sides = mine.sides;
        for (int i : block_stride(12)) {
            if (mine.left_child != NO_LARGE_SET) next_large[mine.left_child].bounds[i] = mine.of_left[i];
            if (mine.right_child != NO_LARGE_SET) next_large[mine.right_child].bounds[i] = mine.of_right[i];
        }
        if (sum == nullptr || thread_index() > 0) continue;
        const TreeCost cost = {traversal_cost, intersection_cost, root_area[0]};
        uint64 found = cost.of_node(mine.choice.area);
        if (sides.is_left_leaf) found += cost.of_leaf(half_area(box_of_words(mine.of_left)), sides.lefts);
        if (sides.is_right_leaf) found += cost.of_leaf(half_area(box_of_words(mine.of_right)), sides.rights);
        atomic_add(sum, found);
    }
}
