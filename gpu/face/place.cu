// Instances of a mesh -> vertices in the world: every vertex by each of the instances' transforms, 3 x 4 numbers a row
// after the other, or as it is where there are none.
#include "gpu/device/loops.cuh"
#include "gpu/device/transform.cuh"

extern "C" __global__ void place_instances(const float* vertices, const float* transforms, int transform_stride,
                                           const int* first_vertices, int vertex_count, int n, float* positions) {
    for (int i : grid_stride(n)) {
        const int instance = i / vertex_count, vertex = i - instance * vertex_count;
        const float3 p = load3(vertices, vertex);
        const float3 q = transforms == nullptr
                             ? p
                             : transform_point(load_affine(transforms + (int64)instance * transform_stride, 0), p);
        float* at = positions + 3 * (int64)(first_vertices[instance] + vertex);
        at[0] = q.x, at[1] = q.y, at[2] = q.z;
    }
}
