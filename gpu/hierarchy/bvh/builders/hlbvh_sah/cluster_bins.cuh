// Bins over clusters, and the planes between them: what both ways of splitting above the clusters share. Bins count
// along the cells' own grid. Unit constants: CODE_BITS, CLUSTER_BITS, BINS.
// from gpu.hierarchy.bvh.builders.hlbvh_sah.clusters import ClusterBinRow
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/clusters.cuh"

constexpr int TASK_BINS = 3 * BINS;
constexpr int NO_SPLIT = -1;

// What fell into a bin.
struct ClusterBin : ClusterBinRow {
    __device__ void clear() {
        for (int i = 0; i < 6; ++i) box[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
        reference_count = cluster_count = 0;
    }
    __device__ void add(const ClusterBin& other) {
        for (int i = 0; i < 3; ++i) box[i] = min(box[i], other.box[i]);
        for (int i = 3; i < 6; ++i) box[i] = max(box[i], other.box[i]);
        reference_count += other.reference_count;
        cluster_count += other.cluster_count;
    }
    __device__ float cost() const {
        const Aabb joined = {make_float3(ordered_float(box[0]), ordered_float(box[1]), ordered_float(box[2])),
                             make_float3(ordered_float(box[3]), ordered_float(box[4]), ordered_float(box[5]))};
        return half_area(joined) * (float)reference_count;
    }
};

__device__ __forceinline__ int bin_of(int cell, int axis) {
    const int place = cell_coordinate(cell, axis);
    return BINS < AXIS_CELLS ? place * BINS / AXIS_CELLS : place;
}

// What fell into a bin of this block, or a cluster, in a bin that all share.
__device__ __forceinline__ void share_bin(ClusterBin& bin, const int* box, int reference_count, int cluster_count) {
    for (int i = 0; i < 3; ++i) atomic_min(&bin.box[i], box[i]);
    for (int i = 3; i < 6; ++i) atomic_max(&bin.box[i], box[i]);
    atomic_add(&bin.reference_count, reference_count);
    atomic_add(&bin.cluster_count, cluster_count);
}

// The cheapest plane of one task, of equal ones the first: 3 * plane + axis, or NO_SPLIT. All threads of the block call
// it.
__device__ __forceinline__ int find_plane(const ClusterBin* bins, int* left_count) {
    constexpr int NONE = 0x7fffffff;
    float best_cost = FLOAT_MAX;
    int best = NONE, best_left = 0;
    for (int candidate : block_stride(TASK_BINS)) {
        const int axis = candidate % 3, plane = candidate / 3;
        ClusterBin side;
        side.clear();
#pragma unroll 2
        for (int bin = 0; bin <= plane; ++bin) side.add(bins[axis * BINS + bin]);
        const int left = side.cluster_count;
        const float left_cost = side.cost();
        side.clear();
#pragma unroll 2
        for (int bin = plane + 1; bin < BINS; ++bin) side.add(bins[axis * BINS + bin]);
        if (left == 0 || side.cluster_count == 0) continue;
        // Equation 4.6; the terms that all planes have in common are left out. What overflows counts as the largest.
        const float cost = min(left_cost + side.cost(), FLOAT_MAX);
        if (best != NONE && cost >= best_cost) continue;
        best_cost = cost;
        best = candidate;
        best_left = left;
    }
    const float least = block_min(best_cost);
    const int chosen = block_min(best_cost == least ? best : NONE);
    if (chosen == NONE) return NO_SPLIT;
    if (best == chosen) *left_count = best_left;
    block_sync();
    return chosen;
}
