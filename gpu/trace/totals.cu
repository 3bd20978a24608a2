// Hits and the sum of their distances, on request: one partial sum per block, added up in the blocks' order, so that
// the same hits give the same sum.
#include "gpu/device/block.cuh"

extern "C" __global__ void sum_hits(const float* t, const int* prim_id, int ray_count, double* partial) {
    double hits = 0.0, sum_t = 0.0;
    for (int i : grid_stride(ray_count)) {
        const bool hit = prim_id[i] >= 0;
        hits += hit ? 1.0 : 0.0;
        sum_t += hit ? (double)t[i] : 0.0;
    }
    hits = block_sum(hits);
    sum_t = block_sum(sum_t);
    if (thread_index() == 0) {
        partial[2 * block_index()] = hits;
        partial[2 * block_index() + 1] = sum_t;
    }
}
