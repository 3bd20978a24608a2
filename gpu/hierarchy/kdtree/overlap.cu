// End-point overlap of a kd-tree, by the definition for BVHs with cells in the place of boxes (Aila, Karras and Laine,
// On Quality Metrics of Bounding Volume Hierarchies, 2013): the area of surfaces that lie in a node's cell while no
// leaf below it that they reach refers to them, times the node's cost, summed over all nodes and divided by the area of
// all surfaces. A surface counts once, however many leaves refer to it; an empty leaf costs nothing. What lies in a
// plane that ends a cell is not in the cell: it is listed on one side, and rays pay as much as if it were beside the
// plane. So cells, which do not overlap, have none: the figure is 0 but for rounding, and anything more is the area of
// surfaces that the tree has lost.
//
// Of large trees some surfaces stand for all, as for BVHs. On request, outside the frame. Launch order: add_areas where
// not all surfaces are samples, measure_overlap. Unit constants: STACK_DEPTH (more than the levels of any tree),
// SAMPLE_EVERY.
#include "gpu/hierarchy/kdtree/nodes.cuh"
#include "gpu/hierarchy/surface_in_cells.cuh"

static_assert(STACK_DEPTH <= 64, "a word keeps a bit a level");

struct KdTree {
    Pointer<const int2> nodes;
    Pointer<const int> references;
    double traversal_cost, intersection_cost;

    __device__ double cost_of(int2 node) const {
        return is_kd_leaf(node) ? intersection_cost * kd_count(node) : traversal_cost;
    }
    __device__ bool refers(int2 leaf, int prim_id) const {
        for (int i = 0; i < kd_count(leaf); ++i) {
            if (references[(unsigned)leaf.x + i] == prim_id) return true;
        }
        return false;
    }
};

__device__ __forceinline__ float cut_cell(Aabb& cell, int axis, bool is_right, float plane) {
    float3& corner = is_right ? cell.lower : cell.upper;
    const float before = along(corner, axis);
    set_along(corner, axis, plane);
    return before;
}

// Areas of a surface in the cells of nodes below which no leaf refers to it, times the nodes' costs. Every node that it
// reaches into is entered and left once; on the way up a node knows whether one of its children refers to the surface.
__device__ double overlap_of(const KdTree& tree, const Aabb& root_box, const Surface& surface, int prim_id,
                             Polygon* parts) {
    int path[STACK_DEPTH];
    float before[STACK_DEPTH];  // the bound of the cell that the way down from each level has moved
    // a bit a level: whether a leaf below refers to the surface; which child the way goes through
    uint64 holds = 0, is_right = 0;
    Aabb cell = root_box;
    double sum = 0.0;
    int level = 0, next_side = 0;  // the side of the node at `level` that is to be looked at next
    path[0] = 0;
    for (;;) {
        const int2 node = tree.nodes[path[level]];
        const uint64 bit = (uint64)1 << level;
        if (is_kd_leaf(node)) {
            if (tree.refers(node, prim_id)) holds |= bit;
            next_side = 2;
        }
        bool goes_down = false;
        for (; next_side < 2 && !goes_down; ++next_side) {
            const float was = cut_cell(cell, kd_axis(node), next_side == 1, kd_plane(node));
            goes_down = surface.reaches(cell);
            if (!goes_down) {
                cut_cell(cell, kd_axis(node), next_side == 1, was);
                continue;
            }
            before[level] = was;
            is_right = next_side == 1 ? is_right | bit : is_right & ~bit;
            path[level + 1] = kd_left(node) + next_side;
        }
        if (goes_down) {
            ++level;
            holds &= ~((uint64)1 << level);
            next_side = 0;
            continue;
        }
        const bool is_held = holds & bit;
        if (!is_held && tree.cost_of(node) > 0.0 && !surface.is_beside(cell)) {
            cut_to(surface.polygon, cell, parts);
            sum += tree.cost_of(node) * area_of(parts[0]);
        }
        if (level == 0) return sum;
        --level;
        const uint64 above = (uint64)1 << level;
        if (is_held) holds |= above;
        const bool came_right = is_right & above;
        cut_cell(cell, kd_axis(tree.nodes[path[level]]), came_right, before[level]);
        next_side = came_right ? 2 : 1;
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
    const KdTree tree = {nodes, references, traversal_cost, intersection_cost};
    const Aabb box = load_root_box(root_box);
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
        overlap += weight * overlap_of(tree, box, surface, prim_id, parts);
    }
    store_overlap(overlap, area, sums);
}
