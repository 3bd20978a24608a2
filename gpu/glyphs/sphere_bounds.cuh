// The pixels that a sphere can be seen in: a box, exact but for rounding, in which no pixel is missing.
//
// What is seen of a sphere along one axis of the picture is decided in the plane of that axis and the view axis: there
// the sphere is a circle, and its outermost rays are the circle's tangents through the eye. Soell 2015, 4.6, takes the
// distance to the centre in space where the plane's is needed, so that his boxes are too small off the picture's middle
// (PRINTED_BOXES draws them as printed).
//
// Constant of the unit: PRINTED_BOXES.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/vec.cuh"
#include "gpu/glyphs/pixel_box.cuh"
#include "gpu/trace/ray_sources.cuh"

// Slopes across / along of everything seen of a circle, unbounded at FLOAT_MAX.
struct Slopes {
    float least, most;
};

// One tangent of the circle of `radius` round (across, along): to the side of greater slopes, by mirroring to the
// other. Rounding is bounded term by term; FLOAT_MAX where the tangent does not point forwards for sure.
__device__ __forceinline__ float tangent_slope(float across, float along, float radius, float distance) {
    const float apart2 = across * across + along * along;
    const float reach2 = apart2 - radius * radius, reach = sqrtf(max(reach2, 0.0f));
    const float of_place = 4.0f * HALF_ULP * distance;  // of across and along
    const float of_reach = reach > 0.0f ? (8.0f * HALF_ULP * apart2 + 2.0f * of_place * distance) / reach : 0.0f;
    if (reach <= of_reach) return FLOAT_MAX;  // the eye is within the circle, or too near to it to say
    const float rise = across * reach + along * radius, run = along * reach - across * radius;
    const float longest = fabsf(across) + fabsf(along);
    const float slack = longest * of_reach + (reach + radius) * of_place + 4.0f * HALF_ULP * longest * (reach + radius);
    if (run <= slack) return FLOAT_MAX;
    const float slope = rise / run;
    return slope + slack * (1.0f + fabsf(slope)) / (run - slack) + RAY_SLACK * (1.0f + slope * slope);
}

__device__ __forceinline__ Slopes tangent_slopes(float across, float along, float radius, float distance) {
    return {-tangent_slope(-across, along, radius, distance), tangent_slope(across, along, radius, distance)};
}

// As printed: the foot of the tangents at q = |SC| - r^2 / |SC| along the line to the centre, their ends h = sqrt(p q)
// beside it, across that line in the plane, with |SC| in space.
__device__ __forceinline__ Slopes printed_slopes(float across, float along, float radius, float distance) {
    const float p = radius * radius / distance, q = distance - p, h = sqrtf(max(p * q, 0.0f));
    const float flat = max(sqrtf(across * across + along * along), LEAST_DIVISOR), shrink = 1.0f / distance;
    const float x = across * shrink * q, z = along * shrink * q, dx = along / flat * h, dz = -across / flat * h;
    return {(x - dx) / (z - dz), (x + dx) / (z + dz)};
}

// A coordinate in the picture, -.5 to .5 from side to side, as a pixel.
__device__ __forceinline__ int pixel_between(float value, int least, int most) {
    return (int)min(max(value, (float)least), (float)most);
}

// The pixels whose rays, which go through (pixel + jitter), lie between two coordinates of the picture.
__device__ __forceinline__ PixelRange exact_pixels_between(float least, float most, float jitter, int pixels) {
    const float slack = PIXEL_SLACK + 4.0f * HALF_ULP * pixels;
    return {pixel_between(ceilf((least + 0.5f) * pixels - jitter - slack), 0, pixels),
            pixel_between(floorf((most + 0.5f) * pixels - jitter + slack) + 1.0f, 0, pixels)};
}

// As the thesis has it.
__device__ __forceinline__ PixelRange printed_pixels_between(float least, float most, int pixels) {
    return {pixel_between(truncf((least + 0.5f) * pixels), 0, pixels),
            pixel_between(truncf((most + 0.5f) * pixels), 0, pixels)};
}

// How far rounding may move a sphere.
__device__ __forceinline__ float place_slack(float distance, float radius) {
    return 8.0f * HALF_ULP * (distance + radius);
}

// No ray of the picture meets the sphere at a smaller distance.
__device__ __forceinline__ float nearest_distance(const ViewFrame& f, float3 centre, float radius) {
    const float* c = f.camera;
    const float3 place = centre - load3(c + CameraRow::eye, 0);
    const float distance = length(place), along = dot(place, load3(c + CameraRow::ahead, 0));
    return (c[CameraRow::is_orthographic] != 0.0f ? along : distance) - radius - place_slack(distance, radius);
}

// How one axis of the picture sees a sphere whose centre lies `across` from the eye along it.
template <bool IS_PRINTED>
__device__ __forceinline__ PixelRange range_along(float across, float along, float radius, float distance, float width,
                                                  float jitter, int pixels, bool is_orthographic) {
    Slopes seen;
    if (is_orthographic) {
        const float slack = place_slack(distance, radius);
        seen = {across - radius - slack, across + radius + slack};
    } else {
        seen = IS_PRINTED ? printed_slopes(across, along, radius, distance)
                          : tangent_slopes(across, along, radius, distance);
    }
    const float scale = 1.0f / width;
    if (IS_PRINTED) return printed_pixels_between(seen.least * scale, seen.most * scale, pixels);
    return exact_pixels_between(seen.least * scale, seen.most * scale, jitter, pixels);
}

// `rows` of the picture are drawn, from the frame's first row on: the box has those for its rows.
__device__ __forceinline__ PixelRange drawn_rows(PixelRange y, const ViewFrame& f, int rows) {
    return {max(y.first - f.first_row, 0), min(y.end - f.first_row, rows)};
}

// The pixels of the picture; none where the radius is negative.
template <bool IS_PRINTED>
__device__ __forceinline__ PixelBox pixel_box_of_sphere(const ViewFrame& f, float3 centre, float radius) {
    if (!(radius >= 0.0f)) return NO_PIXELS;
    const float* c = f.camera;
    const float3 forward = load3(c + CameraRow::ahead, 0), right = load3(c + CameraRow::across, 0),
                 down = load3(c + CameraRow::down, 0), place = centre - load3(c + CameraRow::eye, 0);
    const float width = length(right), height = length(down), distance = length(place);
    const float along = dot(place, forward), slack = place_slack(distance, radius);
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    if (along + radius + slack < c[CameraRow::near] || along - radius - slack > c[CameraRow::far]) return NO_PIXELS;
    const float across_x = dot(place, right) / width, across_y = dot(place, down) / height;
    return {range_along<IS_PRINTED>(across_x, along, radius, distance, width, f.jitter[0], f.width, is_orthographic),
            range_along<IS_PRINTED>(across_y, along, radius, distance, height, f.jitter[1], f.height, is_orthographic)};
}
__device__ __forceinline__ PixelBox pixel_box_of(const ViewFrame& f, float3 centre, float radius) {
    return pixel_box_of_sphere<PRINTED_BOXES>(f, centre, radius);
}
__device__ __forceinline__ PixelBox exact_pixel_box_of(const ViewFrame& f, float3 centre, float radius) {
    return pixel_box_of_sphere<false>(f, centre, radius);
}

// A box that holds the exact one and that of rounding, in a tenth of its instructions; all pixels where the sphere is
// wide, or far to the side. With s = across / along and r = radius / along, the tangents' slopes are
// (s +- r sqrt(1 + s^2 - r^2)) / (1 - r^2), no further from s than r sqrt(1 + s^2) / (1 - r); sqrt(1 + s^2) <= 1 + s^2
// / 2.
constexpr float WIDE_SLACK = 0.125f;  // of a pixel: for approximate division, at up to 2^16 pixels
constexpr float WIDEST_SLOPE = 2.0f, WIDEST_RADIUS = 0.25f;

__device__ __forceinline__ PixelRange wide_range(float across, float inverse, float reach, float scale, float jitter,
                                                 int pixels) {
    const float slope = across * inverse, wide = reach * (1.0f + 0.5f * slope * slope);
    return {pixel_between(ceilf(((slope - wide) * scale + 0.5f) * pixels - jitter - WIDE_SLACK), 0, pixels),
            pixel_between(floorf(((slope + wide) * scale + 0.5f) * pixels - jitter + WIDE_SLACK) + 1.0f, 0, pixels)};
}

__device__ __forceinline__ PixelBox wide_box_of_sphere(const ViewFrame& f, float3 centre, float radius) {
    if (!(radius >= 0.0f)) return NO_PIXELS;
    const float* c = f.camera;
    const float3 right = load3(c + CameraRow::across, 0), down = load3(c + CameraRow::down, 0),
                 place = centre - load3(c + CameraRow::eye, 0);
    const float per_width = 1.0f / length(right), per_height = 1.0f / length(down);
    const float x = dot(place, right) * per_width, y = dot(place, down) * per_height;
    const float along = dot(place, load3(c + CameraRow::ahead, 0)), widest = WIDEST_SLOPE * along;
    if (c[CameraRow::is_orthographic] != 0.0f || !(radius <= WIDEST_RADIUS * along && along > LEAST_DIVISOR) ||
        !(fabsf(x) <= widest && fabsf(y) <= widest))
        return {{0, f.width}, {0, f.height}};
    const float inverse = 1.0f / along, share = radius * inverse, reach = share / (1.0f - share);
    return {wide_range(x, inverse, reach, per_width, f.jitter[0], f.width),
            wide_range(y, inverse, reach, per_height, f.jitter[1], f.height)};
}
