// Marks what touches, on both sides of lists of it (listed.cu), by the primitives' numbers in the scene.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/query/questions.cuh"

// `prim_ids`: those of question i are `counts[i]` from `first[i]` on.
extern "C" __global__ void mark_touching(Question question, int count, const int* first, const int* counts,
                                         const int* prim_ids, unsigned* marks) {
    for (int i : grid_stride(count)) {
        if (counts[i] == 0) continue;
        atomic_max(&marks[question.others.scene_id(question.first + i)], 1u);
        for (int k = 0; k < counts[i]; ++k) atomic_max(&marks[prim_ids[first[i] + k]], 1u);
    }
}
