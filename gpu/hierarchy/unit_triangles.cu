// Records of unit triangles (triangle_tests.cuh) from the records with vertices, after every build and refit. Offsets
// are dot products of large numbers that nearly cancel: they are summed in double precision.
#include "gpu/device/loops.cuh"

__device__ __forceinline__ float4 row_of(float3 direction, double scale, float3 origin) {
    const double x = direction.x * scale, y = direction.y * scale, z = direction.z * scale;
    return make_float4((float)x, (float)y, (float)z, (float)-(x * origin.x + y * origin.y + z * origin.z));
}

// `reference_count` null: there are `count`.
extern "C" __global__ void write_unit_triangles(const float4* vertices, const int* reference_count, int count,
                                                float4* unit_triangles) {
    for (int reference : grid_stride(reference_count ? min(*reference_count, count) : count)) {
        const float4 p = vertices[3 * (int64)reference], q = vertices[3 * (int64)reference + 1],
                     r = vertices[3 * (int64)reference + 2];
        if (UnitRecords::take_other(unit_triangles + 3 * (int64)reference, p, q, r)) continue;
        const float3 a = make_float3(p.x, p.y, p.z);
        const float3 ab = make_float3(q.x, q.y, q.z) - a, ac = make_float3(r.x, r.y, r.z) - a, normal = cross(ab, ac);
        const double squared = (double)normal.x * normal.x + (double)normal.y * normal.y + (double)normal.z * normal.z;
        float4* at = unit_triangles + 3 * (int64)reference;
        if (q.w != 0.0f || !(squared > 0.0) || !(squared < 1e300)) {
            at[0] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            at[1] = at[2] = make_float4(0.0f, 0.0f, 0.0f, 2.0f);
            continue;
        }
        at[0] = row_of(normal, 1.0 / sqrt(squared), a);
        at[1] = row_of(cross(ac, normal), 1.0 / squared, a);
        at[2] = row_of(cross(normal, ab), 1.0 / squared, a);
    }
}
