// Where the rays of a pack can be at all: a box around them from where they begin to where they end, whichever way each
// goes. What of a wide node's children lies apart from it no ray of the pack can enter; so short rays that begin side
// by side share the upper part of their way though they go all ways (after the entry points of Reshetov, Soupikov and
// Hurley 2005).
//
// A ray's own test (slab_test.cuh) enters a box whose planes it meets, moved by less than 3.7e-7 of the origin's
// coordinate and 1.1e-13, between 0 and the ray's end times SLAB_GROWTH. Ends behind by BEAM_GROWTH, moved by
// REACH_SHARE of the origin and BEAM_MOVE, enclose that.
#pragma once
#include "gpu/device/eight.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/ray.cuh"

struct Reach {
    float lower[3], upper[3];
    bool is_sound;  // whether the proof holds: rays begin at or behind their origins, and no difference overflows

    // Of the active rays.
    __device__ __forceinline__ explicit Reach(const Rays& rays) {
        const Real origins[3] = {rays.ox, rays.oy, rays.oz}, directions[3] = {rays.dx, rays.dy, rays.dz},
                   inverses[3] = {rays.ix, rays.iy, rays.iz};
        const Real ends = min(rays.t_max * BEAM_GROWTH, splat(FLOAT_MAX));
        is_sound = horizontal_min(rays.t_min, rays.active) >= 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            const Real from = origins[axis], inverse = inverses[axis];
            // a ray that hardly moves along an axis is traversed as one that moves by LEAST_DIRECTION (ray.cuh)
            const Real least = select(inverse < splat(0.0f), splat(-LEAST_DIRECTION), splat(LEAST_DIRECTION));
            const Real along = select(lanes_abs(directions[axis]) < splat(LEAST_DIRECTION), least, directions[axis]);
            const Real to = from + ends * along, slack = lanes_abs(from) * REACH_SHARE + BEAM_MOVE;
            lower[axis] = horizontal_min(min(from, to) - slack, rays.active);
            upper[axis] = horizontal_max(max(from, to) + slack, rays.active);
            is_sound = is_sound && horizontal_max(lanes_abs(from), rays.active) < BEAM_REACH;
        }
    }

    // The children of a node of eight that it meets. `planes`: rows of eight, lower.x upper.x lower.y upper.y lower.z
    // upper.z.
    __device__ __forceinline__ unsigned meets_eight(const float* planes) const {
        unsigned met = 255u;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float* row = planes + 16 * axis;
            met &= bits_not_above(load_eight(row), splat_eight(upper[axis]));
            met &= bits_not_above(splat_eight(lower[axis]), load_eight(row + 8));
        }
        return met;
    }
};
