// The planes of a set of references: between bins of their centroids (an object split: each reference goes to one
// side), or through the references (a spatial split: those that lie on both sides are cut in two), after Stich,
// Friedrich and Dietrich, Spatial Splits in Bounding Volume Hierarchies (2009). `reference_of(i)` is the i-th reference
// of a set. Unit constants: BINS, THREADS (most of a block).
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/device/tile.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/sah_tasks.cuh"

constexpr int ALL_BINS = 3 * BINS;
constexpr int HALVES = 0, OBJECTS = 1, SPACE = 2;
constexpr int GOES_LEFT = 1, GOES_RIGHT = 2;

__device__ __forceinline__ Aabb intersection(const Aabb& a, const Aabb& b) {
    return {max(a.lower, b.lower), min(a.upper, b.upper)};
}

// The part of a reference between two planes: the primitive's (`part`), as far as it lies in the reference's box; never
// less than what a ray can hit there.
__device__ __forceinline__ Aabb piece_of(const Aabb& box, const Aabb& part, int axis, float low, float high) {
    Aabb slab = box;
    set_along(slab.lower, axis, max(along(slab.lower, axis), low));
    set_along(slab.upper, axis, min(along(slab.upper, axis), high));
    const Aabb piece = intersection(part, slab);
    const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
    return is_empty(piece) ? slab : Aabb{piece.lower + zero, piece.upper + zero};
}
__device__ __forceinline__ Aabb piece_between(const Primitives& primitives, const BoxedReference& reference, int axis,
                                              float low, float high) {
    return piece_of(reference.box, primitives.aabb_between(reference.prim_id, axis, low, high), axis, low, high);
}

// Bins of space over a box: of equal width, where the planes between them lie.
struct SpaceGrid {
    Aabb box;

    __device__ float plane(int axis, int bin) const {
        const float low = along(box.lower, axis), high = along(box.upper, axis),
                    share = (float)(bin + 1) * (1.0f / BINS);
        return low * (1.0f - share) + high * share;
    }
    __device__ int bin(int axis, float at) const {
        const float low = along(box.lower, axis), scale = BinGrid::scale_of(along(box.upper, axis) - low);
        return (int)min(max((at - low) * scale, 0.0f), (float)(BINS - 1));
    }
};

// How a set is split. Boxes and counts are those of both sides, cut ones on both (`SPACE`); with HALVES the first
// `half` references go to the left.
struct SetSplit {
    int kind, axis, bin, half;
    float plane;
    Aabb left, right;
    int left_count, right_count;

    // GOES_LEFT, GOES_RIGHT or both. A cut reference is taken back to one side where that costs less (reference
    // unsplitting, 4.4 of the paper).
    __device__ int sides_of(const BinGrid& grid, const Aabb& box, int place) const {
        if (kind == HALVES) return place < half ? GOES_LEFT : GOES_RIGHT;
        if (kind == OBJECTS) return grid.bin(axis, box) <= bin ? GOES_LEFT : GOES_RIGHT;
        if (is_empty(box) || along(box.lower, axis) >= plane) return GOES_RIGHT;
        if (along(box.upper, axis) <= plane) return GOES_LEFT;
        const float left_area = half_area(left), right_area = half_area(right);
        const float cut = left_area * (float)left_count + right_area * (float)right_count;
        const float to_left = half_area(merge(left, box)) * (float)left_count + right_area * (float)(right_count - 1);
        const float to_right = left_area * (float)(left_count - 1) + half_area(merge(right, box)) * (float)right_count;
        if (cut <= to_left && cut <= to_right) return GOES_LEFT | GOES_RIGHT;
        return to_left <= to_right ? GOES_LEFT : GOES_RIGHT;
    }
};

// Bins of a set that many blocks work on.
struct SharedBins {
    Bin bins[ALL_BINS];
    int ends[ALL_BINS];
};
static_assert(sizeof(SharedBins) == 32 * ALL_BINS, "the builder sizes its scratch memory by it");

// A plane between bins, or NO_PLANE, and what lies on both sides.
struct PlaneSides {
    uint64 plane;
    Aabb left, right;
    int left_count, right_count;
};

// Of a reference along the axes: its first bin, and behind how many of them its last one is.
//  bit  10 * axis .. + 4   + 5 .. + 9
//       | first          | further |
constexpr int SPAN_BITS = 5;
static_assert(BINS <= 1 << SPAN_BITS, "a bin's bits");
__device__ __forceinline__ int span_of(int axis, int first, int last) {
    return (first | (last - first) << SPAN_BITS) << 2 * SPAN_BITS * axis;
}
__device__ __forceinline__ int first_of_span(int spans, int axis) {
    return spans >> 2 * SPAN_BITS * axis & ((1 << SPAN_BITS) - 1);
}
__device__ __forceinline__ int further_of_span(int spans, int axis) { return first_of_span(spans >> SPAN_BITS, axis); }
// Pieces that a reference is cut into: none where it lies in one bin.
__device__ __forceinline__ int pieces_of_span(int spans, int axis) {
    const int further = further_of_span(spans, axis);
    return further > 0 ? further + 1 : 0;
}

constexpr int BATCH = RUNS_SERIAL ? 1 : THREADS;

struct SetBins {
    Bin bins[ALL_BINS];
    int ends[ALL_BINS];  // references whose last bin this is; a bin's `count` are those whose first it is
    PlaneSides found[3];  // the best plane of each axis
    // of references that are cut together
    int first_piece[BATCH], spans[BATCH];
    Aabb boxes[BATCH];
    Primitives::Shape shapes[BATCH];

    __device__ void clear() {
        block_sync();
        for (int bin : block_stride(ALL_BINS)) {
            bins[bin].clear();
            ends[bin] = 0;
        }
        block_sync();
    }
    // What a chunk found, for its set.
    __device__ void add_to(SharedBins& all) const {
        for (int bin : block_stride(ALL_BINS)) {
            if (bins[bin].count > 0 || bins[bin].lower[0] <= bins[bin].upper[0]) all.bins[bin].merge(bins[bin]);
            if (ends[bin] > 0) atomic_add(&all.ends[bin], ends[bin]);
        }
    }
    // What all chunks found, whose bins are left clear.
    __device__ void take(SharedBins& all) {
        for (int bin : block_stride(ALL_BINS)) {
            bins[bin] = all.bins[bin];
            ends[bin] = all.ends[bin];
            all.bins[bin].clear();
            all.ends[bin] = 0;
        }
        block_sync();
    }

    template <class References>
    __device__ void bin_objects(const References& reference_of, int count, const BinGrid& grid) {
        clear();
        for (int i : block_stride(count)) {
            const Aabb box = reference_of(i).box;
#pragma unroll 1
            for (int axis = 0; axis < 3; ++axis) bins[axis * BINS + grid.bin(axis, box)].grow_in_block(box);
        }
        block_sync();
    }

    // A reference is cut at the planes between its first and its last bin, and grows all of them (chopped binning, 4.2
    // of the paper). Some are cut into many pieces and most into none, so the pieces of as many as the block has
    // threads are shared out to them.
    template <class References>
    __device__ void bin_space(const Primitives& primitives, const References& reference_of, int count,
                              const SpaceGrid& grid) {
        clear();
        for (int start = 0; start < count; start += block_threads()) {
            const int mine = start + thread_index();
            int pieces = 0, of_mine = 0;
            if (mine < count) {
                const BoxedReference reference = reference_of(mine);
                const Aabb& box = reference.box;
#pragma unroll 1
                for (int axis = 0; axis < 3; ++axis) {
                    const int first = is_empty(box) ? BINS - 1 : grid.bin(axis, along(box.lower, axis));
                    const int last = is_empty(box) ? BINS - 1 : grid.bin(axis, along(box.upper, axis));
                    block_atomic_add(&bins[axis * BINS + first].count, 1);
                    block_atomic_add(&ends[axis * BINS + last], 1);
                    if (first == last) bins[axis * BINS + first].widen_in_block(box);
                    of_mine |= span_of(axis, first, last);
                    pieces += pieces_of_span(of_mine, axis);
                }
                if (pieces > 0) {
                    boxes[thread_index()] = box;
                    shapes[thread_index()] = primitives.shape(primitives.corners(reference.prim_id));
                }
            }
            int all;
            first_piece[thread_index()] = block_exclusive_scan(pieces, all);
            spans[thread_index()] = of_mine;
            block_sync();
            for (int piece : block_stride(all)) {
                int of = 0;  // the last one whose first piece is not past this
                for (int above = min(block_threads(), count - start); above - of > 1;) {
                    const int middle = (of + above) / 2;
                    if (first_piece[middle] <= piece) of = middle;
                    else above = middle;
                }
                add_piece(grid, of, piece - first_piece[of]);
            }
            block_sync();
        }
    }
    // The piece of this number of a reference's.
    __device__ void add_piece(const SpaceGrid& grid, int of, int number) {
        const int of_reference = spans[of];
        int axis = 0;
        for (; axis < 2 && number >= pieces_of_span(of_reference, axis); ++axis)
            number -= pieces_of_span(of_reference, axis);
        const int bin = first_of_span(of_reference, axis) + number;
        const float low = number == 0 ? -FLOAT_MAX : grid.plane(axis, bin - 1);
        const float high = number == further_of_span(of_reference, axis) ? FLOAT_MAX : grid.plane(axis, bin);
        const Aabb part = Primitives::part_between(shapes[of], axis, low, high);
        bins[axis * BINS + bin].widen_in_block(piece_of(boxes[of], part, axis, low, high));
    }

    // The best plane of an axis, by one warp, a plane a lane: as best_plane (binning.cuh) has it, or, of space, with
    // references on both sides, none that would make more than `room` of them, or split nothing.
    template <bool IS_SPACE>
    __device__ void sweep_axis(int axis, int count, int room) {
        const Bin* const of_axis = bins + axis * BINS;
        TileValues<Aabb> left, right;
        TileValues<int> lefts, ended;
        for (int bin : lane_stride(BINS)) {
            left[bin] = of_axis[bin].box();
            right[bin] = bin + 1 < BINS ? of_axis[bin + 1].box() : empty_aabb();
            lefts[bin] = of_axis[bin].count;
            ended[bin] = ends[axis * BINS + bin];
        }
        const auto merge_boxes = [](const Aabb& a, const Aabb& b) { return merge(a, b); };
        const auto add = [](int a, int b) { return a + b; };
        left = tile_scan(BINS, left, merge_boxes);
        right = tile_scan_back(BINS, right, merge_boxes);
        lefts = tile_scan(BINS, lefts, add);
        if (IS_SPACE) ended = tile_scan(BINS, ended, add);
        TileValues<uint64> planes;
        uint64 best = NO_PLANE;
        for (int bin : lane_stride(BINS)) {
            const int left_count = lefts[bin], right_count = count - (IS_SPACE ? ended[bin] : left_count);
            const float cost = half_area(left[bin]) * (float)left_count + half_area(right[bin]) * (float)right_count;
            bool is_plane = bin < BINS - 1 && left_count > 0 && right_count > 0 && cost <= FLOAT_MAX;
            if (IS_SPACE)
                is_plane = is_plane && (left_count < count || right_count < count) && left_count + right_count <= room;
            planes[bin] = is_plane ? plane_word(cost, axis * BINS + bin) : NO_PLANE;
            best = better(best, planes[bin]);
        }
        best = warp_min(best);
        if (best == NO_PLANE && warp_lane() == 0) found[axis].plane = NO_PLANE;
        for (int bin : lane_stride(BINS)) {
            if (best != NO_PLANE && planes[bin] == best)
                found[axis] = {best, left[bin], right[bin], lefts[bin], count - (IS_SPACE ? ended[bin] : lefts[bin])};
        }
    }
    // The best plane of all axes, which all threads get.
    template <bool IS_SPACE>
    __device__ PlaneSides best_plane_of_axes(int count, int room) {
        const int warps = block_threads() / WARP_LANES;
        for (int axis = thread_index() / WARP_LANES; axis < 3; axis += warps) sweep_axis<IS_SPACE>(axis, count, room);
        block_sync();
        int axis = 0;
        for (int other = 1; other < 3; ++other) {
            if (found[other].plane < found[axis].plane) axis = other;
        }
        const PlaneSides best = found[axis];
        block_sync();
        return best;
    }
    __device__ PlaneSides best_object_plane(int count) { return best_plane_of_axes<false>(count, 0); }
    __device__ PlaneSides best_space_plane(int count, int room) { return best_plane_of_axes<true>(count, room); }
};
