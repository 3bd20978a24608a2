// What the SAH cost does not say of a kd-tree, beside the overlap (overlap.cu), by the definitions for BVHs with cells
// in the place of boxes: its levels, and leaf-count variability, the standard deviation of the number of leaves that a
// line through the root's cell meets (Aila, Karras and Laine, On Quality Metrics of Bounding Volume Hierarchies, 2013).
// On request, outside the frame.
//
// Empty leaves, which a BVH does not have, are passed like inner nodes and not counted on lines; among the levels they
// are leaves. Unit constants: STACK_DEPTH (more than the levels of any tree), LEVELS.
#include "gpu/device/tree_quality.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

// The part of a line in a cell, which is closed: from one distance to another.
struct Interval {
    double from, to;

    __device__ bool is_any() const { return from <= to; }
};
// The part of a line on one side of a plane: what Line::meets would say of a box that ends there.
__device__ Interval beside_plane(const Line& line, Interval all, int axis, float plane, bool is_below) {
    const double at = ((double)plane - line.origin[axis]) * line.inverse[axis];
    if (is_below == line.inverse[axis] > 0.0) all.to = at < all.to ? at : all.to;
    else all.from = at > all.from ? at : all.from;
    return all;
}
__device__ Interval inside_box(const Line& line, const Aabb& box) {
    Interval all = {-1e300, 1e300};
    for (int axis = 0; axis < 3; ++axis) {
        all = beside_plane(line, all, axis, along(box.lower, axis), false);
        all = beside_plane(line, all, axis, along(box.upper, axis), true);
    }
    return all;
}

// Leaves with references on a line.
__device__ double leaves_met(const int2* nodes, const Line& line, Interval all) {
    int waiting[STACK_DEPTH];
    Interval parts[STACK_DEPTH];
    int count = 1;
    double met = 0.0;
    waiting[0] = 0;
    parts[0] = all;
    while (count > 0) {
        const int node_id = waiting[--count];
        const Interval here = parts[count];
        const int2 node = nodes[node_id];
        if (is_kd_leaf(node)) {
            met += kd_count(node) > 0 ? 1.0 : 0.0;
            continue;
        }
        for (int side = 0; side < 2; ++side) {
            const Interval part = beside_plane(line, here, kd_axis(node), kd_plane(node), side == 0);
            if (!part.is_any()) continue;
            waiting[count] = kd_left(node) + side;
            parts[count++] = part;
        }
    }
    return met;
}

// `sums`: LineCounts of each block.
extern "C" __global__ void count_leaves(const int2* nodes, const float4* root_box, int line_count, double* sums) {
    const Aabb box = load_root_box(root_box);
    LineCounts counts = {};
    for (int i : grid_stride(line_count)) {
        const Line line = line_through(box, i);
        const Interval all = inside_box(line, box);
        if (!is_empty(box) && all.is_any()) counts.add(leaves_met(nodes, line, all));
    }
    counts.store(sums);
}

// `levels` (zero before): LevelCounts.
extern "C" __global__ void count_levels(const int* counts, const int2* nodes, const int* parent, int* levels) {
    SHARED LevelCounts<LEVELS> found;
    found.begin();
    for (int node_id : grid_stride(counts[NODES_NOW])) {
        int depth = 0;
        for (int above = node_id; above != 0 && depth < STACK_DEPTH; above = parent[above]) ++depth;
        if (is_kd_leaf(nodes[node_id])) found.add_leaves(depth, 1);
        else found.add_inner(depth);
    }
    found.store(levels);
}
