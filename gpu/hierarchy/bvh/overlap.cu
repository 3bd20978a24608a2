// End-point overlap (Aila, Karras and Laine, On Quality Metrics of Bounding Volume Hierarchies, 2013): the area of
// surfaces that lie in a node's box and not in its subtree, times the node's cost, summed over all nodes and divided by
// the area of all surfaces. A reference that is a part of a primitive counts as the surface of that part. On request,
// outside the frame.
//
// Of large trees some surfaces stand for all: each so many-th, and all that are larger than the mean of as many samples
// would be. A few large ones, floors and walls, lie in most of the boxes and have most of the area: by chance alone the
// figure would depend on which of them are among the samples.
//
// Launch order: add_areas where not all surfaces are samples, measure_overlap. Unit constants: STACK_DEPTH,
// SAMPLE_EVERY.
#include "gpu/device/tree_quality.cuh"
#include "gpu/hierarchy/bvh/canonical.cuh"

// -- the tree --------------------------------------------------------------------------------------------

struct Tree {
    Primitives primitives;
    Pointer<const int> order;
    ReferencesOf<Records> references;
    Pointer<const float4> nodes;
    double traversal_cost, intersection_cost;

    __device__ double cost_of(int child) const {
        return is_leaf(child) ? intersection_cost * references.count(child) : traversal_cost;
    }

    // The surface of a reference, in `parts[0]`.
    __device__ void surface(int reference, Polygon* parts) const {
        float3 corners[3];
        primitives.vertices(order[reference], corners[0], corners[1], corners[2]);
        const Polygon whole = triangle_polygon(corners);
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
template <class Visit>
__device__ void for_each_reference(const Tree& tree, const uint8* flags, int node_capacity, const Visit& visit) {
    for (int node_id : grid_stride(node_capacity)) {
        if (!(flags[node_id] & NODE_EXISTS)) continue;
        const CanonicalNode node = load_node(tree.nodes, node_id);
        const int children[2] = {node.left, node.right};
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            if (!is_leaf(children[side])) continue;
            const int first = first_reference(children[side]), last = first + tree.references.count(children[side]);
            for (int reference = first; reference < last; ++reference) {
                if (tree.references.records.is_active(reference)) visit(reference, children[side], node_id);
            }
        }
    }
}

// `areas`: the surfaces of a block's references, one double per block.
extern "C" __global__ void add_areas(Primitives primitives, const int* order, float4* record_data,
                                     const float4* reference_boxes, const int* long_leaves, const float4* nodes,
                                     const uint8* flags, int node_capacity, double* areas) {
    const Tree tree = {primitives, order, {{record_data}, reference_boxes, long_leaves}, nodes, 0.0, 0.0};
    double area = 0.0;
    for_each_reference(tree, flags, node_capacity, [&](int reference, int, int) {
        Polygon surface[2];
        tree.surface(reference, surface);
        area += area_of(surface[0]);
    });
    area = block_sum(area);
    if (thread_index() == 0) areas[block_index()] = area;
}

// `sums`: 2 doubles per block, overlap and area. Each surface climbs from its leaf to the root: what hangs beside its
// way does not hold it. `areas`: as many as there are blocks, from add_areas; `samples`: about as many surfaces are
// taken.
extern "C" __global__ void measure_overlap(Primitives primitives, const int* order, float4* record_data,
                                           const float4* reference_boxes, const int* long_leaves, const float4* nodes,
                                           const int* parent, const uint8* flags, int node_capacity,
                                           float traversal_cost, float intersection_cost, const double* areas,
                                           int samples, double* sums) {
    const Tree tree = {primitives, order,          {{record_data}, reference_boxes, long_leaves},
                       nodes,      traversal_cost, intersection_cost};
    double overlap = 0.0, area = 0.0;
    const double large = SAMPLE_EVERY > 1 ? large_area(areas, samples) : 0.0;
    for_each_reference(tree, flags, node_capacity, [&](int reference, int leaf, int node_id) {
        Polygon surface[2], parts[2];
        tree.surface(reference, surface);
        const double own = area_of(surface[0]);
        const double weight = stands_for(reference, SAMPLE_EVERY, own, large);
        if (weight == 0.0) return;
        area += weight * own;
        for (int below = leaf, above_id = node_id; above_id >= 0;
             below = above_id, above_id = above_id == 0 ? -1 : parent[above_id]) {
            const CanonicalNode above = load_node(nodes, above_id);
            overlap += weight * tree.overlap(surface[0], above.left == below ? above.right : above.left, parts);
        }
    });
    store_overlap(overlap, area, sums);
}
