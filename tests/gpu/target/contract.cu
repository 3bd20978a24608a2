// Small kernels for the contract tests of the targets.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

struct Affine {
    const float* offsets;
    float scale;
    int repeat;
};
static_assert(sizeof(Affine) == 16, "the test packs it so");

extern "C" __global__ void scale_values(const float* values, int n, float factor, float* out) {
    for (int i : grid_stride(n)) out[i] = values[i] * factor;
}

extern "C" __global__ void add_one(int* values, const int* count) {
    for (int i : grid_stride(*count)) values[i] += 1;
}

extern "C" __global__ void apply_affine(Affine affine, int64 n, unsigned* out) {
    for (int i : grid_stride((int)n)) out[i] = (unsigned)(affine.offsets[i] * affine.scale) + (unsigned)affine.repeat;
}

extern "C" __global__ void count_blocks(int* met, int* items, int n) {
    if (thread_index() == 0) atomic_add(met, 1);
    for (int i : grid_stride(n)) atomic_add(&items[i], 1);
}

extern "C" __global__ void mark_ends(int n, int* marks) {
    for (int i : grid_stride(n)) {
        if (i == 0) atomic_add(&marks[0], 1);
        if (i == n - 1) atomic_add(&marks[1], 1);
        if (i < 0 || i >= n) atomic_add(&marks[2], 1);
    }
}

extern "C" __global__ void multiply_add(const float* a, const float* b, const float* c, int n, float* out) {
    for (int i : grid_stride(n)) out[i] = a[i] * b[i] + c[i];
}

extern "C" __global__ void take_optional(const int* values, int n, int* out) {
    for (int i : grid_stride(n)) out[i] = values ? values[i] : -1;
}
