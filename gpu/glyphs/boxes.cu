// A pixel box per sphere and, with the constant GLYPHS, per glyph after them, and the distance before which no ray
// meets it.
//
// Constants of the unit: PRINTED_BOXES (of spheres), SPHERE_STRUCTS (`structs` are written, else `boxes`), GLYPHS.
// `order_keys` may be null, they sort as the distances do; so may `prim_ids`.
#include "gpu/device/loops.cuh"
#include "gpu/device/sphere.cuh"
#include "gpu/glyphs/glyph_bounds.cuh"
#include "gpu/glyphs/hit_key.cuh"

// What is seen of a thing, and the ball round it.
struct SeenThing {
    PixelBox box;
    float4 ball;
};
__device__ __forceinline__ SeenThing seen_thing(const ViewFrame& frame, const Spheres& spheres,
                                                const float4* glyph_rows, int i) {
    if (GLYPHS && i >= spheres.count) {
        const float4* at = glyph_rows + 3 * (int64)(i - spheres.count);
        const Glyph glyph = glyph_of(at[0], at[1], at[2]);
        return {pixel_box_of(frame, glyph),
                make_float4(glyph.centre.x, glyph.centre.y, glyph.centre.z, ball_radius(glyph))};
    }
    float4 record[SphereRecords::RECORD_FLOAT4S];
    const Spheres::Shape shape = spheres.shape(i);
    SphereRecords::pack(shape, i, record);
    return {pixel_box_of(frame, shape.centre, record[0].w),
            make_float4(shape.centre.x, shape.centre.y, shape.centre.z, record[0].w)};
}

extern "C" __global__ void write_boxes(const ViewFrame* frame, Spheres spheres, const float4* glyph_rows,
                                       int glyph_count, int rows, uint2* boxes, SphereStruct* structs,
                                       unsigned* order_keys, unsigned* prim_ids) {
    for (int i : grid_stride(spheres.count + (GLYPHS ? glyph_count : 0))) {
        const SeenThing seen = seen_thing(*frame, spheres, glyph_rows, i);
        const PixelBox box = {seen.box.x, drawn_rows(seen.box.y, *frame, rows)};
        const uint2 kept = packed(pixels_or_none(box));
        if (SPHERE_STRUCTS) structs[i] = {seen.ball, kept, make_uint2(0u, 0u)};
        else boxes[i] = kept;
        if (!order_keys) continue;
        const float3 centre = make_float3(seen.ball.x, seen.ball.y, seen.ball.z);
        order_keys[i] = key_of_distance(nearest_distance(*frame, centre, seen.ball.w));
        if (prim_ids) prim_ids[i] = (unsigned)i;
    }
}
