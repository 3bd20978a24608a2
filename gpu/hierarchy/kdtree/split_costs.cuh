// The SAH of planes across a node's cell, with the cell's greatest extent scaled to 1, so that products stay finite.
#pragma once
#include "gpu/device/vec.cuh"

// How splits are judged.
struct SplitCosts {
    float traversal, intersection, empty_factor;
};

__device__ __forceinline__ float3 scaled_extent(float3 lower, float3 upper, float& scale) {
    const float3 size = upper - lower;
    const float greatest = max(size.x, max(size.y, size.z));
    scale = greatest > 0.0f ? 1.0f / greatest : 0.0f;
    return size * scale;
}
// Half the surface of a box of that extent.
__device__ __forceinline__ float scaled_area(float3 e) { return e.x * e.y + e.y * e.z + e.z * e.x; }

// The SAH along one axis of a node, times its surface.
struct AxisCosts {
    float low, high, scale, area, cap, ring;

    // Whether a node may be split here: inside its cell; or at a face from what lies flat in it, which is what ends at
    // the lower one and begins at the upper one. The flat part's cell has no volume, so few rays meet it (Wald and
    // Havran 2006), and it is cut off at no other face along this axis.
    __device__ __forceinline__ bool is_inside(float plane) const { return plane > low && plane < high; }
    __device__ __forceinline__ bool may_split(float plane, bool is_upper_end) const {
        return is_inside(plane) || (low < high && plane == (is_upper_end ? low : high));
    }

    // `Value`: float, or Real where many planes are judged at once.
    template <class Value>
    __device__ __forceinline__ Value cost_of_both(const SplitCosts& costs, Value plane, Value below,
                                                  Value above) const {
        const Value left = cap + (plane - low) * scale * ring, right = cap + (high - plane) * scale * ring;
        return costs.traversal * area + costs.intersection * (left * below + right * above);
    }
    __device__ __forceinline__ float cost(const SplitCosts& costs, float plane, int below, int above) const {
        const float whole = cost_of_both(costs, plane, (float)below, (float)above);
        // 2.6 of Kolodzey's thesis, where `and` means `or`
        return below == 0 || above == 0 ? whole * costs.empty_factor : whole;
    }
};

// A cell, of which the three axes are looked at in turns.
struct CellCosts {
    float3 lower, upper, extent;
    float scale, area;

    __device__ __forceinline__ AxisCosts along_axis(int axis) const {
        const float a = along(extent, axis == 2 ? 0 : axis + 1), b = along(extent, axis == 0 ? 2 : axis - 1);
        return {along(lower, axis), along(upper, axis), scale, area, a * b, a + b};
    }
};
__device__ __forceinline__ CellCosts costs_of(float3 lower, float3 upper) {
    CellCosts made = {lower, upper, {}, 0.0f, 0.0f};
    made.extent = scaled_extent(lower, upper, made.scale);
    made.area = scaled_area(made.extent);
    return made;
}
__device__ __forceinline__ AxisCosts costs_along(float3 lower, float3 upper, int axis) {
    return costs_of(lower, upper).along_axis(axis);
}
