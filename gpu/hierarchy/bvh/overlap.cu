// End-point overlap (Aila, Karras and Laine, On Quality Metrics of Bounding Volume Hierarchies, 2013): the area of surfaces that lie in a node's box
// and not in its subtree, times the node's cost, summed over all nodes and divided by the area of all surfaces. A reference that is a part of a
// primitive counts as the surface of that part. On request, outside the frame, in double precision and fixed blocks: equal trees, equal figures.
//
// Of large trees some surfaces stand for all: each so many-th, and all that are larger than the mean of as many samples would be. A few large ones,
// floors and walls, lie in most of the boxes and have most of the area: by chance alone the figure would depend on which of them are among the samples.
//
// Launch order: add_areas where not all surfaces are samples, measure_overlap. Unit constants: STACK_DEPTH, SAMPLE_EVERY.
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

// -- surfaces in boxes ---------------------------------------------------------------------------------------------------

constexpr int MAX_CORNERS = 9;  // a triangle cut by six planes

// Corner after corner, x, y, z; in memory, because it is indexed by what is only known then.
struct Polygon {
    double corners[3 * MAX_CORNERS];
    int count;
};

// What lies on the side of `plane` where sign x coordinate is at most sign x plane (Sutherland and Hodgman 1974).
__device__ __noinline__ void cut(const Polygon& polygon, int axis, double plane, double sign, Polygon& kept) {
    kept.count = 0;
#pragma unroll 1
    for (int i = 0; i < polygon.count; ++i) {
        const double* from = polygon.corners + 3 * i;
        const double* to = polygon.corners + (i + 1 < polygon.count ? 3 * i + 3 : 0);
        const double inside = sign * (plane - from[axis]), next = sign * (plane - to[axis]);
        const bool crosses = (inside > 0.0 && next < 0.0) || (inside < 0.0 && next > 0.0);
        const double along = crosses ? inside / (inside - next) : 0.0;
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            double* at = kept.corners + 3 * kept.count + k;
            if (inside >= 0.0) *at = from[k];
            if (crosses) at[inside >= 0.0 ? 3 : 0] = k == axis ? plane : from[k] + along * (to[k] - from[k]);
        }
        kept.count += (inside >= 0.0) + crosses;
    }
}

__device__ double area_of(const Polygon& polygon) {
    double x = 0.0, y = 0.0, z = 0.0;
    const double* o = polygon.corners;
#pragma unroll 1
    for (int i = 1; i + 1 < polygon.count; ++i) {
        const double *a = o + 3 * i, *b = a + 3;
        x += (a[1] - o[1]) * (b[2] - o[2]) - (a[2] - o[2]) * (b[1] - o[1]);
        y += (a[2] - o[2]) * (b[0] - o[0]) - (a[0] - o[0]) * (b[2] - o[2]);
        z += (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    }
    return 0.5 * sqrt(x * x + y * y + z * z);
}

// The part of a polygon inside a box, in `parts[0]`; `parts[1]` is used on the way.
__device__ void cut_to(const Polygon& polygon, const Aabb& box, Polygon* parts) {
    const double planes[6] = {box.upper.x, box.upper.y, box.upper.z, box.lower.x, box.lower.y, box.lower.z};
    cut(polygon, 0, planes[0], 1.0, parts[1]);
#pragma unroll 1
    for (int side = 1; side < 6; ++side) cut(parts[side % 2], side % 3, planes[side], side < 3 ? 1.0 : -1.0, parts[1 - side % 2]);
}

// -- the tree --------------------------------------------------------------------------------------------------------------

struct Tree {
    Primitives primitives;
    const int* order;
    ReferencesOf<Records> references;
    const float4* nodes;
    double traversal_cost, intersection_cost;

    __device__ double cost_of(int child) const { return is_leaf(child) ? intersection_cost * reference_count(child) : traversal_cost; }

    // The surface of a reference, in `parts[0]`.
    __device__ void surface(int reference, Polygon* parts) const {
        float3 corners[3];
        primitives.vertices(order[reference], corners[0], corners[1], corners[2]);
        Polygon whole;
        whole.count = 3;
#pragma unroll 1
        for (int i = 0; i < 3; ++i) {
            whole.corners[3 * i] = corners[i].x;
            whole.corners[3 * i + 1] = corners[i].y;
            whole.corners[3 * i + 2] = corners[i].z;
        }
        if (references.boxes == nullptr) parts[0] = whole;
        else cut_to(whole, references.own_box(reference), parts);
    }

    // Areas of a surface in a subtree to which it does not belong, times the nodes' costs.
    __device__ double overlap(const Polygon& surface, int subtree, Polygon* parts) const {
        int waiting[STACK_DEPTH];
        int count = 0;
        double sum = 0.0;
        waiting[count++] = subtree;
        while (count > 0) {
            const int child = waiting[--count];
            cut_to(surface, child_aabb(nodes, references, child), parts);
            const double area = area_of(parts[0]);
            if (area <= 0.0) continue;
            sum += cost_of(child) * area;
            if (is_leaf(child)) continue;
            const CanonicalNode node = load_node(nodes, child);
            waiting[count++] = node.left;
            waiting[count++] = node.right;
        }
        return sum;
    }
};

// Calls `visit(reference, child, node_id)` for every active reference of this thread's nodes' leaves.
template <class Visit> __device__ void for_each_reference(const Tree& tree, const uint8* flags, int node_capacity, const Visit& visit) {
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(tree.nodes, node_id);
        const int children[2] = {node.left, node.right};
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            if (!is_leaf(children[side])) continue;
            const int first = first_reference(children[side]), last = first + reference_count(children[side]);
            for (int reference = first; reference < last; ++reference) {
                if (tree.references.records.is_active(reference)) visit(reference, children[side], node_id);
            }
        }
    }
}

// `areas`: the surfaces of a block's references, one double a block.
extern "C" __global__ void add_areas(Primitives primitives, const int* order, float4* record_data, const float4* reference_boxes, const float4* nodes,
                                     const uint8* flags, int node_capacity, double* areas) {
    const Tree tree = {primitives, order, {{record_data}, reference_boxes}, nodes, 0.0, 0.0};
    double area = 0.0;
    for_each_reference(tree, flags, node_capacity, [&](int reference, int, int) {
        Polygon surface[2];
        tree.surface(reference, surface);
        area += area_of(surface[0]);
    });
    area = block_sum(area);
    if (thread_index() == 0) areas[block_index()] = area;
}

// `sums`: 2 doubles a block, overlap and area. Each surface climbs from its leaf to the root: what hangs beside its way does not hold it. `areas`: as
// many as there are blocks, from add_areas; `samples`: about as many surfaces are taken.
extern "C" __global__ void measure_overlap(Primitives primitives, const int* order, float4* record_data, const float4* reference_boxes, const float4* nodes,
                                           const int* parent, const uint8* flags, int node_capacity, float traversal_cost, float intersection_cost,
                                           const double* areas, int samples, double* sums) {
    const Tree tree = {primitives, order, {{record_data}, reference_boxes}, nodes, traversal_cost, intersection_cost};
    double overlap = 0.0, area = 0.0;
    SHARED double large;
    if (thread_index() == 0) {
        double all = 0.0;
        for (int block = 0; SAMPLE_EVERY > 1 && block < block_count(); ++block) all += areas[block];
        large = all / samples;
    }
    block_sync();
    for_each_reference(tree, flags, node_capacity, [&](int reference, int leaf, int node_id) {
        Polygon surface[2], parts[2];
        tree.surface(reference, surface);
        const double own = area_of(surface[0]);
        const bool is_large = SAMPLE_EVERY == 1 || own >= large;
        if (!is_large && reference % SAMPLE_EVERY != 0) return;
        const double stands_for = is_large ? 1.0 : SAMPLE_EVERY;
        area += stands_for * own;
        for (int below = leaf, above_id = node_id; above_id >= 0; below = above_id, above_id = above_id == 0 ? -1 : parent[above_id]) {
            const CanonicalNode above = load_node(nodes, above_id);
            overlap += stands_for * tree.overlap(surface[0], above.left == below ? above.right : above.left, parts);
        }
    });
    overlap = block_sum(overlap);
    area = block_sum(area);
    if (thread_index() != 0) return;
    sums[2 * block_index()] = overlap;
    sums[2 * block_index() + 1] = area;
}
