// Readings of where in its triangle a ray hits: the weights of the three corners, and the smallest of them, which is 0 at the edges.
#include "gpu/shade/shading.cuh"

extern "C" __global__ void read_barycentrics(int pack_count, const float* u, const float* v, float* readings) {
    const int64 plane = (int64)pack_count * PACK;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real second = load(u + first), third = load(v + first), corner = max(splat(1.0f) - second - third, splat(0.0f));
        store(readings + first, corner);
        store(readings + plane + first, second);
        store(readings + 2 * plane + first, third);
        store(readings + 3 * plane + first, min(corner, min(second, third)));
    }
}
