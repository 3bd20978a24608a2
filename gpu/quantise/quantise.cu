// Colours as points of a cube of side 256, sums of them over the cells of its octree, and the nearest of a palette.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"
// from gpu.quantise.palette import SUMS

constexpr int SUM_COUNT = 5;

// colours (n): red in the lowest byte, as pixels lie in memory.
__device__ __forceinline__ int3 split_colour(unsigned colour) {
    return make_int3(colour & 255u, colour >> 8 & 255u, colour >> 16 & 255u);
}

extern "C" __global__ void place_colours(const unsigned* colours, int n, float* points) {
    for (int i : grid_stride(n)) {
        const int3 colour = split_colour(colours[i]);
        store3(points, i, make_float3((float)colour.x, (float)colour.y, (float)colour.z));
    }
}

// sums (m, 5) of the leaves, whole numbers: all points of a leaf are of one colour, as cells are smaller than a step.
extern "C" __global__ void sum_leaves(PointTreeView tree, int64* sums) {
    for (int node : grid_stride(tree.counts[TREE_COUNTS::nodes])) {
        if (tree.child_count[node] > 0) continue;
        const float4 point = tree.points[tree.first_point[node]];
        const int64 r = (int64)point.x, g = (int64)point.y, b = (int64)point.z, count = tree.point_count[node];
        int64* sum = sums + (int64)SUM_COUNT * node;
        sum[SUMS::count] = count;
        sum[SUMS::red] = r * count;
        sum[SUMS::green] = g * count;
        sum[SUMS::blue] = b * count;
        sum[SUMS::squares] = (r * r + g * g + b * b) * count;
    }
}

extern "C" __global__ void sum_depth(PointTreeView tree, int depth, int64* sums) {
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    for (int i : grid_stride(count)) {
        const int node = first + i, child = tree.first_child[node], children = tree.child_count[node];
        if (children == 0) continue;
        for (int what = 0; what < SUM_COUNT; ++what) {
            int64 sum = 0;
            for (int c = child; c < child + children; ++c) sum += sums[(int64)SUM_COUNT * c + what];
            sums[(int64)SUM_COUNT * node + what] = sum;
        }
    }
}

// indices (n): the nearest colour of the palette (k, 3), the first of those equally near.
extern "C" __global__ void find_nearest_colours(const unsigned* colours, int n, const float* palette, int k,
                                                int* indices) {
    for (int i : grid_stride(n)) {
        const int3 whole = split_colour(colours[i]);
        const float3 colour = make_float3((float)whole.x, (float)whole.y, (float)whole.z);
        float nearest = FLOAT_MAX;
        int index = 0;
        for (int j = 0; j < k; ++j) {
            const float3 away = load3(palette, j) - colour;
            const float squared = dot(away, away);
            if (squared < nearest) nearest = squared, index = j;
        }
        indices[i] = index;
    }
}
