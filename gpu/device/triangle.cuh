// The triangle as a primitive kind: what builders read (`Triangles`) and what traversals intersect (`TriangleRecords`).
// from gpu.primitive_views import RecordRows, TriangleView
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/intersection.cuh"
#include "gpu/device/prefetch.cuh"
#include "gpu/device/store_record.cuh"

// The triangles of this instant.
struct Triangles : TriangleView {
    __device__ float3 point(int index) const { return load3(positions, index); }
    __device__ int scene_id(int prim_id) const { return scene_ids == nullptr ? prim_id : scene_ids[prim_id]; }

    __device__ void vertices(int prim_id, float3& a, float3& b, float3& c) const {
        const int3 corner = load3(indices, prim_id);
        a = load3(positions, corner.x);
        b = load3(positions, corner.y);
        c = load3(positions, corner.z);
    }

    // What a record is made of, for threads that read triangles far from each other; and where that lies.
    using Corners = int3;
    struct Shape {
        float3 a, b, c;
    };
    __device__ Corners corners(int prim_id) const { return gather3(indices, prim_id); }
    __device__ Shape shape(const Corners& corners) const {
        return {gather3(positions, corners.x), gather3(positions, corners.y), gather3(positions, corners.z)};
    }

    // Hints for a loop that meets triangles in no order: ask for the indices well ahead of the vertices, and for those
    // well ahead of their use.
    __device__ void prefetch_indices(int prim_id) const { prefetch(indices + 3 * (int64)prim_id); }
    __device__ void prefetch_points(int prim_id) const {
        const int3 corner = load3(indices, prim_id);
        prefetch(positions + 3 * (int64)corner.x);
        prefetch(positions + 3 * (int64)corner.y);
        prefetch(positions + 3 * (int64)corner.z);
    }

    // Empty where a vertex is not finite: such a triangle is inactive.
    __device__ Aabb aabb(int prim_id) const {
        float3 a, b, c;
        vertices(prim_id, a, b, c);
        return aabb_of(a, b, c);
    }

    // Bounds of the part between two planes across an axis. Where an edge meets a plane the point is rounded: it is
    // bounded with 4 times that error, or, where it is past all floats, by the whole edge.
    __device__ Aabb aabb_between(int prim_id, int axis, float low, float high) const {
        float3 corners[3];
        vertices(prim_id, corners[0], corners[1], corners[2]);
        Aabb box = empty_aabb();
#pragma unroll 1
        for (int i = 0; i < 3; ++i) box = with_edge(box, corners[i], corners[i == 2 ? 0 : i + 1], axis, low, high);
        return box;
    }
    // The same of a shape, for threads that ask about it many times.
    __device__ static Aabb part_between(const Shape& shape, int axis, float low, float high) {
        const Aabb box = with_edge(empty_aabb(), shape.a, shape.b, axis, low, high);
        return with_edge(with_edge(box, shape.b, shape.c, axis, low, high), shape.c, shape.a, axis, low, high);
    }
    __device__ static Aabb with_edge(Aabb box, float3 a, float3 b, int axis, float low, float high) {
        const float from = along(a, axis), to = along(b, axis);
        if (from >= low && from <= high) box = grow(box, a);
#pragma unroll 1
        for (int side = 0; side < 2; ++side) {
            const float plane = side == 0 ? low : high;
            if (!((from < plane && to > plane) || (from > plane && to < plane))) continue;
            const float3 point = a + (b - a) * ((plane - from) / (to - from));
            const float3 slack = (max(a, -a) + max(b, -b)) * CUT_SLACK;
            const bool is_known = is_finite(point) && is_finite(slack);
            box = grow(grow(box, is_known ? point - slack : a), is_known ? point + slack : b);
        }
        return box;
    }

    // Adding 0 turns -0 into +0, so that equal boxes have equal bytes in whatever order they are merged.
    __device__ static Aabb aabb_of(float3 a, float3 b, float3 c) {
        // Nothing of all vertices is nothing, however large they are, and NaN where one is not finite: their sum could
        // overflow.
        if (!is_finite(a * 0.0f + b * 0.0f + c * 0.0f)) return empty_aabb();
        const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
        return {min(a, min(b, c)) + zero, max(a, max(b, c)) + zero};
    }
};

//  byte  0        12         16       28          32       44          48
//        | vertex 0 | prim_id | vertex 1 | min_det | vertex 2 | is_active |
// One record per reference, in leaf order. `min_det` is 0, or infinite for a triangle that no ray can hit (inactive, or
// degenerate to a line): the determinant is compared with it anyway.
struct TriangleRecords : RecordRows {
    static constexpr int RECORD_FLOAT4S = 3;

    __device__ Aabb write(int reference, const Triangles& triangles, int prim_id) const {
        return store_record<TriangleRecords>(records, reference, triangles, prim_id);
    }
    __device__ static Aabb pack(const Triangles::Shape& shape, int prim_id, float4 (&parts)[RECORD_FLOAT4S]) {
        const float3 a = shape.a, b = shape.b, c = shape.c;
        const Aabb box = Triangles::aabb_of(a, b, c);
        const bool is_active = !is_empty(box);
        const float3 ab = b - a, ac = c - a, normal = cross(ab, ac);
        const bool has_area = dot(normal, normal) > LEAST_SINE2 * dot(ab, ab) * dot(ac, ac);
        parts[0] = make_float4(a.x, a.y, a.z, __int_as_float(prim_id));
        parts[1] = make_float4(b.x, b.y, b.z, is_active && has_area ? 0.0f : __int_as_float(0x7f800000));
        parts[2] = make_float4(c.x, c.y, c.z, is_active ? 1.0f : 0.0f);
        return box;
    }

    __device__ int prim_id(int reference) const { return __float_as_int(records[RECORD_FLOAT4S * (int64)reference].w); }
    __device__ bool is_active(int reference) const { return records[RECORD_FLOAT4S * (int64)reference + 2].w != 0.0f; }

    __device__ Triangles::Shape shape(int reference) const {
        const float4* at = &records[RECORD_FLOAT4S * (int64)reference];
        const float4 a = at[0], b = at[1], c = at[2];
        return {make_float3(a.x, a.y, a.z), make_float3(b.x, b.y, b.z), make_float3(c.x, c.y, c.z)};
    }

    __device__ Aabb aabb(int reference) const {
        const float4* at = &records[RECORD_FLOAT4S * (int64)reference];
        const float4 a = at[0], b = at[1], c = at[2];
        if (c.w == 0.0f) return empty_aabb();
        return Triangles::aabb_of(make_float3(a.x, a.y, a.z), make_float3(b.x, b.y, b.z), make_float3(c.x, c.y, c.z));
    }

    // PACK of a leaf's triangles, those from place `from` on, and the ray that every lane of `ray` is.
    static constexpr bool TESTS_MANY = true;
    static constexpr int FEWEST_AT_ONCE = 3;  // fewer are quicker one after the other, with all lanes but one idle
    __device__ __forceinline__ int prim_id_in_leaf(int first, int, int place) const { return prim_id(first + place); }
    __device__ __forceinline__ IntersectionsOfOneRay intersect_many(int first, int count, int from,
                                                                    const Rays& ray) const {
        const float4 *a[PACK], *b[PACK], *c[PACK];
        for (int i = 0; i < PACK; ++i) {
            a[i] = &records[RECORD_FLOAT4S * (int64)(first + min(from + i, count - 1))];
            b[i] = a[i] + 1;
            c[i] = a[i] + 2;
        }
        Real ax, ay, az, bx, by, bz, cx, cy, cz, prim_ids, min_det, is_active;
        load_fours(a, ax, ay, az, prim_ids);
        load_fours(b, bx, by, bz, min_det);
        load_fours(c, cx, cy, cz, is_active);
        return intersect_edges(ax, ay, az, bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az, min_det, count - from,
                               ray);
    }

    // A triangle per lane: vertex 0 and the edges from it; those of lanes below `count`.
    __device__ __forceinline__ static IntersectionsOfOneRay intersect_edges(Real ax, Real ay, Real az, Real e1x,
                                                                            Real e1y, Real e1z, Real e2x, Real e2y,
                                                                            Real e2z, Real min_det, int count,
                                                                            const Rays& ray) {
        const Real px = ray.dy * e2z - ray.dz * e2y, py = ray.dz * e2x - ray.dx * e2z, pz = ray.dx * e2y - ray.dy * e2x;
        const Real det = px * e1x + py * e1y + pz * e1z;
        const Real sx = ray.ox - ax, sy = ray.oy - ay, sz = ray.oz - az;
        const Real qx = sy * e1z - sz * e1y, qy = sz * e1x - sx * e1z, qz = sx * e1y - sy * e1x;
        const Real inverse = splat(1.0f) / det;
        const Real u = (sx * px + sy * py + sz * pz) * inverse;
        const Real v = (ray.dx * qx + ray.dy * qy + ray.dz * qz) * inverse;
        const Real t = (qx * e2x + qy * e2y + qz * e2z) * inverse;
        const Mask inside = (splat(0.0f) <= u) & (splat(0.0f) <= v) & (u + v <= splat(1.0f)) &
                            (min_det < lanes_abs(det));
        const Mask is_asked = mask_from_bits(count < PACK ? (1u << count) - 1u : PACK_BITS);
        return {is_asked & inside & (ray.t_min < t) & (t <= ray.t_max), t, u, v};
    }

    // Moeller and Trumbore 1997, two-sided, divided only at the end.
    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[2], reference, rays);
    }

    // The same in two parts, for traversals that fetch a node or a record in one place (if_if_traversal.cuh).
    static constexpr int FETCHED_FLOAT4S = RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[RECORD_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int,
                                                              const Rays& rays) const {
        const float3 e1 = make_float3(b.x - a.x, b.y - a.y, b.z - a.z),
                     e2 = make_float3(c.x - a.x, c.y - a.y, c.z - a.z);
        const Real px = rays.dy * e2.z - rays.dz * e2.y, py = rays.dz * e2.x - rays.dx * e2.z,
                   pz = rays.dx * e2.y - rays.dy * e2.x;
        const Real det = px * e1.x + py * e1.y + pz * e1.z;
        const Real sx = rays.ox - a.x, sy = rays.oy - a.y, sz = rays.oz - a.z;
        const Real qx = sy * e1.z - sz * e1.y, qy = sz * e1.x - sx * e1.z, qz = sx * e1.y - sy * e1.x;
        const Real inverse = 1.0f / det;
        const Real u = (sx * px + sy * py + sz * pz) * inverse;
        const Real v = (rays.dx * qx + rays.dy * qy + rays.dz * qz) * inverse;
        const Real t = (qx * e2.x + qy * e2.y + qz * e2.z) * inverse;
        const Mask inside = (u >= 0.0f) & (v >= 0.0f) & (u + v <= 1.0f) & (lanes_abs(det) > b.w);
        return {rays.active & inside & (t > rays.t_min) & (t <= rays.t_max), t, u, v, __float_as_int(a.w)};
    }
};
