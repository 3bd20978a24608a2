// One object's triangles, for a builder that is to see nothing else.
#include "gpu/device/loops.cuh"
#include "gpu/device/triangle.cuh"

// With corners of their own: 9 floats each.
extern "C" __global__ void copy_triangles(Triangles triangles, int first, int count, float* positions) {
    for (int i : grid_stride(count)) {
        float3 a, b, c;
        triangles.vertices(first + i, a, b, c);
        store3(positions, 3 * (int64)i, a);
        store3(positions, 3 * (int64)i + 1, b);
        store3(positions, 3 * (int64)i + 2, c);
    }
}
