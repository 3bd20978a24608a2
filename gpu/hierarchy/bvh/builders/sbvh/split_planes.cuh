// The planes of a set of references: between bins of their centroids (an object split: each reference goes to one
// side), or through the references (a spatial split: those that lie on both sides are cut in two), after Stich,
// Friedrich and Dietrich, Spatial Splits in Bounding Volume Hierarchies (2009). Unit constant: BINS.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"
#include "gpu/hierarchy/bvh/sah_tasks.cuh"

constexpr int ALL_BINS = 3 * BINS;
constexpr int HALVES = 0, OBJECTS = 1, SPACE = 2;
constexpr int GOES_LEFT = 1, GOES_RIGHT = 2;

__device__ __forceinline__ Aabb intersection(const Aabb& a, const Aabb& b) {
    return {max(a.lower, b.lower), min(a.upper, b.upper)};
}

// The part of a reference between two planes: the primitive's, as far as it lies in the reference's box; never less
// than what a ray can hit there.
__device__ __forceinline__ Aabb piece_between(const Primitives& primitives, const BoxedReference& reference, int axis,
                                              float low, float high) {
    Aabb slab = reference.box;
    set_along(slab.lower, axis, max(along(slab.lower, axis), low));
    set_along(slab.upper, axis, min(along(slab.upper, axis), high));
    const Aabb piece = intersection(primitives.aabb_between(reference.prim_id, axis, low, high), slab);
    const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
    return is_empty(piece) ? slab : Aabb{piece.lower + zero, piece.upper + zero};
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

// How a set is split. Boxes and counts are those of both sides, cut ones on both (`SPACE`).
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

struct SetBins {
    Bin bins[ALL_BINS];
    int ends[ALL_BINS];  // references whose last bin this is; a bin's `count` are those whose first it is
    float above[3][BINS];
    uint64 best[3];

    __device__ void clear() {
        block_sync();
        for (int bin : block_stride(ALL_BINS)) {
            bins[bin].clear();
            ends[bin] = 0;
        }
        block_sync();
    }
    // The best of the three axes, which all threads get.
    __device__ uint64 best_of_axes() {
        block_sync();
        const uint64 found = better(best[0], better(best[1], best[2]));
        block_sync();
        return found;
    }
    // What lies on both sides of a plane between bins.
    __device__ void sides(uint64 plane, Aabb& left, Aabb& right) const {
        const Bin* const of_axis = bins + plane_axis(plane) * BINS;
        left = right = empty_aabb();
#pragma unroll 1
        for (int bin = 0; bin < BINS; ++bin) {
            if (bin <= plane_bin(plane)) left = merge(left, of_axis[bin].box());
            else right = merge(right, of_axis[bin].box());
        }
    }

    __device__ uint64 best_object_plane(const float4* references, int first, int count, const BinGrid& grid) {
        clear();
        for (int i : block_stride(count)) {
            const Aabb box = load_reference(references, first + i).box;
#pragma unroll 1
            for (int axis = 0; axis < 3; ++axis) bins[axis * BINS + grid.bin(axis, box)].grow_in_block(box);
        }
        block_sync();
        for (int axis : block_stride(3)) best[axis] = best_plane(bins + axis * BINS, axis, above[axis]);
        return best_of_axes();
    }

    // A reference is cut at the planes between its first and its last bin, and grows all of them (chopped binning, 4.2
    // of the paper).
    __device__ void grow(const Primitives& primitives, const SpaceGrid& grid, const BoxedReference& reference,
                         int axis) {
        const int start = is_empty(reference.box) ? BINS - 1 : grid.bin(axis, along(reference.box.lower, axis));
        const int last = is_empty(reference.box) ? BINS - 1 : grid.bin(axis, along(reference.box.upper, axis));
#pragma unroll 1
        for (int bin = start; bin <= last; ++bin) {
            Aabb piece = reference.box;
            if (start < last) {
                const float low = bin == start ? -FLOAT_MAX : grid.plane(axis, bin - 1),
                            high = bin == last ? FLOAT_MAX : grid.plane(axis, bin);
                piece = piece_between(primitives, reference, axis, low, high);
            }
            bins[axis * BINS + bin].widen_in_block(piece);
        }
        block_atomic_add(&bins[axis * BINS + start].count, 1);
        block_atomic_add(&ends[axis * BINS + last], 1);
    }

    // As best_plane (binning.cuh), with references on both sides; no plane that would make more than `room` of them, or
    // split nothing.
    __device__ uint64 best_space_plane_of(int axis, int count, int room) {
        const Bin* const of_axis = bins + axis * BINS;
        Aabb box = empty_aabb();
#pragma unroll 1
        for (int bin = BINS - 1; bin > 0; --bin) {
            box = merge(box, of_axis[bin].box());
            above[axis][bin] = half_area(box);
        }
        uint64 found = NO_PLANE;
        box = empty_aabb();
        int left_count = 0, ended = 0;
#pragma unroll 1
        for (int bin = 0; bin < BINS - 1; ++bin) {
            box = merge(box, of_axis[bin].box());
            left_count += of_axis[bin].count;
            ended += ends[axis * BINS + bin];
            const int right_count = count - ended;
            const float cost = half_area(box) * (float)left_count + above[axis][bin + 1] * (float)right_count;
            const bool splits = left_count > 0 && right_count > 0 && (left_count < count || right_count < count);
            if (splits && left_count + right_count <= room && cost <= FLOAT_MAX)
                found = better(found, plane_word(cost, axis * BINS + bin));
        }
        return found;
    }
    __device__ uint64 best_space_plane(const Primitives& primitives, const float4* references, int first, int count,
                                       int room, const SpaceGrid& grid) {
        clear();
        for (int i : block_stride(count)) {
            const BoxedReference reference = load_reference(references, first + i);
#pragma unroll 1
            for (int axis = 0; axis < 3; ++axis) grow(primitives, grid, reference, axis);
        }
        block_sync();
        for (int axis : block_stride(3)) best[axis] = best_space_plane_of(axis, count, room);
        return best_of_axes();
    }
    // References on the left and on the right side of a spatial plane.
    __device__ void count_sides(uint64 plane, int count, int& left_count, int& right_count) const {
        left_count = 0;
        right_count = count;
#pragma unroll 1
        for (int bin = plane_axis(plane) * BINS, i = 0; i <= plane_bin(plane); ++i) {
            left_count += bins[bin + i].count;
            right_count -= ends[bin + i];
        }
    }
};
