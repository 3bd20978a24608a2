// Binned surface area heuristic (Wald 2007): references fall into BINS bins per axis by their centroids, and the planes
// between bins are candidates. The cost of a plane is area times count of both sides, areas halved; of equal costs the
// lower axis wins, then the lower plane, so that no order of evaluation can be told from the result. Unit constant:
// BINS.
// from gpu.hierarchy.bvh.bins import BinRow
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"

// Where centroids fall: `lower` and `upper` bound them. Without extent, or with one past all floats, everything falls
// into one bin.
struct BinGrid {
    float3 lower, scale;

    __device__ static float scale_of(float extent) {
        return extent > 0.0f && extent <= FLOAT_MAX ? min((float)BINS / extent, FLOAT_MAX) : 0.0f;
    }
    __device__ static BinGrid over(float3 lower, float3 upper) {
        const float3 extent = upper - lower;
        return {lower, make_float3(scale_of(extent.x), scale_of(extent.y), scale_of(extent.z))};
    }
    // Clamped as a float: what a NaN or an infinity becomes as an integer differs from target to target. Inactive ones
    // fall into the last bin.
    __device__ int bin(int axis, const Aabb& box) const {
        if (is_empty(box)) return BINS - 1;
        const float3 place = (centre(box) - lower);
        const float at = axis == 0 ? place.x * scale.x : axis == 1 ? place.y * scale.y : place.z * scale.z;
        return (int)min(max(at, 0.0f), (float)(BINS - 1));
    }
};

// Ordered integers (atomics.cuh), so that any order of merging gives the same bytes.
struct Bin : BinRow {
    __device__ void clear() {
        for (int k = 0; k < 3; ++k) {
            lower[k] = ordered_int(FLOAT_MAX);
            upper[k] = ordered_int(-FLOAT_MAX);
        }
        count = 0;
    }
    __device__ Aabb box() const {
        return {make_float3(ordered_float(lower[0]), ordered_float(lower[1]), ordered_float(lower[2])),
                make_float3(ordered_float(upper[0]), ordered_float(upper[1]), ordered_float(upper[2]))};
    }
    // A larger box; for bins of one block.
    __device__ void widen_in_block(const Aabb& box) {
        const int low[3] = {ordered_int(box.lower.x), ordered_int(box.lower.y), ordered_int(box.lower.z)};
        const int high[3] = {ordered_int(box.upper.x), ordered_int(box.upper.y), ordered_int(box.upper.z)};
        for (int k = 0; k < 3; ++k) {
            block_atomic_min(&lower[k], low[k]);
            block_atomic_max(&upper[k], high[k]);
        }
    }
    // One more reference; for bins of one block.
    __device__ void grow_in_block(const Aabb& box) {
        widen_in_block(box);
        block_atomic_add(&count, 1);
    }
    // Another bin's references; for bins that blocks share.
    __device__ void merge(const Bin& other) {
        for (int k = 0; k < 3; ++k) {
            atomic_min(&lower[k], other.lower[k]);
            atomic_max(&upper[k], other.upper[k]);
        }
        atomic_add(&count, other.count);
    }
};

// A candidate's number in its word (planes.cuh): axis * BINS + the last bin on the left side.
__device__ __forceinline__ int plane_axis(uint64 key) { return (int)(key & 0xffffffffu) / BINS; }
__device__ __forceinline__ int plane_bin(uint64 key) { return (int)(key & 0xffffffffu) % BINS; }

// The best plane of an axis from its BINS bins, by a sweep from above, which keeps its costs in `above` (BINS floats of
// this axis alone; shared memory rather than registers), and one from below. A plane with an empty side is none, nor is
// one whose cost is not finite.
__device__ __forceinline__ uint64 best_plane(const Bin* bins, int axis, float* above) {
    Aabb box = empty_aabb();
    int count = 0;
#pragma unroll 1
    for (int bin = BINS - 1; bin > 0; --bin) {
        box = merge(box, bins[bin].box());
        count += bins[bin].count;
        above[bin] = count > 0 ? half_area(box) * (float)count : -1.0f;
    }
    uint64 best = NO_PLANE;
    box = empty_aabb();
    count = 0;
#pragma unroll 1
    for (int bin = 0; bin < BINS - 1; ++bin) {
        box = merge(box, bins[bin].box());
        count += bins[bin].count;
        const float cost = half_area(box) * (float)count + above[bin + 1];
        if (count == 0 || above[bin + 1] < 0.0f || !(cost <= FLOAT_MAX)) continue;
        best = better(best, plane_word(cost, axis * BINS + bin));
    }
    return best;
}
