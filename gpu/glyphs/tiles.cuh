// The picture in tiles, as kernels get it, and the test of a pixel's own ray.
//
// Constants of the unit: SPHERE_STRUCTS (a sphere and its box are one struct of 32 bytes, else columns), READ_ONLY
// (spheres are read through the read-only cache), FAST_MATH (their test divides and takes roots by intrinsics), GLYPHS
// (glyphs follow the spheres).
// from gpu.glyphs.tile_lists import TileArrays
#pragma once
#include "gpu/device/fast_math.cuh"
#include "gpu/device/glyph_hit.cuh"
#include "gpu/device/read_only.cuh"
#include "gpu/device/sphere.cuh"
#include "gpu/glyphs/glyph_ball.cuh"
#include "gpu/glyphs/hit_key.cuh"
#include "gpu/glyphs/pixel_box.cuh"
#include "gpu/trace/ray_sources.cuh"

struct TileInput : TileArrays<Spheres> {
    __device__ __forceinline__ int count() const { return spheres.count + (GLYPHS ? glyph_count : 0); }
    __device__ __forceinline__ bool is_glyph(int prim_id) const { return GLYPHS && prim_id >= spheres.count; }
    __device__ __forceinline__ Glyph glyph(int prim_id) const {
        const float4* at = &glyph_rows[3 * (int64)(prim_id - spheres.count)];
        return glyph_of(at[0], at[1], at[2]);
    }

    // Asks for all that a test of it reads.
    __device__ __forceinline__ void prefetch(int prim_id) const {
        if (order_keys) ::prefetch(&order_keys[prim_id]);
        if (SPHERE_STRUCTS) return ::prefetch(&structs[prim_id]);
        ::prefetch(&boxes[prim_id]);
        if (is_glyph(prim_id)) return ::prefetch(&glyph_rows[3 * (int64)(prim_id - spheres.count)]);
        spheres.prefetch_points(prim_id);
        ::prefetch(&spheres.radii[prim_id]);
    }
    __device__ __forceinline__ PixelBox box(int prim_id) const {
        const uint2* at = SPHERE_STRUCTS ? &structs[prim_id].box : &boxes[prim_id];
        return unpacked(READ_ONLY ? load_read_only(at) : *at);
    }
    // As the scene has it: what is no sphere is not marked yet.
    __device__ __forceinline__ Spheres::Shape column_shape(int prim_id) const {
        if (!READ_ONLY) return spheres.shape(prim_id);
        const float* at = &spheres.centres[3 * (int64)prim_id];
        return {make_float3(load_read_only(at), load_read_only(at + 1), load_read_only(at + 2)),
                load_read_only(&spheres.radii[prim_id])};
    }
    // Centre and radius, which is negative where the sphere is inactive.
    __device__ __forceinline__ float4 sphere(int prim_id) const {
        if (SPHERE_STRUCTS) return READ_ONLY ? load_read_only(&structs[prim_id].sphere) : structs[prim_id].sphere;
        const Spheres::Shape shape = column_shape(prim_id);
        float4 record[SphereRecords::RECORD_FLOAT4S];
        SphereRecords::pack(shape, prim_id, record);
        return record[0];
    }
};
// Centre and radius of a ball that holds the primitive.
__device__ __forceinline__ float4 ball_of(const TileInput& input, int prim_id) {
    if (!input.is_glyph(prim_id)) return input.sphere(prim_id);
    const Glyph glyph = input.glyph(prim_id);
    return make_float4(glyph.centre.x, glyph.centre.y, glyph.centre.z, ball_radius(glyph));
}

enum Status { LARGE_COUNT, IS_FULL };  // how many spheres every tile looks at; whether the lists did not fit

// The rays of PACK pixels side by side from (x, row) on, those before `end_x`.
__device__ __forceinline__ Rays rays_from(const ViewFrame& frame, int x, int row, int end_x) {
    const Int across = splat_int(x) + lane_index();
    return seen_rays(frame, {across, splat_int(frame.first_row + row), across < splat_int(end_x)});
}

// SphereRecords' test, step by step, by intrinsics. Where on the sphere a ray hits is found later (resolve.cu).
__device__ __forceinline__ Intersection intersect_fast(float4 sphere, int prim_id, const Rays& rays) {
    const Real cx = sphere.x - rays.ox, cy = sphere.y - rays.oy, cz = sphere.z - rays.oz;
    const Real squared = rays.dx * rays.dx + rays.dy * rays.dy + rays.dz * rays.dz;
    const Real nearest = fast_divide(cx * rays.dx + cy * rays.dy + cz * rays.dz, squared);
    const Real lx = cx - nearest * rays.dx, ly = cy - nearest * rays.dy, lz = cz - nearest * rays.dz;
    const Real inside = fast_divide(sphere.w * sphere.w - (lx * lx + ly * ly + lz * lz), squared);
    const Real half = fast_sqrt(max(inside, splat(0.0f)));
    const Real first = nearest - half, second = nearest + half;
    const Real t = select((first > rays.t_min) & (first <= rays.t_max), first, second);
    const Mask hit = rays.active & (inside >= 0.0f) & (t > rays.t_min) & (t <= rays.t_max) &
                     splat_mask(sphere.w >= LEAST_RADIUS);
    return {hit, t, splat(0.0f), splat(0.0f), prim_id};
}

// The very test of SphereRecords.
__device__ __forceinline__ Intersection intersect_sphere(float4 sphere, int prim_id, const Rays& rays) {
    if (FAST_MATH) return intersect_fast(sphere, prim_id, rays);
    const float4 id = make_float4(__int_as_float(prim_id), 0.0f, 0.0f, 0.0f);
    return SphereRecords{nullptr}.intersect_fetched(sphere, id, id, 0, rays);
}
// The same of what is a glyph perhaps, on the scene's own arrays; `sphere`: where it is none.
__device__ __forceinline__ Intersection intersect_read(const TileInput& input, float4 sphere, int prim_id,
                                                       const Rays& rays) {
    if (input.is_glyph(prim_id)) return intersect_glyph(input.glyph(prim_id), prim_id, rays);
    return intersect_sphere(sphere, prim_id, rays);
}
__device__ __forceinline__ Intersection intersect_at(const TileInput& input, int prim_id, const Rays& rays) {
    if (input.is_glyph(prim_id)) return intersect_glyph(input.glyph(prim_id), prim_id, rays);
    return intersect_sphere(input.sphere(prim_id), prim_id, rays);
}
