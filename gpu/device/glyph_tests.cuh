// The other ways to intersect triangles (triangle_tests.cuh), for scenes that have glyphs too: those have one test.
// from gpu.primitive_views import RecordRows, UnitRecordRows
#pragma once
#include "gpu/device/glyphs.cuh"
#include "gpu/device/mixed_tests.cuh"

struct WatertightGlyphs : RecordRows {
    static constexpr bool TESTS_MANY = false;

    __device__ int prim_id(int reference) const { return GlyphRecords{records}.prim_id(reference); }
    __device__ bool is_active(int reference) const { return GlyphRecords{records}.is_active(reference); }
    __device__ Aabb aabb(int reference) const { return GlyphRecords{records}.aabb(reference); }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[2], reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = GlyphRecords::RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        if (is_glyph(c)) return GlyphRecords{records}.intersect_fetched(a, b, c, reference, rays);
        return WatertightMixed{records}.intersect_fetched(a, b, c, reference, rays);
    }
};

// As UnitMixed; where a glyph is, the record has its own mark and the glyph is read from the records with vertices.
struct UnitGlyphs : UnitRecordRows {
    static constexpr bool TESTS_MANY = false;
    static constexpr float GLYPH = -2.0f;

    __device__ __forceinline__ static bool is_marked(float4 first) {
        return first.w == GLYPH && first.x == 0.0f && first.y == 0.0f && first.z == 0.0f;
    }
    __device__ __forceinline__ static bool take_other(float4* at, float4 a, float4 b, float4 c) {
        if (!is_glyph(c)) return UnitMixed::take_other(at, a, b, c);
        at[0] = make_float4(0.0f, 0.0f, 0.0f, GLYPH);
        at[1] = at[2] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        return true;
    }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        if (is_marked(*fetched_from(reference))) return of_glyph(reference, rays);
        return UnitMixed{records, vertices}.intersect(reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = UnitMixed::FETCHED_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        if (is_marked(a)) return of_glyph(reference, rays);
        return UnitMixed{records, vertices}.intersect_fetched(a, b, c, reference, rays);
    }
    __device__ __forceinline__ Intersection of_glyph(int reference, const Rays& rays) const {
        const float4* at = &vertices[FETCHED_FLOAT4S * (int64)reference];
        return intersect_glyph(glyph_of(at[0], at[1], at[2]), __float_as_int(at[0].w), rays);
    }
};
