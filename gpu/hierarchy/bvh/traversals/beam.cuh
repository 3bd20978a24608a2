// The beam of a pack, or of a warp's rays: everything between rays that go down the same axes, against all children of
// a wide node at once, or against one box (after the frusta of Reshetov, Soupikov and Hurley 2005, by intervals as
// Boulos, Wald and Shirley 2006). What no ray of a beam can enter is not tested ray by ray.
//
// A plane is met within (plane - origin) * inverse over the intervals of origin and inverse. A test of one ray
// (slab_test.cuh) moves planes by less than 3.7e-7 of the origin's coordinate and 1.1e-13, so that origins moved by
// BEAM_SHARE and BEAM_MOVE enclose it; a difference and a product, rounded, are paid for at the exit. So a beam enters
// what any of its rays does.
#pragma once
#include "gpu/device/eight.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/bvh/traversals/slabs.cuh"

// Of the active rays of a pack and, where a thread has one ray, of all threads of its warp, which call it together.
__device__ __forceinline__ float least_of_rays(Real value, Mask active) {
    return warp_min(horizontal_min(value, active));
}
__device__ __forceinline__ float most_of_rays(Real value, Mask active) {
    return warp_max(horizontal_max(value, active));
}

struct Beam {
    float near_origin[3], far_origin[3], least_inverse[3], most_inverse[3];
    float t_min, t_max;
    int sign[3];  // 1 where the rays go down the axis

    // Of the active rays, whose signs agree.
    __device__ __forceinline__ Beam(int sign_x, int sign_y, int sign_z, const Rays& rays)
        : sign{sign_x, sign_y, sign_z} {
        const Real origins[3] = {rays.ox, rays.oy, rays.oz}, inverses[3] = {rays.ix, rays.iy, rays.iz};
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float least = least_of_rays(origins[axis], rays.active),
                        most = most_of_rays(origins[axis], rays.active);
            const float slack = BEAM_SHARE * max(fabsf(least), fabsf(most)) + BEAM_MOVE;
            near_origin[axis] = sign[axis] ? least - slack : most + slack;
            far_origin[axis] = sign[axis] ? most + slack : least - slack;
            least_inverse[axis] = least_of_rays(inverses[axis], rays.active);
            most_inverse[axis] = most_of_rays(inverses[axis], rays.active);
        }
        t_min = least_of_rays(rays.t_min, rays.active);
        end_at_rays(rays);
    }

    // Once rays have found something.
    __device__ __forceinline__ void end_at_rays(const Rays& rays) { t_max = most_of_rays(rays.t_max, rays.active); }

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

    // Whether it enters a box that is kept as its centre and half of its extent (bvh2.cuh), and where at the earliest.
    // That such a half is stored larger than it is pays for the rounding of the planes.
    __device__ __forceinline__ bool enter_centred(float3 centre, float3 half, float& entry) const {
        const float centres[3] = {centre.x, centre.y, centre.z}, halves[3] = {half.x, half.y, half.z};
        entry = t_min;
        float exit = t_max;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            const float inwards = sign[axis] ? -halves[axis] : halves[axis];
            const float near = centres[axis] - inwards - near_origin[axis];
            const float far = centres[axis] + inwards - far_origin[axis];
            entry = max(min(near * least_inverse[axis], near * most_inverse[axis]), entry);
            exit = min(max(far * least_inverse[axis], far * most_inverse[axis]), exit);
        }
        return entry <= exit * BEAM_GROWTH;
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
