// Instances of a mesh -> vertices in the world: every vertex by each of the instances' transforms, 3 x 4 numbers a row
// after the other, or as it is where there are none.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

extern "C" __global__ void place_instances(const float* vertices, const float* transforms, int transform_stride,
                                           const int* first_vertices, int vertex_count, int n, float* positions) {
    for (int i : grid_stride(n)) {
        const int instance = i / vertex_count, vertex = i - instance * vertex_count;
        const float3 p = load3(vertices, vertex);
        float3 q = p;
        if (transforms != nullptr) {
            const float* m = transforms + (int64)instance * transform_stride;
            q = make_float3(m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3], m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7],
                            m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11]);
        }
        float* at = positions + 3 * (int64)(first_vertices[instance] + vertex);
        at[0] = q.x, at[1] = q.y, at[2] = q.z;
    }
}
