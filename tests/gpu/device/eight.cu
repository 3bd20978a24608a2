// Every operation of gpu/device/eight.cuh, eight results each.
#include "gpu/device/eight.cuh"
#include "gpu/device/loops.cuh"

__device__ __forceinline__ void put(float* at, Eight value) {
    const unsigned below[] = {bits_not_above(value, splat_eight(0.0f))};
    at[8] = (float)below[0];
    memcpy(at, &value, 32);
}

// Nine numbers a row: the results, and the bits of those not above zero.
extern "C" __global__ void compute_eights(const float* left, const float* right, int count, float* rows) {
    for (int i : grid_stride(count)) {
        const Eight a = load_eight(left + 8 * i), b = load_eight(right + 8 * i);
        const Eight results[] = {a * b, a - b, min(a, b), max(a, b), splat_eight(left[8 * i])};
        for (int row = 0; row < 5; ++row) put(rows + 9 * (5 * i + row), results[row]);
    }
}

// `bits`: of the negative ones. `chosen`: one item's places of eight.
extern "C" __global__ void choose_of_eight(const int* integers, const int* turned, const int* chosen, int count,
                                           int* bits, int* written) {
    for (int i : grid_stride(count)) {
        bits[i] = (int)bits_below_zero(integers + 8 * i);
        if (turned[i] == 0) {
            write_chosen(written + 8 * i, integers + 8 * i, (unsigned)chosen[i]);
        } else {
            write_chosen(written + 8 * i, integers + 8 * i, (unsigned)chosen[i], turned[i]);
        }
    }
}
