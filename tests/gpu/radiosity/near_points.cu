// The four points nearest to each of many places, and in how many leaves they were looked for.
#include "gpu/radiosity/near_points.cuh"

extern "C" __global__ void find_nearest_points(PointTreeView tree, const float4* shapes, const float4* asked, int count,
                                               int* found, int* leaves) {
    for (int i : grid_stride(count)) {
        NearestPoints<4> nearest;
        leaves[i] = visit_nearest_first(tree, shapes, make_float3(asked[i].x, asked[i].y, asked[i].z), nearest);
        for (int k = 0; k < 4; ++k) found[4 * i + k] = k < nearest.count ? tree.order[nearest.places[k]] : -1;
    }
}
