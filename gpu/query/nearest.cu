// The primitive nearest to each of many places, a place a thread. Of primitives equally near the smallest prim_id is
// found, -1 where there is none.
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

struct NearestPrimitive {
    const Records* records;
    float3 offset;
    float distance2;
    int prim_id;

    __device__ __forceinline__ bool operator()(int reference, BallRegion& region) {
        if (!records->is_active(reference)) return true;
        const float3 to = Question::offset_of(records->shape(reference), region.centre);
        const float far2 = dot(to, to);
        const int id = records->prim_id(reference);
        if (!(far2 < distance2 || (far2 == distance2 && (prim_id < 0 || id < prim_id)))) return true;
        offset = to;
        distance2 = far2;
        prim_id = id;
        region.shrink(far2);
        return true;
    }
};

// `nearest`: the nearest point of the primitive. Where there is none, `distance` is infinite and `nearest` no number.
extern "C" __global__ void find_nearest(QueryInput input, int count, int* prim_id, float* distance, float* nearest) {
    for (int i : grid_stride(count)) {
        BallRegion region;
        const bool is_asked = input.question.region(i, region);
        NearestPrimitive found = {&input.records, make_float3(0.0f, 0.0f, 0.0f), region.radius2, -1};
        if (is_asked) visit(input.tree, region, found);
        const bool is_miss = found.prim_id < 0;
        const float nan = __int_as_float(0x7fc00000);
        prim_id[i] = found.prim_id;
        distance[i] = is_miss ? __int_as_float(0x7f800000) : sqrtf(found.distance2);
        store3(nearest, i, is_miss ? make_float3(nan, nan, nan) : region.centre + found.offset);
    }
}
