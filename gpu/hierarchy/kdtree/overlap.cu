// End-point overlap of a kd-tree, by the definition for BVHs with cells in the place of boxes (Aila, Karras and Laine, On Quality Metrics of Bounding
// Volume Hierarchies, 2013): the area of surfaces that lie in a node's cell while no leaf below it that they reach refers to them, times the node's
// cost, summed over all nodes and divided by the area of all surfaces. A surface counts once, however many leaves refer to it; an empty leaf costs
// nothing. What lies in a plane that ends a cell is not in the cell: it is listed on one side, and rays pay as much as if it were beside the plane.
// So cells, which do not overlap, have none: the figure is 0 but for rounding, and anything more is the area of surfaces that the tree has lost.
//
// Of large trees some surfaces stand for all, as for BVHs. On request, outside the frame. Launch order: add_areas where not all surfaces are samples,
// measure_overlap. Unit constants: STACK_DEPTH (more than the levels of any tree), SAMPLE_EVERY.
#include "gpu/device/tree_quality.cuh"
#include "gpu/hierarchy/kdtree/nodes.cuh"

static_assert(STACK_DEPTH <= 64, "a word keeps a bit a level");

// A triangle, and what cells it can reach into: those that meet its box, and its plane.
struct Surface {
    Polygon polygon;
    Aabb box;
    double normal[3], along_normal;

    __device__ explicit Surface(const float3* corners) : polygon(triangle_polygon(corners)), box(empty_aabb()) {
        for (int i = 0; i < 3; ++i) box = merge(box, Aabb{corners[i], corners[i]});
        const double *a = polygon.corners, *b = a + 3, *c = a + 6;
        for (int k = 0; k < 3; ++k) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            normal[k] = (b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]);
        }
        along_normal = normal[0] * a[0] + normal[1] * a[1] + normal[2] * a[2];
    }
    // Whether it lies in a plane that ends the cell.
    __device__ bool is_beside(const Aabb& cell) const {
        for (int k = 0; k < 3; ++k) {
            const float at = along(box.lower, k);
            if (at == along(box.upper, k) && (at == along(cell.lower, k) || at == along(cell.upper, k))) return true;
        }
        return false;
    }
    // False only where nothing of the triangle lies in the closed cell; rounding is far below a part in 1e9.
    __device__ bool reaches(const Aabb& cell) const {
        double middle = -along_normal, reach = 0.0, size = along_normal < 0.0 ? -along_normal : along_normal;
        for (int k = 0; k < 3; ++k) {
            const double lower = along(cell.lower, k), upper = along(cell.upper, k), steep = normal[k] < 0.0 ? -normal[k] : normal[k];
            if (lower > along(box.upper, k) || upper < along(box.lower, k)) return false;
            middle += normal[k] * 0.5 * (lower + upper);
            reach += steep * 0.5 * (upper - lower);
            size += steep * ((lower < 0.0 ? -lower : lower) + (upper < 0.0 ? -upper : upper));
        }
        return (middle < 0.0 ? -middle : middle) <= reach + 1e-9 * size;
    }
};

struct KdTree {
    const int2* nodes;
    const int* references;
    double traversal_cost, intersection_cost;

    __device__ double cost_of(int2 node) const { return is_kd_leaf(node) ? intersection_cost * kd_count(node) : traversal_cost; }
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

// Areas of a surface in the cells of nodes below which no leaf refers to it, times the nodes' costs. Every node that it reaches into is entered and left
// once; on the way up a node knows whether one of its children refers to the surface.
__device__ double overlap_of(const KdTree& tree, const Aabb& root_box, const Surface& surface, int prim_id, Polygon* parts) {
    int path[STACK_DEPTH];
    float before[STACK_DEPTH];  // the bound of the cell that the way down from each level has moved
    uint64 holds = 0, is_right = 0;  // a bit a level: whether a leaf below refers to the surface; which child the way goes through
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

// `areas`: the surfaces of a block's primitives, one double a block.
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

// `sums`: 2 doubles a block, overlap and area. `areas`: as many as there are blocks, from add_areas; `samples`: about as many surfaces are taken.
extern "C" __global__ void measure_overlap(Primitives primitives, float4* record_data, const int2* nodes, const int* references, const float4* root_box,
                                           float traversal_cost, float intersection_cost, const double* areas, int samples, double* sums) {
    const Records records = {record_data};
    const KdTree tree = {nodes, references, traversal_cost, intersection_cost};
    const Aabb box = load_kd_box(root_box);
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
