// Triangles whose leaves lie in rows too: where a ray of a pack tests a leaf's triangles at once, each vector is one
// load. Host packs alone are traced with them.
// from gpu.primitive_views import RowsOfLeaves
#pragma once
#include "gpu/device/triangle.cuh"

//  float  0      n      2n     3n      4n      5n      6n      7n      8n      9n        10n       11n      12n
//         | ax[n] ay[n] az[n] | ABx[n] ABy[n] ABz[n] | ACx[n] ACy[n] ACz[n] | prim_id[n] | min_det[n] | idle |
// What the n triangles of a leaf take as records, from the same place on, so that the leaf's word finds both. A pack
// that is loaded reads on in the next rows; behind the last leaf there is room for that. Hence a prim_id has a bit set
// that makes it an ordinary number where it is read as one: with denormal numbers processors calculate slowly.
struct TrianglesInRows : TriangleRecords, RowsOfLeaves {
    static constexpr int LEAF_ROWS = 12;
    static constexpr int FEWEST_AT_ONCE = 1;
    static constexpr int ID_BIT = 0x40000000;  // ids are below 2^26

    __device__ __forceinline__ static int64 row(int first, int count, int number) {
        return LEAF_ROWS * (int64)first + count * number;
    }

    __device__ __forceinline__ int prim_id_in_leaf(int first, int count, int place) const {
        return __float_as_int(rows[row(first, count, 9) + place]) ^ ID_BIT;
    }

    // As TriangleRecords::intersect_many.
    __device__ __forceinline__ IntersectionsOfOneRay intersect_many(int first, int count, int from,
                                                                    const Rays& ray) const {
        const float* at = rows + row(first, count, 0) + from;
        const Real e1x = load(at + 3 * count), e1y = load(at + 4 * count), e1z = load(at + 5 * count);
        const Real e2x = load(at + 6 * count), e2y = load(at + 7 * count), e2z = load(at + 8 * count);
        return intersect_edges(load(at), load(at + count), load(at + 2 * count), e1x, e1y, e1z, e2x, e2y, e2z,
                               load(at + 10 * count), count - from, ray);
    }

    // Writes a leaf's rows from its records.
    __device__ static void write(const float4* records, int first, int count, float* rows) {
        float* at = rows + row(first, count, 0);
#pragma unroll 1
        for (int i = 0; i < count; ++i) {
            const float4 *record = records + RECORD_FLOAT4S * (int64)(first + i), a = record[0], b = record[1],
                         c = record[2];
            const float values[LEAF_ROWS] = {
                a.x,       a.y,       a.z,       b.x - a.x, b.y - a.y,
                b.z - a.z, c.x - a.x, c.y - a.y, c.z - a.z, __int_as_float(__float_as_int(a.w) ^ ID_BIT),
                b.w,       0.0f};
            for (int number = 0; number < LEAF_ROWS; ++number) at[number * count + i] = values[number];
        }
    }
};
