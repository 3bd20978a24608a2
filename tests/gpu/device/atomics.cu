// Atomics under contention: many items, few places.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

extern "C" __global__ void gather_extremes(const int* values, const unsigned* words, int n, int* integers,
                                           unsigned* unsigneds, uint64* wide) {
    for (int i : grid_stride(n)) {
        atomic_add(&integers[0], values[i]);
        atomic_min(&integers[1], values[i]);
        atomic_max(&integers[2], values[i]);
        atomic_or(&integers[3], 1 << (i % 31));
        atomic_add(&unsigneds[0], words[i]);
        atomic_min(&unsigneds[1], words[i]);
        atomic_max(&unsigneds[2], words[i]);
        atomic_add(&wide[0], (uint64)words[i]);
    }
}

extern "C" __global__ void gather_float_extremes(const float* values, int n, int* ordered, float* back) {
    for (int i : grid_stride(n)) {
        atomic_min_float(&ordered[0], values[i]);
        atomic_max_float(&ordered[1], values[i]);
        back[i] = ordered_float(ordered_int(values[i]));
    }
}

// Groups of four arrive at a place; the last one adds up what all four wrote before they arrived.
extern "C" __global__ void sum_by_last_arriver(const int* values, int n, int* written, int* arrivals, int* sums) {
    for (int i : grid_stride(n)) {
        const int group = i % (n / 4);
        written[i] = values[i];
        if (atomic_arrive(&arrivals[group]) == 3) {
            int sum = 0;
            for (int member = 0; member < 4; ++member) sum += written[group + member * (n / 4)];
            sums[group] = sum;
        }
    }
}

extern "C" __global__ void arrive_at_one_place(int n, int* place, int* got) {
    for (int i : grid_stride(n)) got[i] = atomic_arrive(place);
}

// A chain: each item swaps its number in and writes down what it got; together with the last one left, every number
// appears once.
extern "C" __global__ void swap_round(int n, int* place, int* got) {
    for (int i : grid_stride(n)) got[i] = atomic_exchange(place, i);
}

extern "C" __global__ void count_in_blocks(const int* values, int n, int* out) {
    SHARED int tally[5];
    for (int i : block_stride(5)) tally[i] = i == 2 ? 1 << 30 : 0;
    block_sync();
    for (int i : block_stride(n)) {
        block_atomic_add(&tally[0], 1);
        block_atomic_add(&tally[1], values[i]);
        block_atomic_min(&tally[2], values[i]);
        block_atomic_max(&tally[3], values[i]);
        block_arrive(&tally[4]);
    }
    block_sync();
    for (int i : block_stride(5)) out[block_index() * 5 + i] = tally[i];
}
