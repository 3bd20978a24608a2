// Faults on purpose: each sanitizer must find its own.
#include "gpu/device/block.cuh"
#include "gpu/device/loops.cuh"

extern "C" __global__ void write_past_the_end(int n, float* out) {
    for (int i : grid_stride(n)) out[i + 1] = 1.0f;
}

extern "C" __global__ void read_past_the_end(const float* values, int n, float* out) {
    for (int i : grid_stride(n)) out[i] = values[i + 1];
}

extern "C" __global__ void read_through_null(const float* values, int n, float* out) {
    for (int i : grid_stride(n)) out[i] = values[i];
}

// As an index that was meant to be one less than none.
extern "C" __global__ void read_far_in_front(const float* values, int n, float* out) {
    for (int i : grid_stride(n)) out[i] = values[i - 2147483647];
}

extern "C" __global__ void write_past_a_tile(int n, int* out) {
    SHARED int tile[8];
    for (int i : block_stride(8)) tile[i] = i;
    for (int i : grid_stride(n)) tile[i] = i;
    block_sync();
    for (int i : block_stride(1)) out[i] = tile[n - 1];
}

extern "C" __global__ void overflow_a_sum(const int* values, int n, int* out) {
    for (int i : grid_stride(n)) out[i] = values[i] + 2147483647;
}

extern "C" __global__ void race_for_a_sum(int n, int* out) {
    for (int i : grid_stride(n)) out[0] += 1;
}

// The last block looks at what the first one wrote long before it, by another thread: nothing orders them but the
// clock.
extern "C" __global__ void race_with_an_earlier_block(int n, int* out) {
    for (int i : grid_stride(n)) {
        if (i == 0) out[0] = 1;
        if (i == n - 1) out[n - 1] = out[0];
    }
}
