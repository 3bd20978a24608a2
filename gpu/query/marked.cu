// The primitives in one region, marked: those of a region of many are found by many threads, each of which visits a
// part of the box around it. What several find counts once.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

constexpr float WIDER_THAN_ROUNDED = 1.0001f;  // the parts hold whatever is in the ball, however that is rounded

__device__ __forceinline__ Aabb bounds_of(const BoxRegion& region) { return region.box; }
__device__ __forceinline__ Aabb bounds_of(const BallRegion& region) {
    const float far = sqrtf(region.radius2) * WIDER_THAN_ROUNDED;
    const float3 reach = make_float3(far, far, far);
    return {region.centre - reach, region.centre + reach};
}

// Part i of `along`, from one plane to the next: neighbours have the same one.
__device__ __forceinline__ float plane_of(float lower, float upper, int i, int along) {
    return i >= along ? upper : min(lower + (upper - lower) * ((float)i / (float)along), upper);
}
__device__ __forceinline__ BoxRegion part_of(const Aabb& box, int part, int along) {
    const int x = part % along, y = part / along % along, z = part / along / along;
    const float3 lower = make_float3(plane_of(box.lower.x, box.upper.x, x, along),
                                     plane_of(box.lower.y, box.upper.y, y, along),
                                     plane_of(box.lower.z, box.upper.z, z, along));
    const float3 upper = make_float3(plane_of(box.lower.x, box.upper.x, x + 1, along),
                                     plane_of(box.lower.y, box.upper.y, y + 1, along),
                                     plane_of(box.lower.z, box.upper.z, z + 1, along));
    return {{lower, upper}};
}

// By the sphere's centre (unit constant OF_CENTRES), else as lists go by.
template <class Shape, class Region>
__device__ __forceinline__ bool is_within(const Question& question, const Shape& shape, const Region& region) {
    return question.holds(shape, region);
}
template <class Shape>
__device__ __forceinline__ bool is_within(const Question& question, const Shape& shape, const BoxRegion& region) {
    if constexpr (OF_CENTRES) return overlap(region.box, {shape.centre, shape.centre});
    else return question.holds(shape, region);
}

struct MarkedPrimitives {
    const QueryInput* input;
    const Question::Region* whole;
    Pointer<unsigned> marks;
    int found;

    __device__ __forceinline__ bool operator()(int reference, const BoxRegion&) {
        const Records& records = input->records;
        if (!records.is_active(reference)) return true;
        if (!is_within(input->question, records.shape(reference), *whole)) return true;
        if (atomic_add(&marks[records.prim_id(reference)], 1u) == 0u) ++found;
        return true;
    }
};

// `marks`: how many parts found each primitive, all 0 before; `found` counts those that any found.
extern "C" __global__ void mark_within(QueryInput input, int parts_along, unsigned* marks, int* found) {
    Question::Region region;
    if (!input.question.region(0, region)) return;
    for (int part : grid_stride(parts_along * parts_along * parts_along)) {
        MarkedPrimitives primitives = {&input, &region, marks, 0};
        BoxRegion here = part_of(bounds_of(region), part, parts_along);
        visit(input.tree, here, primitives);
        if (primitives.found > 0) atomic_add(found, primitives.found);
    }
}
