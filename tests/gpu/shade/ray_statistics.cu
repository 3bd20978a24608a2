// The statistics of rays that all hits of a block send out.
#include "gpu/shade/gather.cuh"

extern "C" __global__ void count_hits(const float* options, int hits_a_thread, uint64* ray_counts) {
    count_rays(ray_counts, options, hits_a_thread);
}
