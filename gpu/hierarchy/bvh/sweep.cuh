// A small set of boxes, split again and again by one block in shared memory, all its subsets level by level at once:
// what finishes tasks that are too small to be binned. Every item is a candidate on every axis (a full sweep), or sets
// split in their middle. Unit constant: SMALL, the most items.
//
// A place is a position in the list; a set is the places [first, end). What happens when a set becomes a node is the
// caller's.
#pragma once
#include "gpu/device/aabb.cuh"
#include "gpu/device/block.cuh"

struct Swept {
    Aabb boxes[SMALL];
    float3 centres[SMALL];
    int weights[SMALL];  // references of an item
    // at each place, for this level and the next: what lies there, and its set
    int items[2][SMALL], first[2][SMALL], end[2][SMALL];
    int nodes[2][SMALL];  // at a set's first place: the caller's word for it
    float costs[3 * SMALL];

    __device__ void put(int place, const Aabb& box, int weight, int count) {
        boxes[place] = box;
        centres[place] = centre(box);
        weights[place] = weight;
        items[0][place] = place;
        first[0][place] = 0;
        end[0][place] = count;
    }
    __device__ int set_size(int side, int place) const { return end[side][place] - first[side][place]; }
};

// What it costs to split the set of `place` behind the item there, on an axis; below 0 where nothing would remain.
__device__ __forceinline__ float sweep_cost(const Swept& swept, int side, int place, int axis) {
    const float plane = along(swept.centres[swept.items[side][place]], axis);
    Aabb left = empty_aabb(), right = empty_aabb();
    int left_count = 0, right_count = 0;
    for (int other = swept.first[side][place]; other < swept.end[side][place]; ++other) {
        const int item = swept.items[side][other];
        if (along(swept.centres[item], axis) <= plane) {
            left = merge(left, swept.boxes[item]);
            left_count += swept.weights[item];
        } else {
            right = merge(right, swept.boxes[item]);
            right_count += swept.weights[item];
        }
    }
    if (right_count == 0) return -1.0f;
    return min(half_area(left) * (float)left_count + half_area(right) * (float)right_count, FLOAT_MAX);
}

// Where a set is split: items whose centre is at most `at` on `axis` go left. Without an axis the first half of the
// places does.
struct SweepPlane {
    int axis;
    float at;
};
constexpr int NO_AXIS = -1;

// The cheapest candidate of a set, of equal ones the first; NO_AXIS where no axis tells its items achild.
__device__ __forceinline__ SweepPlane cheapest_plane(const Swept& swept, int side, int first, int end) {
    int best = -1;
    for (int candidate = 3 * first; candidate < 3 * end; ++candidate) {
        const float cost = swept.costs[candidate];
        if (cost >= 0.0f && (best < 0 || cost < swept.costs[best])) best = candidate;
    }
    if (best < 0) return {NO_AXIS, 0.0f};
    return {best % 3, along(swept.centres[swept.items[side][best / 3]], best % 3)};
}

// The middle of the centres' greatest extent, if that splits them.
__device__ __forceinline__ SweepPlane middle_plane(const Swept& swept, int side, int first, int end) {
    Aabb bounds = empty_aabb();
    for (int place = first; place < end; ++place) bounds = grow(bounds, swept.centres[swept.items[side][place]]);
    const float3 extent = bounds.upper - bounds.lower, middle = centre(bounds);
    const int axis = extent.x >= extent.y && extent.x >= extent.z ? 0 : extent.y >= extent.z ? 1 : 2;
    const float at = along(middle, axis);
    return {at < along(bounds.upper, axis) ? axis : NO_AXIS, at};
}

// Where the item of a place goes: to which place of which child of its set.
struct SweepChild {
    int to, first, end;
    bool is_left;
};

__device__ __forceinline__ SweepChild child_of(const Swept& swept, int side, int place, const SweepPlane& plane) {
    const int first = swept.first[side][place], end = swept.end[side][place];
    int left_count = (end - first) / 2, before = min(place - first, left_count);
    bool is_left = place - first < left_count;
    if (plane.axis != NO_AXIS) {
        left_count = before = 0;
        for (int other = first; other < end; ++other) {
            const bool goes_left = along(swept.centres[swept.items[side][other]], plane.axis) <= plane.at;
            if (goes_left && other < place) ++before;
            if (goes_left) ++left_count;
        }
        is_left = along(swept.centres[swept.items[side][place]], plane.axis) <= plane.at;
    }
    if (is_left) return {first + before, first, first + left_count, true};
    return {first + left_count + (place - first - before), first + left_count, end, false};
}

// The item of `place` moves to its child, or stays where its set is finished.
__device__ __forceinline__ void move_item(Swept& swept, int side, int place, const SweepChild& child) {
    swept.items[1 - side][child.to] = swept.items[side][place];
    swept.first[1 - side][child.to] = child.first;
    swept.end[1 - side][child.to] = child.end;
}
__device__ __forceinline__ void keep_item(Swept& swept, int side, int place) {
    move_item(swept, side, place, {place, swept.first[side][place], swept.end[side][place], false});
}
