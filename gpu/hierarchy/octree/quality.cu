// What the SAH cost does not say of an octree, beside the overlap (overlap.cu), by the definitions for BVHs with cells
// in the place of boxes: its levels, and leaf-count variability, the standard deviation of the number of leaves that a
// line through the scene's box meets (Aila, Karras and Laine, On Quality Metrics of Bounding Volume Hierarchies, 2013).
// On request, outside the frame.
//
// Children that hold nothing are leaves among the levels, and not counted on lines. Unit constant: LEVELS.
#include "gpu/device/tree_quality.cuh"
#include "gpu/hierarchy/octree/way_down.cuh"

// Leaves with references on a line.
__device__ double leaves_met(const int2* nodes, const OctreeSpace& space, const Line& line) {
    NodeOnWay way[OCTREE_LEVELS + 1];
    int level = 0;
    double met = 0.0;
    way[0] = on_way(nodes[0], {0, 0, 0, 0});
    if (is_octree_leaf(way[0].node)) return leaf_count_of(way[0].node) > 0 ? 1.0 : 0.0;
    for (;;) {
        if (way[level].waiting == 0u) {
            if (level == 0) return met;
            --level;
            continue;
        }
        int node_id;
        const OctreeCell cell = way[level].cell.child(way[level].take_next(node_id));
        if (!line.meets(space.box_of(cell))) continue;
        const int2 node = nodes[node_id];
        if (is_octree_leaf(node)) met += leaf_count_of(node) > 0 ? 1.0 : 0.0;
        else way[++level] = on_way(node, cell);
    }
}

// `sums`: LineCounts of each block.
extern "C" __global__ void count_leaves(const int2* nodes, const float4* root_box, int line_count, double* sums) {
    const Aabb box = load_root_box(root_box);
    const OctreeSpace space = load_space(root_box);
    LineCounts counts = {};
    for (int i : grid_stride(line_count)) {
        const Line line = line_through(box, i);
        if (line.meets(box)) counts.add(leaves_met(nodes, space, line));
    }
    counts.store(sums);
}

// `levels` (zero before): LevelCounts.
extern "C" __global__ void count_levels(const int* counts, const int2* nodes, const int* parent, int* levels) {
    SHARED LevelCounts<LEVELS> found;
    found.begin();
    for (int node_id : grid_stride(counts[NODES_NOW])) {
        const int depth = cell_of_node(nodes, parent, node_id).level;
        if (is_octree_leaf(nodes[node_id])) {
            found.add_leaves(depth, 1);
            continue;
        }
        found.add_inner(depth);
        found.add_leaves(depth + 1, 8 - __popc(child_mask(nodes[node_id])));
    }
    found.store(levels);
}
