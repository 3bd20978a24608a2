// Which boxes are hidden behind what rays from a place hit (gpu/occlusion.py): the rays of the six faces of a cube, the
// pyramids of their depths, and the boxes that begin before the farthest depth where they lie.
//
// Face 2 a + s stands across axis a, before the place (s = 0) or behind it; along it lie the next two axes. Ray
// (face, x, y) goes through the middle of one of `side` x `side` squares. Levels of the pyramids follow one another:
// 6 side^2 depths, 6 (side / 2)^2 and so on to 6.
// Unit constants: FACES, 6; NEARER, by how much boxes are taken to be nearer than they are.
#include "gpu/device/aabb.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"

__device__ __forceinline__ double axis_of(float3 v, int axis) { return along(v, axis % 3); }
__device__ __forceinline__ int64 first_of_level(int side, int level) {
    int64 first = 0;
    for (int i = 0; i < level; ++i) first += (int64)FACES * (side >> i) * (side >> i);
    return first;
}

__device__ __forceinline__ float as_distance(double far) { return far < FLOAT_MAX ? (float)far : FLOAT_MAX; }

// `rows`: origin, direction, t_min and t_max, `stride` of each; those past `count` are no rays. Of `plane`, normal and
// offset where `is_cut`, what lies beyond is not there; where nothing of a ray is left, both distances are 0.
extern "C" __global__ void write_cube_rays(const float* places, int which, const float* plane, int is_cut, int side,
                                           int count, int stride, float* rows) {
    const float3 place = load3(places, which);
    for (int i : grid_stride(stride)) {
        float way[3] = {0.0f, 0.0f, 0.0f}, begin = 0.0f, end = i < count ? FLOAT_MAX : 0.0f;
        if (i < count) {
            const int face = i / (side * side), square = i % (side * side), axis = face / 2;
            way[axis] = face % 2 == 0 ? 1.0f : -1.0f;
            way[(axis + 1) % 3] = ((float)(square / side) + 0.5f) / (float)side * 2.0f - 1.0f;
            way[(axis + 2) % 3] = ((float)(square % side) + 0.5f) / (float)side * 2.0f - 1.0f;
        }
        if (i < count && is_cut != 0) {
            const double leaving = (double)way[0] * plane[0] + (double)way[1] * plane[1] + (double)way[2] * plane[2];
            const double inside = (double)plane[3] - ((double)place.x * plane[0] + (double)place.y * plane[1] +
                                                      (double)place.z * plane[2]);
            const double crossed = leaving != 0.0 && inside / leaving > 0.0 ? inside / leaving : 0.0;
            if (leaving < 0.0) begin = as_distance(crossed / NEARER);
            else if (leaving > 0.0) end = as_distance(crossed * NEARER);
            else if (inside < 0.0) end = 0.0f;
        }
        const float row[8] = {place.x, place.y, place.z, way[0], way[1], way[2], begin, end};
        for (int part = 0; part < 8; ++part) rows[(int64)part * stride + i] = row[part];
    }
}

// How far the nearest hits are along the faces' axes; infinite where there is none.
extern "C" __global__ void write_depths(const float* t, const int* prim_id, int count, float* depths) {
    for (int i : grid_stride(count)) depths[i] = prim_id[i] >= 0 ? t[i] : __int_as_float(0x7f800000);
}

// The farthest of four depths each; `side` is that of the cube, `level` the one to be made.
extern "C" __global__ void halve_depths(int side, int level, int count, float* depths) {
    const int64 from = first_of_level(side, level - 1), to = first_of_level(side, level);
    const int own = side >> level;
    for (int i : grid_stride(count)) {
        const int face = i / (own * own), x = i / own % own, y = i % own;
        const int64 row = from + (int64)face * 4 * own * own + (int64)(2 * x) * 2 * own + 2 * y;
        depths[to + i] = max(max(depths[row], depths[row + 1]), max(depths[row + 2 * own], depths[row + 2 * own + 1]));
    }
}

struct Span {
    double lower, upper;
};
// Squares from the first to the last that a box lies on along one side of a face, one more on each.
struct Squares {
    int first, last;
};
__device__ __forceinline__ int square_of(double at, int by, int side) {
    const double clipped = at < -1.0 ? -1.0 : at > 1.0 ? 1.0 : at;
    const int square = (clipped == clipped ? (int)((clipped + 1.0) * 0.5 * side) : 0) + by;
    return min(max(square, 0), side - 1);
}
__device__ __forceinline__ Squares squares_of(const Span& span, double near, double far, int side) {
    return {square_of(span.lower / (span.lower < 0.0 ? near : far), -1, side),
            square_of(span.upper / (span.upper > 0.0 ? near : far), 1, side)};
}
// How far the axis of a face passes by.
__device__ __forceinline__ double beside(const Span& span) {
    return span.lower > 0.0 ? span.lower : span.upper < 0.0 ? -span.upper : 0.0;
}

__device__ __forceinline__ bool is_seen(const Aabb& box, float3 place, int face, const float* depths, int side) {
    Span spans[3];
    for (int i = 0; i < 3; ++i) {
        const double from = axis_of(place, face / 2 + i);
        spans[i] = {axis_of(box.lower, face / 2 + i) - from, axis_of(box.upper, face / 2 + i) - from};
    }
    if (face % 2 == 1) spans[0] = {-spans[0].upper, -spans[0].lower};
    const double aside = beside(spans[1]) > beside(spans[2]) ? beside(spans[1]) : beside(spans[2]);
    const double near = spans[0].lower > aside ? spans[0].lower : aside;  // where the part on the face begins
    if (near <= 0.0 && spans[0].upper >= 0.0) return true;  // it holds the place
    if (!(near <= spans[0].upper && spans[0].upper > 0.0)) return false;
    const Squares x = squares_of(spans[1], near, spans[0].upper, side);
    const Squares y = squares_of(spans[2], near, spans[0].upper, side);
    int level = 0;
    for (int wide = max(x.last - x.first, y.last - y.first) + 1; (1 << level) < wide;) ++level;
    const int own = side >> level;  // where it covers two squares a side at most
    const int64 first = first_of_level(side, level) + (int64)face * own * own;
    const int64 low = first + (int64)(x.first >> level) * own, high = first + (int64)(x.last >> level) * own;
    const float depth = max(max(depths[low + (y.first >> level)], depths[low + (y.last >> level)]),
                            max(depths[high + (y.first >> level)], depths[high + (y.last >> level)]));
    return near * NEARER <= depth;
}

// `boxes`: lower and upper corners. `seen` stays 1 where it is; a child of what is hidden is hidden: its squares are
// among its parent's, and it begins no nearer.
extern "C" __global__ void mark_seen(const float* places, int which, const float* boxes, int count, const float* depths,
                                     int side, unsigned* seen) {
    const float3 place = load3(places, which);
    for (int i : grid_stride(count)) {
        const Aabb box = {load3(boxes, 2 * i), load3(boxes, 2 * i + 1)};
        if (seen[i] != 0u || is_empty(box)) continue;
        for (int face = 0; face < FACES; ++face) {
            if (!is_seen(box, place, face, depths, side)) continue;
            seen[i] = 1u;
            break;
        }
    }
}
