// Lists of primitives made ascending, each primitive once: one sort of (list, prim_id) for all lists together, so that
// one long list is no thread's own work.
#include "gpu/device/loops.cuh"
#include "gpu/device/vec.cuh"

// The list that holds a place: the last one that begins there or before, and of those the one that is not empty.
__device__ __forceinline__ int list_of(const int* first, int count, int place) {
    int low = 0, high = count;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (first[middle] <= place) low = middle;
        else high = middle;
    }
    return low;
}

extern "C" __global__ void write_keys(const int* first, int count, const int* prim_ids, int total, uint64* keys) {
    for (int place : grid_stride(total)) {
        keys[place] = (uint64)list_of(first, count, place) << 32 | (unsigned)prim_ids[place];
    }
}

// `is_first` has a place more than there are keys, so that its sums end with how many are kept.
extern "C" __global__ void flag_first(const uint64* keys, int total, int* is_first) {
    for (int place : grid_stride(total + 1)) {
        is_first[place] = place < total && (place == 0 || keys[place] != keys[place - 1]) ? 1 : 0;
    }
}

// `places`: the sums of the flags.
extern "C" __global__ void keep_first(const uint64* keys, int total, const int* places, int* prim_ids) {
    for (int place : grid_stride(total)) {
        if (places[place + 1] != places[place]) prim_ids[places[place]] = (int)(unsigned)keys[place];
    }
}

extern "C" __global__ void move_lists(const int* places, int count, int* first, int* counts) {
    for (int i : grid_stride(count)) {
        const int from = places[first[i]];
        counts[i] = places[first[i] + counts[i]] - from;
        first[i] = from;
    }
}
