// The boxes of runs (runs.cuh) of a draft that is whole.
//
// Unit constants: RUN_BITS, RUN_LEVELS, RUN_LIST (runs.cuh).
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/growing.cuh"
#include "gpu/hierarchy/runs.cuh"

__device__ __forceinline__ Aabb bound_references(const Primitives& primitives, const int* references, int first) {
    Aabb box = empty_aabb();
    for (int i = first; i < first + references_of_run(1); ++i) box = merge(box, primitives.aabb(references[i]));
    return box;
}

__device__ __forceinline__ Aabb bound_parts(const float4* runs, int first, int level) {
    Aabb box = empty_aabb();
    for (int part = first; part < first + references_of_run(1); ++part) {
        const float4* at = runs + 2 * place_of_run(part, level);
        box = merge(box, {make_float3(at[0].x, at[0].y, at[0].z), make_float3(at[1].x, at[1].y, at[1].z)});
    }
    return box;
}

// Whether references lie in one list that is searched by runs: then they reach half of what is left of the least that
// such a list holds, to one side or the other. `keys`: a reference's list << 32 | prim_id, ascending.
__device__ __forceinline__ bool lie_in_long_list(const uint64* keys, int count, int first, int length) {
    const int last = first + length - 1, reach = max(0, (RUN_LIST - length) / 2);
    const auto list = [&](int i) { return keys[i] >> 32; };
    return list(first) == list(last) && ((first >= reach && list(first - reach) == list(first)) ||
                                         (last + reach < count && list(last + reach) == list(last)));
}

// One level. `keys`: where only runs inside of one long list are asked for; else null.
extern "C" __global__ void bound_runs(Primitives primitives, const int* counts, const uint64* keys,
                                      const int* references, int capacity, int level, float4* runs) {
    if (counts[STATUS_NOW] != 0) return;
    const int length = references_of_run(level), count = min(counts[REFERENCES_NOW], capacity);
    for (int run : grid_stride(count / length)) {
        const int first = run * length;
        if (keys != nullptr && !lie_in_long_list(keys, count, first, length)) continue;
        const Aabb box = level == 1 ? bound_references(primitives, references, first)
                                    : bound_parts(runs, run << RUN_BITS, level - 1);
        float4* to = runs + 2 * place_of_run(run, level);
        to[0] = make_float4(box.lower.x, box.lower.y, box.lower.z, 0.0f);
        to[1] = make_float4(box.upper.x, box.upper.y, box.upper.z, 0.0f);
    }
}
