// In which cells of the picture (covered.cuh) a sphere can be seen, found for many spheres of one camera: what follows
// from the camera alone is read and divided once, and a sphere costs a tenth of its exact box.
//
// With s = across / along and r = radius / along, the slopes of the sphere's tangents are
// (s +- r sqrt(1 + s^2 - r^2)) / (1 - r^2), no further from s than r sqrt(1 + s^2) / (1 - r); sqrt(1 + s^2) <= 1 + s^2
// / 2.
#pragma once
#include "gpu/device/fast_math.cuh"
#include "gpu/glyphs/covered.cuh"
#include "gpu/glyphs/sphere_bounds.cuh"

constexpr float WIDE_SLACK = 0.125f;  // of a pixel: for approximate division, at up to 2^16 pixels
constexpr float SLOPE_SLACK = 2.0f * RAY_SLACK;  // of a slope: of the ray, and of what a place is multiplied by
constexpr float WIDEST_SLOPE = 2.0f, WIDEST_RADIUS = 0.25f;
constexpr float TO_NEXT = 1.0f - PIXEL_SLACK;  // pixels to the first ray that is met: less than one, so that it counts

// One axis of the picture, in cells: a place is seen at dot(place, across) / along, from the picture's middle.
struct CellAxis {
    float3 across;
    float per_slope, half_slope;  // cells of a slope of 1; half of a cell's slope
    float from, to;  // added to the least and the greatest place
    float cells, last;  // where the picture ends, and the cell of its last pixel
};

struct CellView {
    float3 eye, ahead;
    CellAxis x, y;
    int across;  // cells of a row
    float near_bound;  // spheres are near before that distance
    bool is_orthographic;
};

__device__ __forceinline__ CellAxis cell_axis(float3 right, float jitter, int pixels, int first, int drawn) {
    const float width = length(right), middle = 0.5f * pixels - jitter - first;
    const float per_slope = pixels / (width * CELL), slack = WIDE_SLACK + SLOPE_SLACK * pixels / width;
    return {
        right * (per_slope / width), per_slope,           0.5f / per_slope,           (middle - slack + TO_NEXT) / CELL,
        (middle + slack) / CELL,     (float)drawn / CELL, (float)((drawn - 1) / CELL)};
}
__device__ __forceinline__ CellView cell_view(const ViewFrame& f, const TileInput& input) {
    const float* c = f.camera;
    return {load3(c + CameraRow::eye, 0),
            load3(c + CameraRow::ahead, 0),
            cell_axis(load3(c + CameraRow::across, 0), f.jitter[0], f.width, 0, f.width),
            cell_axis(load3(c + CameraRow::down, 0), f.jitter[1], f.height, f.first_row, input.rows),
            cells_along(f.width),
            distance_of_key(*input.near_bound),
            c[CameraRow::is_orthographic] != 0.0f};
}

// The least and the greatest cell of an axis, not yet cut to the picture.
__device__ __forceinline__ float2 cells_along_axis(const CellAxis& axis, float place, float reach) {
    const float wide = reach * (axis.per_slope + place * place * axis.half_slope);
    return make_float2(place - wide + axis.from, place + wide + axis.to);
}

// No ray meets the sphere at a smaller distance: a little less than nearest_distance, whose root is exact.
__device__ __forceinline__ float low_distance(const CellView& view, float3 place, float radius) {
    const float distance = fast_root(dot(place, place));
    const float slack = place_slack(distance, radius) + 4.0f * HALF_ULP * distance;
    return (view.is_orthographic ? dot(place, view.ahead) : distance) - radius - slack;
}

// Whether a sphere `place` from the eye, of which `least` is a low distance, is surely not seen or hidden by what is
// drawn.
__device__ __forceinline__ bool is_surely_hidden(const CellView& view, const unsigned* covered, float least,
                                                 float3 place, float radius) {
    const float along = dot(place, view.ahead);
    const float widest = WIDEST_SLOPE * along, inverse = fast_inverse(along);
    const float x = dot(place, view.x.across), y = dot(place, view.y.across);
    if (view.is_orthographic || !(radius <= WIDEST_RADIUS * along && along > LEAST_DIVISOR) ||
        !(fabsf(x) <= widest * view.x.per_slope && fabsf(y) <= widest * view.y.per_slope))
        return false;
    const float share = radius * inverse, reach = share * fast_inverse(1.0f - share);
    const float2 in_x = cells_along_axis(view.x, x * inverse, reach),
                 in_y = cells_along_axis(view.y, y * inverse, reach);
    if (in_x.x >= view.x.cells || in_x.y < 0.0f || in_y.x >= view.y.cells || in_y.y < 0.0f) return true;
    const PixelRange columns = {(int)max(in_x.x, 0.0f), (int)min(in_x.y, view.x.last) + 1};
    const PixelRange rows = {(int)max(in_y.x, 0.0f), (int)min(in_y.y, view.y.last) + 1};
    return are_covered(covered, view.across, key_of_distance(least), {columns, rows});
}
