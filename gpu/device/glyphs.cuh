// Triangles, spheres and glyphs together as a primitive kind: what builders read (`WithGlyphs`) and what traversals
// intersect (`GlyphRecords`). Glyphs come after the spheres; either may be none.
// from gpu.primitive_views import GlyphView, RecordRows
#pragma once
#include "gpu/device/glyph_hit.cuh"
#include "gpu/device/mixed.cuh"

// The scene's primitives of this instant.
struct WithGlyphs : GlyphView<Mixed> {
    __device__ bool is_glyph(int prim_id) const { return prim_id >= others.count; }
    __device__ int glyph(int prim_id) const { return prim_id - others.count; }
    __device__ Glyph load(int glyph) const {
        const float4* at = rows + 3 * (int64)glyph;
        return glyph_of(at[0], at[1], at[2]);
    }

    __device__ float3 point(int index) const {
        if (index < others.point_count) return others.point(index);
        const float4 first = rows[3 * (int64)(index - others.point_count)];
        return make_float3(first.x, first.y, first.z);
    }
    __device__ int scene_id(int prim_id) const {
        if (!is_glyph(prim_id)) return others.scene_id(prim_id);
        return others.first_sphere_id + others.spheres.count + glyph(prim_id);
    }

    // What a record is made of, and where that lies: as Mixed has it; or NONE, the glyph's place and 1. A shape is
    // three words as records have them, so that threads that hold several need no more registers than for triangles.
    using Corners = int3;
    struct Shape {
        float4 a, b, c;

        __device__ bool is_glyph() const { return ::is_glyph(c); }
        __device__ Glyph glyph() const { return glyph_of(a, b, c); }
        __device__ Mixed::Shape other() const {
            const float3 first = make_float3(a.x, a.y, a.z);
            if (MixedRecords::is_sphere(c)) return Mixed::of(Spheres::Shape{first, b.x});
            return {first, make_float3(b.x, b.y, b.z), make_float3(c.x, c.y, c.z), 0.0f, false};
        }
    };
    __device__ Corners corners(int prim_id) const {
        return is_glyph(prim_id) ? make_int3(Mixed::NONE, glyph(prim_id), 1) : others.corners(prim_id);
    }
    __device__ Shape shape(const Corners& corners) const {
        if (corners.x == Mixed::NONE && corners.z == 1) {
            const float4* at = rows + 3 * (int64)corners.y;
            return {at[0], at[1], at[2]};
        }
        const Mixed::Shape shape = others.shape(corners);
        const float mark = shape.is_sphere ? -1.0f : 1.0f;
        return {make_float4(shape.a.x, shape.a.y, shape.a.z, 0.0f),
                make_float4(shape.is_sphere ? shape.radius : shape.b.x, shape.b.y, shape.b.z, 0.0f),
                make_float4(shape.c.x, shape.c.y, shape.c.z, mark)};
    }

    // Hints for a loop that meets primitives in no order.
    __device__ void prefetch_indices(int prim_id) const {
        if (!is_glyph(prim_id)) others.prefetch_indices(prim_id);
    }
    __device__ void prefetch_points(int prim_id) const {
        if (is_glyph(prim_id)) prefetch(rows + 3 * (int64)glyph(prim_id));
        else others.prefetch_points(prim_id);
    }

    __device__ Aabb aabb(int prim_id) const {
        return is_glyph(prim_id) ? aabb_of(load(glyph(prim_id))) : others.aabb(prim_id);
    }

    // Bounds of the part between two planes across an axis; of a glyph those of the whole.
    __device__ Aabb aabb_between(int prim_id, int axis, float low, float high) const {
        return is_glyph(prim_id) ? aabb(prim_id) : others.aabb_between(prim_id, axis, low, high);
    }
    __device__ static Aabb part_between(const Shape& shape, int axis, float low, float high) {
        return shape.is_glyph() ? aabb_of(shape.glyph()) : Mixed::part_between(shape.other(), axis, low, high);
    }
};

// One record a reference, in leaf order. Those of triangles and spheres are bit by bit those of MixedRecords; a glyph's
// is its row (glyph.cuh) with the prim_id in the fourth word, and one that is not there has the record of a sphere that
// is not there.
struct GlyphRecords : RecordRows {
    static constexpr int RECORD_FLOAT4S = MixedRecords::RECORD_FLOAT4S;
    static constexpr bool TESTS_MANY = false;

    __device__ Aabb write(int reference, const WithGlyphs& primitives, int prim_id) const {
        return store_record<GlyphRecords>(records, reference, primitives, prim_id);
    }
    __device__ static Aabb pack(const WithGlyphs::Shape& shape, int prim_id, float4 (&parts)[RECORD_FLOAT4S]) {
        if (!shape.is_glyph()) return MixedRecords::pack(shape.other(), prim_id, parts);
        const Aabb box = aabb_of(shape.glyph());
        const bool is_active = !is_empty(box);
        parts[0] = make_float4(shape.a.x, shape.a.y, shape.a.z, __int_as_float(prim_id));
        parts[1] = make_float4(is_active ? shape.b.x : -1.0f, shape.b.y, shape.b.z, shape.b.w);
        parts[2] = make_float4(shape.c.x, shape.c.y, shape.c.z, is_active ? shape.c.w : -0.0f);
        return box;
    }

    __device__ int prim_id(int reference) const { return MixedRecords{records}.prim_id(reference); }
    __device__ bool is_active(int reference) const { return MixedRecords{records}.is_active(reference); }

    __device__ WithGlyphs::Shape shape(int reference) const {
        const float4* at = fetched_from(reference);
        return {at[0], at[1], at[2]};
    }

    __device__ Aabb aabb(int reference) const {
        const float4* at = fetched_from(reference);
        if (is_glyph(at[2])) return aabb_of(glyph_of(at[0], at[1], at[2]));
        return MixedRecords{records}.aabb(reference);
    }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[2], reference, rays);
    }

    // The same in two parts, for traversals that fetch a node or a record in one place (if_if_traversal.cuh).
    static constexpr int FETCHED_FLOAT4S = RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[RECORD_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        if (is_glyph(c)) return intersect_glyph(glyph_of(a, b, c), __float_as_int(a.w), rays);
        return MixedRecords{records}.intersect_fetched(a, b, c, reference, rays);
    }
};
