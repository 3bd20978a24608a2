// Sets of at most MOST references, of which every plane between two is tried, on every axis, by the threads of one
// warp: what is cheaper than bins where there are few. `box_of(i)` is the box of the i-th reference.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/block.cuh"
#include "gpu/hierarchy/bvh/planes.cuh"

template <int MOST>
struct RankSweep {
    static_assert(MOST <= 256, "ranks are bytes");
    float above[3][MOST], centres[3][MOST];
    uint8 ranks[3][MOST], by_rank[3][MOST];

    // Where each reference stands along each axis; inactive ones stand last.
    template <class Boxes>
    __device__ void rank(int count, const Boxes& box_of) {
        for (int i : block_stride(count)) {
            const Aabb box = box_of(i);
            const float3 at = is_empty(box) ? make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX) : centre(box);
            centres[0][i] = at.x;
            centres[1][i] = at.y;
            centres[2][i] = at.z;
        }
        block_sync();
        for (int i : block_stride(3 * count)) {
            const int axis = i / count, mine = i % count;
            const float* const along = centres[axis];
            const float at = along[mine];
            int before = 0;
            for (int other = 0; other < count; ++other)
                before += along[other] < at || (along[other] == at && other < mine) ? 1 : 0;
            ranks[axis][mine] = (uint8)before;
            by_rank[axis][before] = (uint8)mine;
        }
        block_sync();
    }

    // The cheapest of all planes of an axis, as best_plane (binning.cuh) has it: `axis` * MOST + the last rank on the
    // left side. `area`: of all together.
    template <class Boxes>
    __device__ uint64 sweep_axis(int count, int axis, const Boxes& box_of, float& area) {
        Aabb box = empty_aabb();
        for (int rank = count - 1; rank > 0; --rank) {
            box = merge(box, box_of(by_rank[axis][rank]));
            above[axis][rank] = half_area(box) * (float)(count - rank);
        }
        uint64 best = NO_PLANE;
        box = empty_aabb();
        for (int rank = 0; rank < count - 1; ++rank) {
            box = merge(box, box_of(by_rank[axis][rank]));
            const float cost = half_area(box) * (float)(rank + 1) + above[axis][rank + 1];
            if (cost <= FLOAT_MAX) best = better(best, plane_word(cost, axis * MOST + rank));
        }
        area = half_area(merge(box, box_of(by_rank[axis][count - 1])));
        return best;
    }

    // The cheapest of the three axes, which all threads get, as they get `area`.
    template <class Boxes>
    __device__ uint64 sweep(int count, const Boxes& box_of, float& area) {
        rank(count, box_of);
        uint64 plane = NO_PLANE;
        for (int axis : block_stride(3)) plane = better(plane, sweep_axis(count, axis, box_of, area));
        for (int lane = 0; lane < 3; ++lane) plane = better(plane, warp_broadcast(plane, lane));
        area = warp_broadcast(area, 0);
        return plane;
    }
    __device__ static int axis_of(uint64 plane) { return plane_number(plane) / MOST; }
    // How many references are on the left side.
    __device__ static int left_count_of(uint64 plane) { return plane_number(plane) % MOST + 1; }
};
