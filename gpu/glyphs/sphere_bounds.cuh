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

// Of one sphere by numbers, or of a pack by a lane each: `Number` is float or Real.
template <class Number>
using WholeOf = decltype(truncated(Number()));
template <class Number>
struct Place {
    Number x, y, z;
};
template <class Number>
__device__ __forceinline__ Number dot(const Place<Number>& a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Number>
__device__ __forceinline__ Number length(const Place<Number>& a) {
    return lanes_sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}

// Slopes across / along of everything seen of a circle, unbounded at FLOAT_MAX.
template <class Number>
struct SlopesOf {
    Number least, most;
};
using Slopes = SlopesOf<float>;

// One tangent of the circle of `radius` round (across, along): to the side of greater slopes, by mirroring to the
// other. Rounding is bounded term by term; FLOAT_MAX where the tangent does not point forwards for sure, as where the
// eye is within the circle, or too near to it to say.
template <class Number>
__device__ __forceinline__ Number tangent_slope(Number across, Number along, Number radius, Number distance) {
    const Number zero = splat_as(across, 0.0f), apart2 = across * across + along * along;
    const Number reach2 = apart2 - radius * radius, reach = lanes_sqrt(max(reach2, zero));
    const Number of_place = 4.0f * HALF_ULP * distance;  // of across and along
    const Number of_reach = select(reach > zero, (8.0f * HALF_ULP * apart2 + 2.0f * of_place * distance) / reach, zero);
    const Number rise = across * reach + along * radius, run = along * reach - across * radius;
    const Number longest = lanes_abs(across) + lanes_abs(along);
    const Number slack = longest * of_reach + (reach + radius) * of_place +
                         4.0f * HALF_ULP * longest * (reach + radius);
    const Number slope = rise / run;
    return select((reach <= of_reach) | (run <= slack), splat_as(across, FLOAT_MAX),
                  slope + slack * (1.0f + lanes_abs(slope)) / (run - slack) + RAY_SLACK * (1.0f + slope * slope));
}

template <class Number>
__device__ __forceinline__ SlopesOf<Number> tangent_slopes(Number across, Number along, Number radius,
                                                           Number distance) {
    return {-tangent_slope(-across, along, radius, distance), tangent_slope(across, along, radius, distance)};
}

// As printed: the foot of the tangents at q = |SC| - r^2 / |SC| along the line to the centre, their ends h = sqrt(p q)
// beside it, across that line in the plane, with |SC| in space.
template <class Number>
__device__ __forceinline__ SlopesOf<Number> printed_slopes(Number across, Number along, Number radius,
                                                           Number distance) {
    const Number p = radius * radius / distance, q = distance - p, h = lanes_sqrt(max(p * q, splat_as(p, 0.0f)));
    const Number flat = max(lanes_sqrt(across * across + along * along), splat_as(p, LEAST_DIVISOR)),
                 shrink = 1.0f / distance;
    const Number x = across * shrink * q, z = along * shrink * q, dx = along / flat * h, dz = -across / flat * h;
    return {(x - dx) / (z - dz), (x + dx) / (z + dz)};
}

// A coordinate in the picture, -.5 to .5 from side to side, as a pixel.
template <class Number>
__device__ __forceinline__ WholeOf<Number> pixel_between(Number value, int least, int most) {
    return truncated(min(max(value, splat_as(value, (float)least)), splat_as(value, (float)most)));
}

// The pixels whose rays, which go through (pixel + jitter), lie between two coordinates of the picture.
template <class Number>
__device__ __forceinline__ PixelRangeOf<WholeOf<Number>> exact_pixels_between(Number least, Number most, float jitter,
                                                                              int pixels) {
    const float slack = PIXEL_SLACK + 4.0f * HALF_ULP * pixels;
    return {pixel_between(lanes_ceil((least + 0.5f) * pixels - jitter - slack), 0, pixels),
            pixel_between(lanes_floor((most + 0.5f) * pixels - jitter + slack) + 1.0f, 0, pixels)};
}

// As the thesis has it: cut to whole numbers.
template <class Number>
__device__ __forceinline__ PixelRangeOf<WholeOf<Number>> printed_pixels_between(Number least, Number most, int pixels) {
    return {pixel_between((least + 0.5f) * pixels, 0, pixels), pixel_between((most + 0.5f) * pixels, 0, pixels)};
}

// How far rounding may move a sphere.
template <class Number>
__device__ __forceinline__ Number place_slack(Number distance, Number radius) {
    return 8.0f * HALF_ULP * (distance + radius);
}

// No ray of the picture meets the sphere, `place` from the eye, at a smaller distance.
template <class Number>
__device__ __forceinline__ Number nearest_distance(const ViewFrame& f, const Place<Number>& place, Number radius) {
    const float* c = f.camera;
    const Number distance = length(place), along = dot(place, load3(c + CameraRow::ahead, 0));
    return (c[CameraRow::is_orthographic] != 0.0f ? along : distance) - radius - place_slack(distance, radius);
}

// How one axis of the picture sees a sphere whose centre lies `across` from the eye along it.
template <bool IS_PRINTED, class Number>
__device__ __forceinline__ PixelRangeOf<WholeOf<Number>> range_along(Number across, Number along, Number radius,
                                                                     Number distance, float width, float jitter,
                                                                     int pixels, bool is_orthographic) {
    SlopesOf<Number> seen;
    if (is_orthographic) {
        const Number slack = place_slack(distance, radius);
        seen = {across - radius - slack, across + radius + slack};
    } else {
        seen = IS_PRINTED ? printed_slopes(across, along, radius, distance)
                          : tangent_slopes(across, along, radius, distance);
    }
    const float scale = 1.0f / width;
    if (IS_PRINTED) return printed_pixels_between(seen.least * scale, seen.most * scale, pixels);
    return exact_pixels_between(seen.least * scale, seen.most * scale, jitter, pixels);
}

// The pixels of the picture that see a sphere `place` from the eye; none where the radius is negative.
template <bool IS_PRINTED, class Number>
__device__ __forceinline__ PixelBoxOf<WholeOf<Number>> pixel_box_at(const ViewFrame& f, const Place<Number>& place,
                                                                    Number radius) {
    const float* c = f.camera;
    const float3 forward = load3(c + CameraRow::ahead, 0), right = load3(c + CameraRow::across, 0),
                 down = load3(c + CameraRow::down, 0);
    const float width = length(right), height = length(down);
    const Number distance = length(place), along = dot(place, forward), slack = place_slack(distance, radius);
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    const auto is_hidden = !(radius >= 0.0f) | (along + radius + slack < c[CameraRow::near]) |
                           (along - radius - slack > c[CameraRow::far]);
    const WholeOf<Number> none = truncated(splat_as(radius, 0.0f));
    if (all(is_hidden)) return {{none, none}, {none, none}};
    const Number across_x = dot(place, right) / width, across_y = dot(place, down) / height;
    const auto x = range_along<IS_PRINTED>(across_x, along, radius, distance, width, f.jitter[0], f.width,
                                           is_orthographic);
    const auto y = range_along<IS_PRINTED>(across_y, along, radius, distance, height, f.jitter[1], f.height,
                                           is_orthographic);
    return {{select(is_hidden, none, x.first), select(is_hidden, none, x.end)},
            {select(is_hidden, none, y.first), select(is_hidden, none, y.end)}};
}

// The same of one, whose centre is given.
__device__ __forceinline__ Place<float> from_eye(const ViewFrame& f, float3 centre) {
    const float3 place = centre - load3(f.camera + CameraRow::eye, 0);
    return {place.x, place.y, place.z};
}
__device__ __forceinline__ float nearest_distance(const ViewFrame& f, float3 centre, float radius) {
    return nearest_distance(f, from_eye(f, centre), radius);
}
__device__ __forceinline__ PixelBox pixel_box_of(const ViewFrame& f, float3 centre, float radius) {
    return pixel_box_at<PRINTED_BOXES>(f, from_eye(f, centre), radius);
}
__device__ __forceinline__ PixelBox exact_pixel_box_of(const ViewFrame& f, float3 centre, float radius) {
    return pixel_box_at<false>(f, from_eye(f, centre), radius);
}

// `rows` of the picture are drawn, from the frame's first row on: the box has those for its rows.
__device__ __forceinline__ PixelRange drawn_rows(PixelRange y, const ViewFrame& f, int rows) {
    return {max(y.first - f.first_row, 0), min(y.end - f.first_row, rows)};
}
