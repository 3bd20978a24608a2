// Small kernels that the tests of the target layer launch.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"

struct Line {
    const float* x;
    float slope;
    int offset;
};

extern "C" __global__ void evaluate_line(Line line, int n, float scale, float* y) {
    for (int i : grid_stride(n)) y[i] = (line.x[i] * line.slope + (float)line.offset) * scale;
}

extern "C" __global__ void record_blocks(int n, int* owner, int* count) {
    for (int i : grid_stride(n)) owner[i] = block_index();
    count[0] = block_count();
}

// Each of `visits` grows by one: whose block ran twice has two, and who left a launch early misses some.
extern "C" __global__ void count_visits(int n, int* visits) {
    for (int i : grid_stride(n)) atomic_add(&visits[i], 1);
}

extern "C" __global__ void add_wide(uint64 big, unsigned small, const int* given, uint64* out) {
    for (int i : grid_stride(1)) out[i] = big + small + (given ? 1u : 0u);
}
