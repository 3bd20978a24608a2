// The points around a place, found in their octree by the boxes of its nodes.
#pragma once
#include "gpu/radiosity/nodes.cuh"

__device__ __forceinline__ float squared_gap(const NodeShape& s, float3 at) {
    const float3 away = make_float3(max(fabsf(at.x - s.centre.x) - s.half.x, 0.0f),
                                    max(fabsf(at.y - s.centre.y) - s.half.y, 0.0f),
                                    max(fabsf(at.z - s.centre.z) - s.half.z, 0.0f));
    return dot(away, away);
}

template <class OnPoint>
__device__ __forceinline__ void visit_leaf(const PointTreeView& tree, int node, float3 at, OnPoint& on_point) {
    const int begin = tree.first_point[node], end = begin + tree.point_count[node];
    for (int i = begin; i < end; ++i) {
        const float3 away = make_float3(tree.points[i].x - at.x, tree.points[i].y - at.y, tree.points[i].z - at.z);
        const float squared = dot(away, away);
        if (squared <= on_point.squared_reach) on_point(i, squared);
    }
}

// Every point no further from a place than the root of on_point.squared_reach, which may shrink meanwhile, is handed to
// on_point(sorted place, squared distance).
template <class OnPoint>
__device__ __forceinline__ void visit_points(const PointTreeView& tree, const float4* shapes, float3 at,
                                             OnPoint& on_point) {
    if (tree.counts[TREE_COUNTS::nodes] == 0) return;
    int next[MAX_DEPTH + 2], last[MAX_DEPTH + 2], top = 0;  // siblings to come, of each depth
    next[0] = 0;
    last[0] = 1;
    while (top >= 0) {
        if (next[top] == last[top]) {
            --top;
            continue;
        }
        const int node = next[top]++;
        if (squared_gap(load_shape(shapes, node), at) > on_point.squared_reach) continue;
        if (tree.child_count[node] > 0) {
            ++top;
            next[top] = tree.first_child[node];
            last[top] = next[top] + tree.child_count[node];
            continue;
        }
        visit_leaf(tree, node, at, on_point);
    }
}

// The same, of siblings always the nearest one first, until the points of so many leaves have been looked at: the
// points of a sphere are all equally far from its middle, and no bound on the distance leaves any of them out. Returns
// how many leaves there were.
constexpr int MOST_LEAVES_OF_NEAREST = 64;

template <class OnPoint>
__device__ __forceinline__ int visit_nearest_first(const PointTreeView& tree, const float4* shapes, float3 at,
                                                   OnPoint& on_point) {
    if (tree.counts[TREE_COUNTS::nodes] == 0) return 0;
    int first[MAX_DEPTH + 2], top = 0, leaves = 0;
    unsigned left[MAX_DEPTH + 2];  // siblings to come, of each depth, a bit each
    first[0] = 0;
    left[0] = 1u;
    while (top >= 0 && leaves < MOST_LEAVES_OF_NEAREST) {
        int nearest = -1;
        float least = on_point.squared_reach;
        for (int i = 0; left[top] >> i; ++i) {
            if (!(left[top] >> i & 1u)) continue;
            const float gap = squared_gap(load_shape(shapes, first[top] + i), at);
            if (gap <= least) {
                least = gap;
                nearest = i;
            }
        }
        if (nearest < 0) {
            --top;
            continue;
        }
        left[top] &= ~(1u << nearest);
        const int node = first[top] + nearest;
        if (tree.child_count[node] > 0) {
            ++top;
            first[top] = tree.first_child[node];
            left[top] = (1u << tree.child_count[node]) - 1u;
            continue;
        }
        visit_leaf(tree, node, at, on_point);
        ++leaves;
    }
    return leaves;
}

// The N points nearest to a place, in order of distance.
template <int N>
struct NearestPoints {
    int places[N];
    float squared[N];
    int count = 0;
    float squared_reach = FLOAT_MAX;

    __device__ __forceinline__ void operator()(int i, float distance2) {
        if (count == N && !(distance2 < squared[N - 1])) return;
        if (count < N) ++count;
        int place = count - 1;
        for (; place > 0 && distance2 < squared[place - 1]; --place) {
            squared[place] = squared[place - 1];
            places[place] = places[place - 1];
        }
        squared[place] = distance2;
        places[place] = i;
        if (count == N) squared_reach = squared[N - 1];
    }
    __device__ __forceinline__ float farthest() const { return squared[count - 1]; }
};
