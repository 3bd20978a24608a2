// Other ways than Moeller and Trumbore's to intersect rays with triangles: watertight over the same records, and unit
// triangles over records of their own. Which of them a traversal is compiled against is the setting
// render.triangle_test (gpu/hierarchy/primitives.py).
// from gpu.primitive_views import RecordRows, UnitRecordRows
#pragma once
#include "gpu/device/triangle.cuh"

// x * y - z * w with an error of less than two roundings, hence with its true sign (Kahan; Jeannerod, Louvet and Muller
// 2013).
__device__ __forceinline__ Real difference_of_products(Real x, Real y, Real z, Real w) {
    const Real product = z * w;
    const Real error = lanes_fma(-z, w, product);
    return lanes_fma(x, y, -product) + error;
}

// After Woop, Benthin and Wald 2013: space is sheared so that the ray runs down one axis, and the origin is compared
// with the three edges there. The comparison with an edge has the same outcome, signs exchanged, for both triangles
// that share it: no ray passes between them. The paper falls back to double precision where a comparison is undecided;
// here products are subtracted without losing their sign instead. Triangles without area are never hit; slivers are,
// however thin.
struct WatertightTriangles : RecordRows {
    static constexpr bool TESTS_MANY = false;

    __device__ int prim_id(int reference) const { return TriangleRecords{records}.prim_id(reference); }
    __device__ bool is_active(int reference) const { return TriangleRecords{records}.is_active(reference); }
    __device__ Aabb aabb(int reference) const { return TriangleRecords{records}.aabb(reference); }

    // Components of a vertex seen from the origin: z along the ray's longest axis, x and y across it.
    struct Sheared {
        Real x, y, z;
    };
    __device__ __forceinline__ static Sheared shear(const Rays& rays, float4 vertex, Mask is_x, Mask is_y, Real shear_x,
                                                    Real shear_y) {
        const Real px = vertex.x - rays.ox, py = vertex.y - rays.oy, pz = vertex.z - rays.oz;
        const Real along = select(is_x, px, select(is_y, py, pz));
        const Real first = select(is_x, py, select(is_y, pz, px)), second = select(is_x, pz, select(is_y, px, py));
        return {lanes_fma(-shear_x, along, first), lanes_fma(-shear_y, along, second), along};
    }

    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[2], reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = TriangleRecords::RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int,
                                                              const Rays& rays) const {
        const Real x = lanes_abs(rays.dx), y = lanes_abs(rays.dy), z = lanes_abs(rays.dz);
        const Mask is_x = (x >= y) & (x >= z), is_y = y >= z;
        const Real along = select(is_x, rays.dx, select(is_y, rays.dy, rays.dz)), inverse = splat(1.0f) / along;
        const Real shear_x = select(is_x, rays.dy, select(is_y, rays.dz, rays.dx)) * inverse;
        const Real shear_y = select(is_x, rays.dz, select(is_y, rays.dx, rays.dy)) * inverse;
        const Sheared p = shear(rays, a, is_x, is_y, shear_x, shear_y),
                      q = shear(rays, b, is_x, is_y, shear_x, shear_y);
        const Sheared r = shear(rays, c, is_x, is_y, shear_x, shear_y);
        const Real of_a = difference_of_products(r.x, q.y, r.y, q.x), of_b = difference_of_products(p.x, r.y, p.y, r.x);
        const Real of_c = difference_of_products(q.x, p.y, q.y, p.x);
        const Real det = of_a + of_b + of_c, zero = splat(0.0f);
        const Mask inside = ((of_a >= zero) & (of_b >= zero) & (of_c >= zero)) |
                            ((of_a <= zero) & (of_b <= zero) & (of_c <= zero));
        // Shares of the corners first: products of three coordinates would be beyond all floats from 1e13 on.
        const Real share = splat(1.0f) / det, u = of_b * share, v = of_c * share;
        const Real t = (of_a * share * p.z + u * q.z + v * r.z) * inverse;
        const Mask hit = rays.active & inside & splat_mask(c.w != 0.0f) & (lanes_abs(det) > zero) & (t > rays.t_min) &
                         (t <= rays.t_max);
        return {hit, t, u, v, __float_as_int(a.w)};
    }
};

//  byte  0                     16             32             48
//        | row of z: n, offset | row of u     | row of v     |
// The affine map that takes the triangle to (0, 0), (1, 0), (0, 1) in the plane z = 0 (Woop 2004). z alone says how far
// the plane is, so the other rows are fetched only for rays that meet it in range. A triangle that no ray can hit has
// zeros and offsets of 2.
struct UnitTriangles : UnitRecordRows {
    static constexpr bool TESTS_MANY = false;

    // Writes what is no triangle, and says whether it did.
    __device__ __forceinline__ static bool take_other(float4*, float4, float4, float4) { return false; }

    __device__ __forceinline__ static Real along(float4 row, Real x, Real y, Real z) {
        return x * row.x + y * row.y + z * row.z;
    }

    struct Rows {
        float4 u, v;
    };
    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_rows(at[0], [=]() -> Rows { return {at[1], at[2]}; }, reference, rays);
    }

    static constexpr int FETCHED_FLOAT4S = 3;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[FETCHED_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 a, float4 b, float4 c, int reference,
                                                              const Rays& rays) const {
        return intersect_rows(a, [&]() -> Rows { return {b, c}; }, reference, rays);
    }

    // `other_rows` gives those of u and v, once the plane is known to be in range.
    template <class OtherRows>
    __device__ __forceinline__ Intersection intersect_rows(float4 plane, OtherRows other_rows, int reference,
                                                           const Rays& rays) const {
        const Real t = -(along(plane, rays.ox, rays.oy, rays.oz) + plane.w) / along(plane, rays.dx, rays.dy, rays.dz);
        Intersection found = {rays.active & (t > rays.t_min) & (t <= rays.t_max), t, splat(0.0f), splat(0.0f), -1};
        if (!any(found.hit)) return found;
        const Rows rows = other_rows();
        const float4 row_u = rows.u, row_v = rows.v;
        found.u = along(row_u, rays.ox, rays.oy, rays.oz) + row_u.w + t * along(row_u, rays.dx, rays.dy, rays.dz);
        found.v = along(row_v, rays.ox, rays.oy, rays.oz) + row_v.w + t * along(row_v, rays.dx, rays.dy, rays.dz);
        found.hit = found.hit & (found.u >= 0.0f) & (found.v >= 0.0f) & (found.u + found.v <= 1.0f);
        if (any(found.hit)) found.prim_id = __float_as_int(vertices[FETCHED_FLOAT4S * (int64)reference].w);
        return found;
    }
};
