// The pixels that a glyph can be seen in: those of the ball round it that are also those of its box's corners.
//
// Constant of the unit: PRINTED_BOXES (of spheres; glyphs are not in the thesis).
#pragma once
#include "gpu/device/glyph.cuh"
#include "gpu/glyphs/glyph_ball.cuh"
#include "gpu/glyphs/sphere_bounds.cuh"

// How one axis of the picture sees points: between which slopes, rounding included.
__device__ __forceinline__ void add_point(Slopes& seen, float across, float along, float slack, bool is_orthographic) {
    float slope = across, wide = slack;
    if (!is_orthographic) {
        slope = across / along;
        wide = slack * (1.0f + fabsf(slope)) / (along - slack) + RAY_SLACK * (1.0f + slope * slope);
    }
    seen = {min(seen.least, slope - wide), max(seen.most, slope + wide)};
}

// A convex body is seen within the hull of its corners, where none of them is behind the eye.
__device__ __forceinline__ PixelBox pixel_box_of_corners(const ViewFrame& f, const Aabb& box) {
    const float* c = f.camera;
    const float3 eye = load3(c + CameraRow::eye, 0), forward = load3(c + CameraRow::ahead, 0),
                 right = load3(c + CameraRow::across, 0), down = load3(c + CameraRow::down, 0);
    const float width = length(right), height = length(down);
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    Slopes x = {FLOAT_MAX, -FLOAT_MAX}, y = x;
    for (int corner = 0; corner < 8; ++corner) {
        const float3 at = make_float3(corner & 1 ? box.upper.x : box.lower.x, corner & 2 ? box.upper.y : box.lower.y,
                                      corner & 4 ? box.upper.z : box.lower.z);
        const float3 place = at - eye;
        const float along = dot(place, forward), slack = place_slack(length(place), 0.0f);
        if (!is_orthographic && !(along > 2.0f * slack)) return {{0, f.width}, {0, f.height}};
        add_point(x, dot(place, right) / width, along, slack, is_orthographic);
        add_point(y, dot(place, down) / height, along, slack, is_orthographic);
    }
    return {exact_pixels_between(x.least / width, x.most / width, f.jitter[0], f.width),
            exact_pixels_between(y.least / height, y.most / height, f.jitter[1], f.height)};
}

// The pixels of the picture; none where the glyph is not there.
__device__ __forceinline__ PixelBox pixel_box_of(const ViewFrame& f, const Glyph& glyph) {
    const Aabb box = aabb_of(glyph);
    if (is_empty(box)) return NO_PIXELS;
    const PixelBox round = exact_pixel_box_of(f, glyph.centre, ball_radius(glyph));
    return round.is_empty() ? NO_PIXELS : both(round, pixel_box_of_corners(f, box));
}
