// Morton codes of points in the unit cube.
#include "gpu/device/loops.cuh"
#include "gpu/device/morton.cuh"

extern "C" __global__ void compute_codes(const float* points, int n, unsigned* codes_30, uint64* codes_60) {
    for (int i : grid_stride(n)) {
        codes_30[i] = morton_code_30(load3(points, i));
        codes_60[i] = morton_code_60(load3(points, i));
    }
}
