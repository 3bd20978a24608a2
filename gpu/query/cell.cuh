// Periodic boxes: the images of a ball that reach what is in the box.
// from gpu.query.cell import CellRow
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/vec.cuh"

__device__ __forceinline__ float3 coordinates_in(Pointer<const float> cell, float3 point) {
    return make_float3(dot(load3(cell + CellRow::to_a, 0), point), dot(load3(cell + CellRow::to_b, 0), point),
                       dot(load3(cell + CellRow::to_c, 0), point));
}

// Along one edge: the moves, in edges, by which a ball may reach what is in the box, beginning in the middle.
struct ImageRange {
    float at, lower, upper, per_distance;
    int first, count;

    // Rounding of coordinates is taken to be CROSSING_SLACK of the larger of both: what is moved too often finds
    // nothing.
    __device__ __forceinline__ float spare(float radius) const {
        const float size = max(max(at, -at), max(max(lower, -lower), max(upper, -upper)));
        return radius * per_distance * (1.0f + CROSSING_SLACK) + (1.0f + size) * CROSSING_SLACK;
    }
    __device__ __forceinline__ bool reaches(int move, float radius) const {
        const float moved = at + move, most = spare(radius);
        return moved >= lower - most && moved <= upper + most;
    }
    __device__ __forceinline__ int move(int turn) const {
        return first + (count - 1) / 2 + ((turn & 1) != 0 ? (turn + 1) / 2 : -(turn / 2));
    }
};

__device__ __forceinline__ ImageRange image_range(Pointer<const float> cell, int axis, float at, float radius) {
    ImageRange range = {
        at, cell[CellRow::lower + axis], cell[CellRow::upper + axis], cell[CellRow::per_distance + axis], 0, 0};
    const float most = range.spare(radius);
    // beyond 2^24 edges there are no places between them
    const float first = ceilf(range.lower - most - at), last = floorf(range.upper + most - at);
    if (!(first <= last && first > -1.6e7f && last < 1.6e7f)) return range;
    range.first = (int)first;
    range.count = (int)last - (int)first + 1;
    return range;
}

// Visits with the ball at each of its images that reaches what is in the box.
template <class Ball, class VisitImage>
__device__ __forceinline__ void for_images(Pointer<const float> cell, Ball& ball, const VisitImage& visit_image) {
    const float3 place = ball.centre, at = coordinates_in(cell, place);
    const float farthest = cell[CellRow::farthest];
    ball.radius2 = min(ball.radius2, farthest * farthest);
    float radius = sqrtf(ball.radius2);
    const ImageRange a = image_range(cell, 0, at.x, radius), b = image_range(cell, 1, at.y, radius),
                     c = image_range(cell, 2, at.z, radius);
    for (int i = 0; i < a.count; ++i) {
        for (int j = 0; j < b.count; ++j) {
            for (int k = 0; k < c.count; ++k) {
                const int along_a = a.move(i), along_b = b.move(j), along_c = c.move(k);
                radius = sqrtf(ball.radius2);
                if (!a.reaches(along_a, radius) || !b.reaches(along_b, radius) || !c.reaches(along_c, radius)) continue;
                ball.centre = place + load3(cell + CellRow::a, 0) * (float)along_a +
                              load3(cell + CellRow::b, 0) * (float)along_b +
                              load3(cell + CellRow::c, 0) * (float)along_c;
                visit_image();
            }
        }
    }
}
