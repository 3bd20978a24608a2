// What the figures of any tree's quality have in common (Aila, Karras and Laine, On Quality Metrics of Bounding Volume
// Hierarchies, 2013): lines through a box, surfaces cut to a box, levels that are counted. In double precision and
// fixed blocks: equal trees, equal figures.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/epsilons.cuh"

// -- lines -----------------------------------------------------------------------------------------------

struct Line {
    double origin[3], inverse[3];

    __device__ bool meets(const Aabb& box) const {
        if (is_empty(box)) return false;
        const double lower[3] = {box.lower.x, box.lower.y, box.lower.z},
                     upper[3] = {box.upper.x, box.upper.y, box.upper.z};
        double from = -1e300, to = 1e300;
        for (int k = 0; k < 3; ++k) {
            const double a = (lower[k] - origin[k]) * inverse[k], b = (upper[k] - origin[k]) * inverse[k];
            from = a < b ? (a > from ? a : from) : (b > from ? b : from);
            to = a < b ? (b < to ? b : to) : (a < to ? a : to);
        }
        return from <= to;
    }
};

// The i-th of a sequence that fills [0, 1) evenly in four dimensions (Roberts 2018): multiples of powers of 1
// / 1.16730397826142.
__device__ double evenly(int i, int dimension) {
    const double steps[4] = {0.8566748838545029, 0.733891856627126, 0.6287067210378087, 0.5385972572236101};
    const double value = 0.5 + (i + 1) * steps[dimension];
    return value - floor(value);
}

// Directions of all kinds alike, and across them places in a disc that covers the box: lines as even as the SAH takes
// them for.
__device__ Line line_through(const Aabb& box, int i) {
    const double z = 1.0 - 2.0 * evenly(i, 0), turn = 6.283185307179586 * evenly(i, 1),
                 ring = sqrt(1.0 - z * z > 0.0 ? 1.0 - z * z : 0.0);
    const double along[3] = {ring * cos(turn), ring * sin(turn), z};
    // a frame after Duff et al. 2017
    const double sign = z < 0.0 ? -1.0 : 1.0, a = -1.0 / (sign + z), b = along[0] * along[1] * a;
    const double right[3] = {1.0 + sign * along[0] * along[0] * a, sign * b, -sign * along[0]},
                 up[3] = {b, sign + along[1] * along[1] * a, -along[1]};
    const double lower[3] = {box.lower.x, box.lower.y, box.lower.z}, upper[3] = {box.upper.x, box.upper.y, box.upper.z};
    double diagonal = 0.0;
    for (int k = 0; k < 3; ++k) diagonal += (upper[k] - lower[k]) * (upper[k] - lower[k]);
    const double radius = 0.5 * sqrt(diagonal) * sqrt(evenly(i, 2)), angle = 6.283185307179586 * evenly(i, 3);
    Line line;
    for (int k = 0; k < 3; ++k) {
        line.origin[k] = 0.5 * (lower[k] + upper[k]) + radius * (cos(angle) * right[k] + sin(angle) * up[k]);
        line.inverse[k] = 1.0 / (along[k] < LEAST_LINE_DIRECTION && along[k] > -LEAST_LINE_DIRECTION
                                     ? LEAST_LINE_DIRECTION
                                     : along[k]);
    }
    return line;
}

// Lines that meet the root's box, leaves on them, squares of the leaves on each: 3 doubles per block.
struct LineCounts {
    double lines, leaves, squares;

    __device__ void add(double met) {
        lines += 1.0;
        leaves += met;
        squares += met * met;
    }
    // By all threads of the block.
    __device__ void store(double* sums) const {
        const double totals[3] = {block_sum(lines), block_sum(leaves), block_sum(squares)};
        if (thread_index() != 0) return;
        for (int i = 0; i < 3; ++i) sums[3 * block_index() + i] = totals[i];
    }
};

// -- levels ----------------------------------------------------------------------------------------------

// Inner nodes and leaves of each depth, 2 numbers a level; what lies deeper than LEVELS is counted in the last one. All
// threads of a block begin and store together.
template <int LEVELS>
struct LevelCounts {
    int counts[2 * LEVELS];

    __device__ void begin() {
        for (int i : block_stride(2 * LEVELS)) counts[i] = 0;
        block_sync();
    }
    __device__ void add_inner(int depth) { block_atomic_add(counts + 2 * min(depth, LEVELS - 1), 1); }
    __device__ void add_leaves(int depth, int count) {
        block_atomic_add(counts + 2 * min(depth, LEVELS - 1) + 1, count);
    }
    __device__ void store(int* levels) {
        block_sync();
        for (int i : block_stride(2 * LEVELS)) {
            if (counts[i] != 0) atomic_add(levels + i, counts[i]);
        }
    }
};

// -- surfaces in boxes -----------------------------------------------------------------------------------

constexpr int MAX_CORNERS = 9;  // a triangle cut by six planes

// Corner after corner, x, y, z; in memory, because it is indexed by what is only known then.
struct Polygon {
    double corners[3 * MAX_CORNERS];
    int count;
};

// What lies on the side of `plane` where sign x coordinate is at most sign x plane (Sutherland and Hodgman 1974).
__device__ __noinline__ void cut(const Polygon& polygon, int axis, double plane, double sign, Polygon& kept) {
    kept.count = 0;
#pragma unroll 1
    for (int i = 0; i < polygon.count; ++i) {
        const double* from = polygon.corners + 3 * i;
        const double* to = polygon.corners + (i + 1 < polygon.count ? 3 * i + 3 : 0);
        const double inside = sign * (plane - from[axis]), next = sign * (plane - to[axis]);
        const bool crosses = (inside > 0.0 && next < 0.0) || (inside < 0.0 && next > 0.0);
        const double along = crosses ? inside / (inside - next) : 0.0;
#pragma unroll 1
        for (int k = 0; k < 3; ++k) {
            double* at = kept.corners + 3 * kept.count + k;
            if (inside >= 0.0) *at = from[k];
            if (crosses) at[inside >= 0.0 ? 3 : 0] = k == axis ? plane : from[k] + along * (to[k] - from[k]);
        }
        kept.count += (inside >= 0.0) + crosses;
    }
}

__device__ double area_of(const Polygon& polygon) {
    double x = 0.0, y = 0.0, z = 0.0;
    const double* o = polygon.corners;
#pragma unroll 1
    for (int i = 1; i + 1 < polygon.count; ++i) {
        const double *a = o + 3 * i, *b = a + 3;
        x += (a[1] - o[1]) * (b[2] - o[2]) - (a[2] - o[2]) * (b[1] - o[1]);
        y += (a[2] - o[2]) * (b[0] - o[0]) - (a[0] - o[0]) * (b[2] - o[2]);
        z += (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
    }
    return 0.5 * sqrt(x * x + y * y + z * z);
}

// The part of a polygon inside a box, in `parts[0]`; `parts[1]` is used on the way.
__device__ void cut_to(const Polygon& polygon, const Aabb& box, Polygon* parts) {
    const double planes[6] = {box.upper.x, box.upper.y, box.upper.z, box.lower.x, box.lower.y, box.lower.z};
    cut(polygon, 0, planes[0], 1.0, parts[1]);
#pragma unroll 1
    for (int side = 1; side < 6; ++side)
        cut(parts[side % 2], side % 3, planes[side], side < 3 ? 1.0 : -1.0, parts[1 - side % 2]);
}

__device__ __forceinline__ Polygon triangle_polygon(const float3* corners) {
    Polygon whole;
    whole.count = 3;
#pragma unroll 1
    for (int i = 0; i < 3; ++i) {
        whole.corners[3 * i] = corners[i].x;
        whole.corners[3 * i + 1] = corners[i].y;
        whole.corners[3 * i + 2] = corners[i].z;
    }
    return whole;
}

// From which area on a surface is large, so that it is a sample itself: the mean that as many samples would have.
// `areas`: a sum per block. All threads of the block call it.
__device__ __forceinline__ double large_area(const double* areas, int samples) {
    SHARED double large;
    if (thread_index() == 0) {
        double all = 0.0;
        for (int block = 0; block < block_count(); ++block) all += areas[block];
        large = all / samples;
    }
    block_sync();
    return large;
}

// How many surfaces one stands for: 0 where it is no sample.
__device__ __forceinline__ double stands_for(int surface, int sample_every, double area, double large) {
    if (sample_every == 1 || area >= large) return 1.0;
    return surface % sample_every == 0 ? (double)sample_every : 0.0;
}

// Overlap and the area of the samples: 2 doubles per block. All threads of the block call it.
__device__ __forceinline__ void store_overlap(double overlap, double area, double* sums) {
    overlap = block_sum(overlap);
    area = block_sum(area);
    if (thread_index() != 0) return;
    sums[2 * block_index()] = overlap;
    sums[2 * block_index() + 1] = area;
}
