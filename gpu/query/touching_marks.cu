// Marks what touches, on both sides of lists of it (listed.cu), by the primitives' numbers in the scene,
// and counts pairs and primitives (touching_pairs.cu).
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/query/questions.cuh"

// `prim_ids`: those of question i are `counts[i]` from `first[i]` on.
extern "C" __global__ void mark_listed(Question question, int count, const int* first, const int* counts,
                                       const int* prim_ids, unsigned* marks, uint64* found) {
    int64 pairs = 0, primitives = 0;
    for (int i : grid_stride(count)) {
        if (counts[i] == 0) continue;
        pairs += counts[i];
        if (atomic_max(&marks[question.others.scene_id(question.first + i)], 1u) == 0u) ++primitives;
        for (int k = 0; k < counts[i]; ++k)
            if (atomic_max(&marks[prim_ids[first[i] + k]], 1u) == 0u) ++primitives;
    }
    if (pairs > 0) atomic_add(&found[0], (uint64)pairs);
    if (primitives > 0) atomic_add(&found[1], (uint64)primitives);
}
