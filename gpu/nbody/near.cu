// Bodies of the leaves in each leaf's list -> the field of its bodies (P2P): a warp a leaf, a lane or a pack of lanes
// its bodies.
#include "gpu/hierarchy/octree/point_tree.cuh"
#include "gpu/nbody/attraction.cuh"
#include "gpu/device/warp_stride.cuh"

// field (n) of the sorted bodies.
extern "C" __global__ void sum_near(PointTreeView tree, const int* first_near, const int* near_count, const int* near,
                                    float softening2, const int* lacking, float4* field) {
    for (int node : warp_stride(*lacking != 0 ? 0 : tree.counts[TREE_COUNTS::nodes])) {
        if (tree.child_count[node] > 0) continue;
        const int first = tree.first_point[node], count = tree.point_count[node];
        for (int pack : lane_stride((count + PACK - 1) / PACK)) {
            const PackPlaces at = load_places(tree.points, first + pack * PACK, first + count);
            PackField sum = no_field();
            for (int i = 0; i < near_count[node]; ++i) {
                const int source = near[first_near[node] + i];
                const float4* bodies = tree.points + tree.first_point[source];
                const Int own = lane_index() + pack * PACK;
                sum.add(source == node ? attract_all<true>(at, bodies, tree.point_count[source], own, softening2)
                                       : attract_all<false>(at, bodies, tree.point_count[source], own, softening2));
            }
            store_field(field, first + pack * PACK, first + count, sum);
        }
    }
}
