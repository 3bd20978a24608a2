// The sphere as a primitive kind: what builders read (`Spheres`) and what traversals intersect (`SphereRecords`).
// from gpu.primitive_views import RecordRows, SphereView
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/intersection.cuh"
#include "gpu/device/octahedral.cuh"
#include "gpu/device/prefetch.cuh"
#include "gpu/device/store_record.cuh"

// The scene's spheres of this instant. A sphere that is not finite or has a negative radius is inactive.
struct Spheres : SphereView {
    __device__ float3 point(int index) const { return load3(centres, index); }
    __device__ int scene_id(int prim_id) const { return prim_id; }

    // What a record is made of, and where that lies.
    using Corners = int;
    struct Shape {
        float3 centre;
        float radius;
    };
    __device__ Corners corners(int prim_id) const { return prim_id; }
    __device__ Shape shape(Corners prim_id) const { return {point(prim_id), radii[prim_id]}; }

    // Hints for a loop that meets spheres in no order.
    __device__ void prefetch_indices(int) const {}
    __device__ void prefetch_points(int prim_id) const { prefetch(centres + 3 * (int64)prim_id); }

    __device__ Aabb aabb(int prim_id) const { return aabb_of(load3(centres, prim_id), radii[prim_id]); }

    // Bounds of the part between two planes across an axis: those of the whole, which the caller cuts at the planes.
    __device__ Aabb aabb_between(int prim_id, int, float, float) const { return aabb(prim_id); }
    __device__ static Aabb part_between(const Shape& shape, int, float, float) {
        return aabb_of(shape.centre, shape.radius);
    }

    __device__ static Aabb aabb_of(float3 centre, float radius) {
        if (!is_finite(centre) || !is_finite(radius) || radius < 0.0f) return empty_aabb();
        const float3 reach = make_float3(radius, radius, radius), zero = make_float3(0.0f, 0.0f, 0.0f);
        return {centre - reach + zero, centre + reach + zero};
    }
};

//  byte  0      12       16        20       32
//        | centre | radius | prim_id | unused |
// One record per reference, in leaf order; the radius of an inactive sphere is negative.
struct SphereRecords : RecordRows {
    static constexpr int RECORD_FLOAT4S = 2;
    static constexpr bool TESTS_MANY = false;

    __device__ Aabb write(int reference, const Spheres& spheres, int prim_id) const {
        return store_record<SphereRecords>(records, reference, spheres, prim_id);
    }
    __device__ static Aabb pack(const Spheres::Shape& shape, int prim_id, float4 (&parts)[RECORD_FLOAT4S]) {
        const float3 centre = shape.centre;
        const Aabb box = Spheres::aabb_of(centre, shape.radius);
        parts[0] = make_float4(centre.x, centre.y, centre.z, is_empty(box) ? -1.0f : shape.radius);
        parts[1] = make_float4(__int_as_float(prim_id), 0.0f, 0.0f, 0.0f);
        return box;
    }

    __device__ int prim_id(int reference) const {
        return __float_as_int(records[RECORD_FLOAT4S * (int64)reference + 1].x);
    }
    __device__ bool is_active(int reference) const { return records[RECORD_FLOAT4S * (int64)reference].w >= 0.0f; }

    __device__ Spheres::Shape shape(int reference) const {
        const float4 sphere = records[RECORD_FLOAT4S * (int64)reference];
        return {make_float3(sphere.x, sphere.y, sphere.z), sphere.w};
    }

    __device__ Aabb aabb(int reference) const {
        const float4 sphere = records[RECORD_FLOAT4S * (int64)reference];
        return Spheres::aabb_of(make_float3(sphere.x, sphere.y, sphere.z), sphere.w);
    }

    // The nearer root inside (t_min, t_max], else the farther. The discriminant is taken from the point of the ray
    // nearest to the centre, which keeps its digits when the sphere is small and far (Haines et al., Ray Tracing Gems,
    // chapter 7). u and v are the direction from the centre to the hit (octahedral.cuh).
    __device__ __forceinline__ Intersection intersect(int reference, const Rays& rays) const {
        const float4* at = fetched_from(reference);
        return intersect_fetched(at[0], at[1], at[1], reference, rays);
    }

    // Where rays come nearest to a centre: at `t`, and from there the centre lies at (x, y, z); squared length of the
    // direction.
    struct Approach {
        Real t, x, y, z, squared;
    };
    __device__ __forceinline__ static Approach approach(Real to_x, Real to_y, Real to_z, const Rays& rays) {
        const Real squared = rays.dx * rays.dx + rays.dy * rays.dy + rays.dz * rays.dz;
        const Real t = (to_x * rays.dx + to_y * rays.dy + to_z * rays.dz) / squared;
        return {t, to_x - t * rays.dx, to_y - t * rays.dy, to_z - t * rays.dz, squared};
    }
    // Where on its sphere a ray hits at `t`.
    __device__ __forceinline__ static OctahedralPlace place_at(Real t, const Approach& to, const Rays& rays) {
        const Real past = t - to.t;
        return octahedral_place(past * rays.dx - to.x, past * rays.dy - to.y, past * rays.dz - to.z);
    }

    // The same in two parts, for traversals that fetch a node or a record in one place (if_if_traversal.cuh).
    static constexpr int FETCHED_FLOAT4S = RECORD_FLOAT4S;
    __device__ __forceinline__ const float4* fetched_from(int reference) const {
        return &records[RECORD_FLOAT4S * (int64)reference];
    }
    __device__ __forceinline__ Intersection intersect_fetched(float4 sphere, float4 id, float4, int,
                                                              const Rays& rays) const {
        const Approach to = approach(sphere.x - rays.ox, sphere.y - rays.oy, sphere.z - rays.oz, rays);
        const Real inside = (sphere.w * sphere.w - (to.x * to.x + to.y * to.y + to.z * to.z)) / to.squared;
        const Real half = lanes_sqrt(max(inside, splat(0.0f)));
        const Real first = to.t - half, second = to.t + half;
        const Real t = select((first > rays.t_min) & (first <= rays.t_max), first, second);
        const Mask hit = rays.active & (inside >= 0.0f) & (t > rays.t_min) & (t <= rays.t_max) &
                         splat_mask(sphere.w >= LEAST_RADIUS);
        Intersection found = {hit, t, splat(0.0f), splat(0.0f), __float_as_int(id.x)};
        if (!any(hit)) return found;
        const OctahedralPlace at = place_at(t, to, rays);
        found.u = at.u;
        found.v = at.v;
        return found;
    }
};
