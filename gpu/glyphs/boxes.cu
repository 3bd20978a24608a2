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

// Where a sphere or a glyph is seen, as it is kept.
struct BoxesOut {
    int rows;
    uint2* boxes;
    SphereStruct* structs;
    unsigned *order_keys, *prim_ids;

    __device__ __forceinline__ void write(int i, const ViewFrame& frame, const PixelBox& box, float4 ball,
                                          float nearest) const {
        const uint2 kept = packed(pixels_or_none({box.x, drawn_rows(box.y, frame, rows)}));
        if (SPHERE_STRUCTS) structs[i] = {ball, kept, make_uint2(0u, 0u)};
        else boxes[i] = kept;
        if (!order_keys) return;
        order_keys[i] = key_of_distance(nearest);
        if (prim_ids) prim_ids[i] = (unsigned)i;
    }
};

// A pack of spheres at once.
__device__ __forceinline__ void write_pack(const ViewFrame& frame, const Spheres& spheres, int first,
                                           const BoxesOut& out) {
    Place<Real> centre;
    for (int i = 0; i < PACK; ++i) {
        const float3 point = spheres.point(first + i);
        set_lane(centre.x, i, point.x);
        set_lane(centre.y, i, point.y);
        set_lane(centre.z, i, point.z);
    }
    const Real given = load(&spheres.radii[first]);
    const Real sum = (centre.x - centre.x) + (centre.y - centre.y) + (centre.z - centre.z) + (given - given);
    const Real radius = select((sum == 0.0f) & (given >= 0.0f), given, splat(-1.0f));  // as records have it
    const float* eye = frame.camera + CameraRow::eye;
    const Place<Real> place = {centre.x - eye[0], centre.y - eye[1], centre.z - eye[2]};
    const PixelBoxOf<Int> box = pixel_box_at<PRINTED_BOXES>(frame, place, radius);
    const Real nearest = nearest_distance(frame, place, radius);
    for (int i = 0; i < PACK; ++i)
        out.write(
            first + i, frame, {{lane(box.x.first, i), lane(box.x.end, i)}, {lane(box.y.first, i), lane(box.y.end, i)}},
            make_float4(lane(centre.x, i), lane(centre.y, i), lane(centre.z, i), lane(radius, i)), lane(nearest, i));
}

extern "C" __global__ void write_boxes(const ViewFrame* frame, Spheres spheres, const float4* glyph_rows,
                                       int glyph_count, int rows, uint2* boxes, SphereStruct* structs,
                                       unsigned* order_keys, unsigned* prim_ids) {
    const BoxesOut out = {rows, boxes, structs, order_keys, prim_ids};
    const int count = spheres.count + (GLYPHS ? glyph_count : 0);
    for (int pack : grid_stride((count + PACK - 1) / PACK)) {
        const int first = pack * PACK;
        if (!IS_SINGLE_RAY && first + PACK <= spheres.count) {
            write_pack(*frame, spheres, first, out);
            continue;
        }
        for (int i = first; i < min(first + PACK, count); ++i) {
            const SeenThing seen = seen_thing(*frame, spheres, glyph_rows, i);
            const float3 centre = make_float3(seen.ball.x, seen.ball.y, seen.ball.z);
            out.write(i, *frame, seen.box, seen.ball, nearest_distance(*frame, centre, seen.ball.w));
        }
    }
}
