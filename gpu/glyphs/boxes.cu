// A pixel box per sphere, and the distance before which no ray meets it.
//
// Constants of the unit: PRINTED_BOXES, SPHERE_STRUCTS (`structs` are written, else `boxes`). `order_keys` may be null;
// they sort as the distances do.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/sphere.cuh"
#include "gpu/glyphs/sphere_bounds.cuh"

extern "C" __global__ void write_boxes(const ViewFrame* frame, Spheres spheres, int rows, uint2* boxes,
                                       SphereStruct* structs, unsigned* order_keys, unsigned* prim_ids) {
    for (int i : grid_stride(spheres.count)) {
        float4 record[SphereRecords::RECORD_FLOAT4S];
        const Spheres::Shape shape = spheres.shape(i);
        SphereRecords::pack(shape, i, record);
        const PixelBox seen = pixel_box_of(*frame, shape.centre, record[0].w);
        const PixelBox box = {seen.x, drawn_rows(seen.y, *frame, rows)};
        const uint2 kept = packed(box.is_empty() ? NO_PIXELS : box);
        if (SPHERE_STRUCTS) structs[i] = {record[0], kept, make_uint2(0u, 0u)};
        else boxes[i] = kept;
        if (!order_keys) continue;
        order_keys[i] = (unsigned)ordered_int(nearest_distance(*frame, shape.centre, record[0].w)) ^ 0x80000000u;
        prim_ids[i] = (unsigned)i;
    }
}
