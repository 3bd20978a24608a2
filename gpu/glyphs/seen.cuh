// Where a primitive is seen and which pass may draw it: by the boxes of boxes.cu or, with OWN_BOXES, by boxes of who
// asks.
//
// A box takes some hundred instructions and 16 bytes written and read. What near spheres hide is found by cells of the
// picture (wide_cells.cuh) in a tenth of them, so that of many spheres most need no box at all.
//
// Constants of the unit: OWN_BOXES, PRINTED_BOXES, and those of tiles.cuh.
#pragma once
#include "gpu/glyphs/glyph_bounds.cuh"
#include "gpu/glyphs/wide_cells.cuh"

struct Seen {
    float4 ball;  // the sphere, or what is round a glyph
    PixelBox box;  // of the rows drawn
    unsigned least;  // of the keys of its hits, the part that is their distance
};

__device__ __forceinline__ unsigned least_key(const ViewFrame& frame, float4 ball) {
    return key_of_distance(nearest_distance(frame, make_float3(ball.x, ball.y, ball.z), ball.w));
}

__device__ __forceinline__ PixelBox own_box(const ViewFrame& frame, const TileInput& input, int prim_id, float4 ball) {
    const PixelBox box = input.is_glyph(prim_id) ? pixel_box_of(frame, input.glyph(prim_id))
                                                 : pixel_box_of(frame, make_float3(ball.x, ball.y, ball.z), ball.w);
    return pixels_or_none({box.x, drawn_rows(box.y, frame, input.rows)});
}

// Of any primitive; its box is NO_PIXELS where it cannot be seen.
__device__ __forceinline__ Seen seen_at(const ViewFrame& frame, const TileInput& input, int prim_id) {
    const float4 ball = ball_of(input, prim_id);
    return {ball, OWN_BOXES ? own_box(frame, input, prim_id, ball) : input.box(prim_id), least_key(frame, ball)};
}

// Centre and radius: of an inactive primitive whatever the scene has.
__device__ __forceinline__ Spheres::Shape rough_ball(const TileInput& input, int prim_id) {
    if (!input.is_glyph(prim_id)) return input.column_shape(prim_id);
    const float4 ball = ball_of(input, prim_id);
    return {make_float3(ball.x, ball.y, ball.z), ball.w};
}

// Whether a part may draw a primitive: surely not where it is not seen or, as far as a box that holds its own tells, is
// hidden.
__device__ __forceinline__ bool may_be_in_part(const ViewFrame& frame, const CellView& view, const TileInput& input,
                                               int prim_id, Part part) {
    if (!OWN_BOXES) {
        const PixelBox box = input.box(prim_id);
        return !box.is_empty() && is_in_part(input, frame.width, part, box, prim_id);
    }
    if (part == PART_ALL) return true;
    const Spheres::Shape ball = rough_ball(input, prim_id);
    const float3 place = ball.centre - view.eye;
    const float least = low_distance(view, place, ball.radius);
    if (least < view.near_bound) return part == PART_NEAR;
    return part == PART_REST && !is_surely_hidden(view, input.covered, least, place, ball.radius);
}
