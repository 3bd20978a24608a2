// Stream compaction, last step: each flagged item goes to the place that the exclusive scan of the flags gives it.
#include "gpu/device/loops.cuh"

// One more thread than items: the last one writes how many were kept.
__device__ void write_count(const int* flags, const int* places, int n, int* count) {
    *count = n > 0 ? places[n - 1] + flags[n - 1] : 0;
}

extern "C" __global__ void scatter_values(const unsigned* values, const int* flags, const int* places, int n,
                                          unsigned* out, int* count) {
    for (int i : grid_stride(n + 1)) {
        if (i == n) write_count(flags, places, n, count);
        else if (flags[i]) out[places[i]] = values[i];
    }
}

extern "C" __global__ void scatter_indices(const int* flags, const int* places, int n, int* out, int* count) {
    for (int i : grid_stride(n + 1)) {
        if (i == n) write_count(flags, places, n, count);
        else if (flags[i]) out[places[i]] = i;
    }
}
