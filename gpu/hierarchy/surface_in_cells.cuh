// A surface among cells that divide space, for the end-point overlap of trees of them (kd-trees, octrees).
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/tree_quality.cuh"

// A triangle, and what cells it can reach into: those that meet its box, and its plane.
struct Surface {
    Polygon polygon;
    Aabb box;
    double normal[3], along_normal;

    __device__ explicit Surface(const float3* corners) : polygon(triangle_polygon(corners)), box(empty_aabb()) {
        for (int i = 0; i < 3; ++i) box = merge(box, Aabb{corners[i], corners[i]});
        const double *a = polygon.corners, *b = a + 3, *c = a + 6;
        for (int k = 0; k < 3; ++k) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            normal[k] = (b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]);
        }
        along_normal = normal[0] * a[0] + normal[1] * a[1] + normal[2] * a[2];
    }
    // Whether it lies in a plane that ends the cell.
    __device__ bool is_beside(const Aabb& cell) const {
        for (int k = 0; k < 3; ++k) {
            const float at = along(box.lower, k);
            if (at == along(box.upper, k) && (at == along(cell.lower, k) || at == along(cell.upper, k))) return true;
        }
        return false;
    }
    // False only where nothing of the triangle lies in the closed cell; rounding is far below a part in 1e9.
    __device__ bool reaches(const Aabb& cell) const {
        double middle = -along_normal, reach = 0.0, size = along_normal < 0.0 ? -along_normal : along_normal;
        for (int k = 0; k < 3; ++k) {
            const double lower = along(cell.lower, k), upper = along(cell.upper, k),
                         steep = normal[k] < 0.0 ? -normal[k] : normal[k];
            if (lower > along(box.upper, k) || upper < along(box.lower, k)) return false;
            middle += normal[k] * 0.5 * (lower + upper);
            reach += steep * 0.5 * (upper - lower);
            size += steep * ((lower < 0.0 ? -lower : lower) + (upper < 0.0 ? -upper : upper));
        }
        return (middle < 0.0 ? -middle : middle) <= reach + OVERLAP_SLACK * size;
    }
};
