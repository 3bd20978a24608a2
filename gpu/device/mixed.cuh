// Triangles and spheres together as a primitive kind: what builders read (`Mixed`) and what traversals intersect
// (`MixedRecords`). A primitive whose number is at or past the count of triangles is a sphere.
// from gpu.primitive_views import MixedView, RecordRows
#pragma once
#include "gpu/device/sphere.cuh"
#include "gpu/device/triangle.cuh"

// The scene's triangles and spheres of this instant.
struct Mixed : MixedView<Triangles, Spheres> {
    __device__ bool is_sphere(int prim_id) const { return prim_id >= triangles.count; }
    __device__ int sphere(int prim_id) const { return prim_id - triangles.count; }

    __device__ float3 point(int index) const {
        return index < triangles.point_count ? triangles.point(index) : spheres.point(index - triangles.point_count);
    }
    __device__ int scene_id(int prim_id) const {
        return is_sphere(prim_id) ? first_sphere_id + sphere(prim_id) : triangles.scene_id(prim_id);
    }

    // What a record is made of, and where that lies: three vertices; or NONE and the sphere's place.
    static constexpr int NONE = -1;
    using Corners = int3;
    struct Shape {
        float3 a, b, c;
        float radius;
        bool is_sphere;

        __device__ Triangles::Shape triangle() const { return {a, b, c}; }
        __device__ Spheres::Shape sphere() const { return {a, radius}; }
    };
    __device__ Corners corners(int prim_id) const {
        return is_sphere(prim_id) ? make_int3(NONE, sphere(prim_id), 0) : triangles.corners(prim_id);
    }
    __device__ Shape shape(const Corners& corners) const {
        return corners.x == NONE ? of(spheres.shape(corners.y)) : of(triangles.shape(corners));
    }
    __device__ static Shape of(const Triangles::Shape& shape) { return {shape.a, shape.b, shape.c, 0.0f, false}; }
    __device__ static Shape of(const Spheres::Shape& shape) {
        return {shape.centre, shape.centre, shape.centre, shape.radius, true};
    }

    // Hints for a loop that meets primitives in no order.
    __device__ void prefetch_indices(int prim_id) const {
        if (!is_sphere(prim_id)) triangles.prefetch_indices(prim_id);
    }
    __device__ void prefetch_points(int prim_id) const {
        if (is_sphere(prim_id)) spheres.prefetch_points(sphere(prim_id));
        else triangles.prefetch_points(prim_id);
    }

    __device__ Aabb aabb(int prim_id) const {
        return is_sphere(prim_id) ? spheres.aabb(sphere(prim_id)) : triangles.aabb(prim_id);
    }

    // Bounds of the part between two planes across an axis; of a sphere those of the whole.
    __device__ Aabb aabb_between(int prim_id, int axis, float low, float high) const {
        return is_sphere(prim_id) ? spheres.aabb(sphere(prim_id)) : triangles.aabb_between(prim_id, axis, low, high);
    }
    __device__ static Aabb part_between(const Shape& shape, int axis, float low, float high) {
        return shape.is_sphere ? Spheres::aabb_of(shape.a, shape.radius)
                               : Triangles::part_between(shape.triangle(), axis, low, high);
    }
};

//  byte  0        12       16                        32                    44          48
//        | vertex 0 | prim_id | vertex 1 | min_det | vertex 2            | is_active |    a triangle
//        | centre   | prim_id | radius | unused | infinite | unused      | mark      |    a sphere
// One record per reference, in leaf order; a triangle's is bit by bit that of TriangleRecords. A sphere's last word is
// negative: -1, or -0 of an inactive one, whose radius is negative. Where it is read as a triangle no ray hits it.
struct MixedRecords : RecordRows {
    static constexpr int RECORD_FLOAT4S = 3;  // as TriangleRecords
    static constexpr bool TESTS_MANY = false;

    __device__ __forceinline__ static bool is_sphere(float4 last) { return __float_as_int(last.w) < 0; }

    __device__ Aabb write(int reference, const Mixed& primitives, int prim_id) const {
        return store_record<MixedRecords>(records, reference, primitives, prim_id);
    }
    __device__ static Aabb pack(const Mixed::Shape& shape, int prim_id, float4 (&parts)[RECORD_FLOAT4S]) {
        if (!shape.is_sphere) return TriangleRecords::pack(shape.triangle(), prim_id, parts);
        const Aabb box = Spheres::aabb_of(shape.a, shape.radius);
        const bool is_active = !is_empty(box);
        parts[0] = make_float4(shape.a.x, shape.a.y, shape.a.z, __int_as_float(prim_id));
        parts[1] = make_float4(is_active ? shape.radius : -1.0f, 0.0f, 0.0f, __int_as_float(0x7f800000));
        parts[2] = make_float4(0.0f, 0.0f, 0.0f, is_active ? -1.0f : -0.0f);
        return box;
    }

    __device__ int prim_id(int reference) const { return TriangleRecords{records}.prim_id(reference); }
    __device__ bool is_active(int reference) const { return TriangleRecords{records}.is_active(reference); }

    __device__ Mixed::Shape shape(int reference) const {
        const float4* at = fetched_from(reference);
        const float4 a = at[0], b = at[1], c = at[2];
        if (is_sphere(c)) return Mixed::of(Spheres::Shape{make_float3(a.x, a.y, a.z), b.x});
        return {make_float3(a.x, a.y, a.z), make_float3(b.x, b.y, b.z), make_float3(c.x, c.y, c.z), 0.0f, false};
    }

    __device__ Aabb aabb(int reference) const {
        const Mixed::Shape found = shape(reference);
        if (found.is_sphere) return Spheres::aabb_of(found.a, found.radius);
        return is_active(reference) ? Triangles::aabb_of(found.a, found.b, found.c) : empty_aabb();
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
        if (is_sphere(c)) return intersect_sphere(a, b.x, rays);
        return TriangleRecords{records}.intersect_fetched(a, b, c, reference, rays);
    }
    __device__ __forceinline__ static Intersection intersect_sphere(float4 centre_and_id, float radius,
                                                                    const Rays& rays) {
        const float4 sphere = make_float4(centre_and_id.x, centre_and_id.y, centre_and_id.z, radius);
        const float4 id = make_float4(centre_and_id.w, 0.0f, 0.0f, 0.0f);
        return SphereRecords{nullptr}.intersect_fetched(sphere, id, id, 0, rays);
    }
};
