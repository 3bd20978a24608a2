// The beam of a pack: everything between the rays of a pack that go down the same axes, against all children of a wide
// node at once (after the frusta of Reshetov, Soupikov and Hurley 2005, by intervals as Boulos, Wald and Shirley 2006).
// What no ray of a beam can enter is not tested ray by ray.
//
// A plane is met within (plane - origin) * inverse over the intervals of origin and inverse. A test of one ray
// (slab_test.cuh) moves planes by less than 3.7e-7 of the origin's coordinate and 1.1e-13, so that origins moved by
// BEAM_SHARE and BEAM_MOVE enclose it; a difference and a product, rounded, are paid for at the exit. So a beam enters
// what any of its rays does.
#pragma once
#include "gpu/device/eight.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

struct Beam {
    float near_origin[3], far_origin[3], least_inverse[3], most_inverse[3];
    float t_min, t_max;
    int sign[3];  // 1 where the rays go down the axis

    // Of the active rays, whose signs agree.
    __device__ __forceinline__ Beam(const Slabs& slabs, const Rays& rays)
        : sign{slabs.sign_x, slabs.sign_y, slabs.sign_z} {
        const Real origins[3] = {rays.ox, rays.oy, rays.oz}, inverses[3] = {rays.ix, rays.iy, rays.iz};
        for (int axis = 0; axis < 3; ++axis) {
            const float least = horizontal_min(origins[axis], rays.active),
                        most = horizontal_max(origins[axis], rays.active);
            const float slack = BEAM_SHARE * max(fabsf(least), fabsf(most)) + BEAM_MOVE;
            near_origin[axis] = sign[axis] ? least - slack : most + slack;
            far_origin[axis] = sign[axis] ? most + slack : least - slack;
            least_inverse[axis] = horizontal_min(inverses[axis], rays.active);
            most_inverse[axis] = horizontal_max(inverses[axis], rays.active);
        }
        t_min = horizontal_min(rays.t_min, rays.active);
        end_at_rays(rays);
    }

    // Once rays have found something.
    __device__ __forceinline__ void end_at_rays(const Rays& rays) { t_max = horizontal_max(rays.t_max, rays.active); }

    // Whether the proof holds: distances are not negative, and no difference overflows.
    __device__ __forceinline__ bool is_sound() const {
        bool sound = t_min >= 0.0f;
        for (int axis = 0; axis < 3; ++axis) {
            sound = sound && fabsf(near_origin[axis]) < BEAM_REACH && fabsf(far_origin[axis]) < BEAM_REACH;
            sound = sound && min(fabsf(least_inverse[axis]), fabsf(most_inverse[axis])) > 1.0f / BEAM_REACH;
        }
        return sound;
    }

    // The children of a node of eight that it enters, and where at the earliest. `planes`: rows of eight, lower.x
    // upper.x lower.y upper.y lower.z upper.z.
    __device__ __forceinline__ unsigned enter_eight(const float* planes, float* entries) const {
        Eight entry = splat_eight(t_min), exit = splat_eight(t_max);
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float* row = planes + 16 * axis;
            const Eight near = load_eight(row + 8 * sign[axis]) - splat_eight(near_origin[axis]);
            const Eight far = load_eight(row + 8 - 8 * sign[axis]) - splat_eight(far_origin[axis]);
            const Eight least = splat_eight(least_inverse[axis]), most = splat_eight(most_inverse[axis]);
            entry = max(min(near * least, near * most), entry);
            exit = min(max(far * least, far * most), exit);
        }
        store_eight(entries, entry);
        return bits_not_above(entry, exit * splat_eight(BEAM_GROWTH));
    }
};

// Children that wait, each with the lanes that enter it and where their beam does.
template <int CAPACITY>
struct BeamWaiting {
    int children[CAPACITY];
    float entries[CAPACITY];
    Mask lanes[CAPACITY];
    int count = 0;

    // Among those from `first` on, the nearest last.
    __device__ __forceinline__ void push(int first, int child, float entry, Mask of_lanes) {
        check_stack(count, CAPACITY);
        int place = count++;
        for (; place > first && entries[place - 1] < entry; --place) {
            children[place] = children[place - 1];
            entries[place] = entries[place - 1];
            lanes[place] = lanes[place - 1];
        }
        children[place] = child;
        entries[place] = entry;
        lanes[place] = of_lanes;
    }

    // The next that rays still enter before `t_max`, and which of them, or EMPTY_CHILD.
    __device__ __forceinline__ int pop(const Rays& rays, Mask& of_lanes, float t_max) {
        while (count > 0) {
            of_lanes = lanes[--count] & rays.active;
            if (entries[count] <= t_max && any(of_lanes)) return children[count];
        }
        return EMPTY_CHILD;
    }
};
