// End-point overlap of an octree, by the definition for BVHs with cells in the place of boxes, as for kd-trees
// (gpu/hierarchy/kdtree/overlap.cu): the area of surfaces in a node's cell while no leaf below it that they reach
// refers to them, times the node's cost, summed over all nodes and divided by the area of all surfaces. Children that
// hold nothing cost nothing. Cells do not overlap, so that the figure is 0 but for rounding.
//
// Of large trees some surfaces stand for all, as for BVHs. On request, outside the frame. Launch order: add_areas where
// not all surfaces are samples, measure_overlap. Unit constant: SAMPLE_EVERY.
#include "gpu/hierarchy/octree/way_down.cuh"
#include "gpu/hierarchy/surface_in_cells.cuh"

struct Octree {
    Pointer<const int2> nodes;
    Pointer<const int> references;
    OctreeSpace space;
    double traversal_cost, intersection_cost;

    __device__ double cost_of(int2 node) const {
        return is_octree_leaf(node) ? intersection_cost * leaf_count_of(node) : traversal_cost;
    }
    __device__ bool refers(int2 leaf, int prim_id) const {
        for (int i = 0; i < leaf_count_of(leaf); ++i) {
            if (references[leaf.x + i] == prim_id) return true;
        }
        return false;
    }
};

// Areas of a surface in the cells of nodes below which no leaf refers to it, times the nodes' costs. Every node that it
// reaches into is entered and left once; on the way up a node knows whether one of its children refers to the surface.
__device__ double overlap_of(const Octree& tree, const Surface& surface, int prim_id, Polygon* parts) {
    NodeOnWay way[OCTREE_LEVELS + 1];
    unsigned holds = 0u;  // a bit a level: whether a leaf below refers to the surface
    double sum = 0.0;
    int level = 0;
    way[0] = on_way(tree.nodes[0], {0, 0, 0, 0});
    for (;;) {
        NodeOnWay& here = way[level];
        if (here.waiting != 0u) {
            int node_id;
            const OctreeCell cell = here.cell.child(here.take_next(node_id));
            if (!surface.reaches(tree.space.box_of(cell))) continue;
            way[++level] = on_way(tree.nodes[node_id], cell);
            holds &= ~(1u << level);
            continue;
        }
        if (is_octree_leaf(here.node) && tree.refers(here.node, prim_id)) holds |= 1u << level;
        const Aabb cell = tree.space.box_of(here.cell);
        const bool is_held = holds >> level & 1u;
        if (!is_held && tree.cost_of(here.node) > 0.0 && !surface.is_beside(cell)) {
            cut_to(surface.polygon, cell, parts);
            sum += tree.cost_of(here.node) * area_of(parts[0]);
        }
        if (level == 0) return sum;
        --level;
        if (is_held) holds |= 1u << level;
    }
}

// `areas`: the surfaces of a block's primitives, one double per block.
extern "C" __global__ void add_areas(Primitives primitives, float4* record_data, double* areas) {
    const Records records = {record_data};
    double area = 0.0;
    for (int prim_id : grid_stride(primitives.count)) {
        float3 corners[3];
        if (!records.is_active(prim_id)) continue;
        primitives.vertices(prim_id, corners[0], corners[1], corners[2]);
        area += area_of(triangle_polygon(corners));
    }
    area = block_sum(area);
    if (thread_index() == 0) areas[block_index()] = area;
}

// `sums`: 2 doubles per block, overlap and area. `areas`: as many as there are blocks, from add_areas; `samples`: about
// as many surfaces are taken.
extern "C" __global__ void measure_overlap(Primitives primitives, float4* record_data, const int2* nodes,
                                           const int* references, const float4* root_box, float traversal_cost,
                                           float intersection_cost, const double* areas, int samples, double* sums) {
    const Records records = {record_data};
    const Octree tree = {nodes, references, load_space(root_box), traversal_cost, intersection_cost};
    double overlap = 0.0, area = 0.0;
    const double large = SAMPLE_EVERY > 1 ? large_area(areas, samples) : 0.0;
    for (int prim_id : grid_stride(primitives.count)) {
        float3 corners[3];
        Polygon parts[2];
        if (!records.is_active(prim_id)) continue;
        primitives.vertices(prim_id, corners[0], corners[1], corners[2]);
        const Surface surface(corners);
        const double own = area_of(surface.polygon), weight = stands_for(prim_id, SAMPLE_EVERY, own, large);
        if (weight == 0.0) continue;
        area += weight * own;
        overlap += weight * overlap_of(tree, surface, prim_id, parts);
    }
    store_overlap(overlap, area, sums);
}
