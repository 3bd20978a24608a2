// The other ways to intersect triangles (triangle_tests.cuh), for scenes that have spheres too: those have one test.
// from gpu.primitive_views import RecordRows, UnitRecordRows
#pragma once
#include "gpu/device/mixed.cuh"
#include "gpu/device/triangle_tests.cuh"

struct WatertightMixed : RecordRows {
    static constexpr bool TESTS_MANY = false;

    __device__ int prim_id(int reference) const { return MixedRecords{records}.prim_id(reference); }
    __device__ bool is_active(int reference) const { return MixedRecords{records}.is_active(reference); }
    __device__ Aabb aabb(int reference) const { return MixedRecords{records}.aabb(reference); }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[2], reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = MixedRecords::RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        if (MixedRecords::is_sphere(c)) return MixedRecords::intersect_sphere(a, b.x, rays);
        return WatertightTriangles{records}.intersect_fetched(a, b, c, reference, rays);
    }
};

//  byte  0                     16                 32                    48
//        | row of z: n, offset | row of u         | row of v            |    a triangle
//        | 0, 0, 0, SPHERE     | centre | radius  | prim_id | unused    |    a sphere
// As UnitTriangles; a triangle's first row has a normal, or an offset of 0.
struct UnitMixed : UnitRecordRows {
    static constexpr bool TESTS_MANY = false;
    static constexpr float SPHERE = -1.0f;

    __device__ __forceinline__ static bool is_sphere(float4 first) {
        return first.w == SPHERE && first.x == 0.0f && first.y == 0.0f && first.z == 0.0f;
    }

    // Writes what is no triangle from its record of MixedRecords, and says whether it did.
    __device__ __forceinline__ static bool take_other(float4* at, float4 a, float4 b, float4 c) {
        if (!MixedRecords::is_sphere(c)) return false;
        at[0] = make_float4(0.0f, 0.0f, 0.0f, SPHERE);
        at[1] = make_float4(a.x, a.y, a.z, b.x);
        at[2] = make_float4(a.w, 0.0f, 0.0f, 0.0f);
        return true;
    }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        const float4 first = at[0];
        if (is_sphere(first)) return SphereRecords{nullptr}.intersect_fetched(at[1], at[2], first, 0, rays);
        return UnitTriangles{records, vertices}.intersect(reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = UnitTriangles::FETCHED_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        if (is_sphere(a)) return SphereRecords{nullptr}.intersect_fetched(b, c, a, 0, rays);
        return UnitTriangles{records, vertices}.intersect_fetched(a, b, c, reference, rays);
    }
};
