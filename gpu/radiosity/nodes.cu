// Points in the order of their tree, and the shapes of its nodes, from the leaves up, a depth after the other.
#include "gpu/radiosity/nodes.cuh"

// What goes along with the points: sorted as they are.
extern "C" __global__ void sort_with_points(const int* order, int count, const float4* normals,
                                            const float4* reflectance, const float4* emission, const float4* direct,
                                            float4* sorted_normals, float4* sorted_reflectance, float4* sorted_emission,
                                            float4* sorted_direct) {
    for (int i : grid_stride(count)) {
        const int from = order[i];
        sorted_normals[i] = normals[from];
        sorted_reflectance[i] = reflectance[from];
        sorted_emission[i] = emission[from];
        sorted_direct[i] = direct[from];
    }
}

// The narrowest cone about the axis that holds another one; wider than a right angle it says nothing.
__device__ __forceinline__ void widen_cone(NodeShape& s, float3 axis, float cosine, float sine) {
    if (s.cosine < 0.0f || cosine < 0.0f) {
        s.cosine = -1.0f;
        return;
    }
    const float between = clamp(dot(s.axis, axis), -1.0f, 1.0f);
    const float across = length(axis - s.axis * between);
    const float together = between * cosine - across * sine;
    if (between <= 0.0f || together <= 0.0f) s.cosine = -1.0f;
    else if (together < s.cosine) s.cosine = together;
}
__device__ __forceinline__ void finish_cone(NodeShape& s) {
    if (s.cosine > 1.0f - ALIKE_NORMALS) s.cosine = 1.0f;
    s.sine = s.cosine < 0.0f ? 1.0f : sqrtf(max(1.0f - s.cosine * s.cosine, 0.0f));
}
__device__ __forceinline__ void begin_shape(NodeShape& s, float3 low, float3 high, float3 normals) {
    s.centre = (low + high) * 0.5f;
    s.half = (high - low) * 0.5f;
    s.reach = length(s.half);
    s.axis = normalize(normals);
    s.cosine = dot(normals, normals) > 0.0f ? 1.0f : -1.0f;
    s.low = FLOAT_MAX;
    s.high = -FLOAT_MAX;
}

// What the points of a leaf send before any bounce.
struct OwnLight {
    const float4 *reflectance, *emission, *direct;

    __device__ __forceinline__ float at(int i) const {
        const float4 share = reflectance[i], own = emission[i], given = direct[i];
        return (own.x + share.x * given.x + own.y + share.y * given.y + own.z + share.z * given.z) * (1.0f / 3.0f);
    }
};

__device__ __forceinline__ NodeShape shape_of_leaf(const PointTreeView& tree, const float4* normals,
                                                   const OwnLight& light, int node) {
    const int first = tree.first_point[node], last = first + tree.point_count[node];
    float3 low = make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX), high = -low, sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int i = first; i < last; ++i) {
        const float3 at = make_float3(tree.points[i].x, tree.points[i].y, tree.points[i].z);
        low = min(low, at);
        high = max(high, at);
        sum += make_float3(normals[i].x, normals[i].y, normals[i].z);
    }
    NodeShape s = {};
    begin_shape(s, low, high, sum);
    for (int i = first; i < last; ++i) {
        const float3 at = make_float3(tree.points[i].x, tree.points[i].y, tree.points[i].z);
        const float along_axis = dot(s.axis, at - s.centre);
        s.low = min(s.low, along_axis);
        s.high = max(s.high, along_axis);
        s.area += tree.points[i].w;
        s.light += tree.points[i].w * light.at(i);
        widen_cone(s, make_float3(normals[i].x, normals[i].y, normals[i].z), 1.0f, 0.0f);
    }
    finish_cone(s);
    return s;
}

__device__ __forceinline__ NodeShape shape_of_children(const PointTreeView& tree, const float4* shapes, int node) {
    const int first = tree.first_child[node], last = first + tree.child_count[node];
    float3 low = make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX), high = -low, sum = make_float3(0.0f, 0.0f, 0.0f);
    for (int child = first; child < last; ++child) {
        const NodeShape c = load_shape(shapes, child);
        low = min(low, c.centre - c.half);
        high = max(high, c.centre + c.half);
        sum += c.axis * (float)tree.point_count[child];
    }
    NodeShape s = {};
    begin_shape(s, low, high, sum);
    for (int child = first; child < last; ++child) {
        const NodeShape c = load_shape(shapes, child);
        const Range extent = extent_along(c, s.axis);
        const float middle = dot(s.axis, c.centre - s.centre);
        s.low = min(s.low, middle + extent.low);
        s.high = max(s.high, middle + extent.high);
        s.area += c.area;
        s.light += c.light;
        widen_cone(s, c.axis, c.cosine, c.sine);
    }
    finish_cone(s);
    return s;
}

extern "C" __global__ void shape_nodes(PointTreeView tree, int depth, const float4* normals, const float4* reflectance,
                                       const float4* emission, const float4* direct, float4* shapes) {
    const OwnLight light = {reflectance, emission, direct};
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    for (int i : grid_stride(count)) {
        const int node = first + i;
        store_shape(shapes, node,
                    tree.child_count[node] == 0 ? shape_of_leaf(tree, normals, light, node)
                                                : shape_of_children(tree, shapes, node));
    }
}
