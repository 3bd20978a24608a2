// How many cells divide a box: as many as were asked for at most, and so few that the primitives are listed no more
// often than is allowed.
//
// Cells are as near to cubes as whole numbers allow, so one number says how fine a grid is: R, the cells along the
// longest side. A box of extents e, in units of that side, meets about (e_x R + 1)(e_y R + 1)(e_z R + 1) cells, and a
// flat thing in it about that without the cube of R. So three sums over all boxes say how many references a grid of any
// R has. They are integers: whoever adds first, they are the same.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/grid/nodes.cuh"

constexpr int LENGTHS = 0, AREAS = 1, VOLUMES = 2, MEMBERS = 3, EXTENT_SUMS = 4;
constexpr double LENGTH_UNIT = 1.0 / (1 << 20), AREA_UNIT = 1.0 / (1ull << 32), VOLUME_UNIT = 1.0 / (1ull << 32);

struct ExtentSums {
    uint64 sums[EXTENT_SUMS];

    // Of the part of `own` inside the box, whose longest side has `longest` for its half.
    __device__ __forceinline__ void add(const Aabb& own, const Aabb& box, float longest) {
        const float3 lower = max(own.lower, box.lower), upper = min(own.upper, box.upper);
        double side[3];
        for (int a = 0; a < 3; ++a) {
            const double half = 0.5 * along(upper, a) - 0.5 * along(lower, a);
            side[a] = half > 0.0 && longest > 0.0f ? half / longest : 0.0;
            side[a] = side[a] < 1.0 ? side[a] : 1.0;
        }
        sums[LENGTHS] += (uint64)((side[0] + side[1] + side[2]) / LENGTH_UNIT + 0.5);
        sums[AREAS] += (uint64)((side[0] * side[1] + side[1] * side[2] + side[2] * side[0]) / AREA_UNIT + 0.5);
        sums[VOLUMES] += (uint64)(side[0] * side[1] * side[2] / VOLUME_UNIT + 0.5);
        sums[MEMBERS] += 1;
    }
};

// Half of the longest side.
__device__ __forceinline__ float longest_half(const Aabb& box) {
    const float3 half = box.upper * 0.5f - box.lower * 0.5f;
    return max(half.x, max(half.y, half.z));
}
__device__ __forceinline__ float largest_coordinate(const Aabb& box) {
    const float3 size = max(max(box.lower, -box.lower), max(box.upper, -box.upper));
    return max(size.x, max(size.y, size.z));
}

struct Fineness {
    Aabb box;
    double lengths, areas, volumes, members;
    int most_along;

    __device__ __forceinline__ Fineness(const Aabb& of, const uint64* sums, int most) : box(of), most_along(most) {
        lengths = sums[LENGTHS] * LENGTH_UNIT;
        areas = sums[AREAS] * AREA_UNIT;
        volumes = IS_SOLID ? sums[VOLUMES] * VOLUME_UNIT : 0.0;
        members = (double)sums[MEMBERS];
        // A cell is larger than what rays are rounded by, and where sizes are no reasonable numbers there is but one.
        const float longest = longest_half(box);
        if (!(longest >= LEAST_GRID && longest <= MOST_GRID)) most_along = 1;
        else most_along = (int)min((float)most, max(1.0f, longest / (GRID_SLACK * largest_coordinate(box))));
    }
    __device__ __forceinline__ int3 counts(int along_longest) const {
        const float longest = longest_half(box);
        int3 found;
        for (int a = 0; a < 3; ++a) {
            const float half = along(box.upper, a) * 0.5f - along(box.lower, a) * 0.5f;
            const float share = longest > 0.0f ? half / longest : 0.0f;
            set_along(found, a, max(1, min(along_longest, (int)(share * (float)along_longest + 0.5f))));
        }
        return found;
    }
    __device__ __forceinline__ static double cells(int3 count) { return (double)count.x * count.y * count.z; }
    __device__ __forceinline__ double references(int along_longest) const {
        const double r = along_longest;
        return members + r * (lengths + r * (areas + r * volumes));
    }
    // The finest grid of at most so many cells and references.
    __device__ __forceinline__ int finest(double most_cells, double most_references) const {
        int fits = 1, fits_not = most_along + 1;
        while (fits_not - fits > 1) {
            const int middle = fits + (fits_not - fits) / 2;
            if (cells(counts(middle)) <= most_cells && references(middle) <= most_references) fits = middle;
            else fits_not = middle;
        }
        return fits;
    }
    // What a ray is expected to cost: each cell by its share of the box's surface, as the SAH weighs nodes.
    __device__ __forceinline__ double cost(int along_longest, float step_cost, float test_cost) const {
        const int3 count = counts(along_longest);
        const double x = ((double)box.upper.x - box.lower.x), y = ((double)box.upper.y - box.lower.y),
                     z = ((double)box.upper.z - box.lower.z);
        const double cell_x = x / count.x, cell_y = y / count.y, cell_z = z / count.z;
        const double area = x * y + y * z + z * x;
        const double share = (cell_x * cell_y + cell_y * cell_z + cell_z * cell_x) / (area > 0.0 ? area : 1.0);
        return share * (cells(count) * step_cost + references(along_longest) * test_cost);
    }
};
