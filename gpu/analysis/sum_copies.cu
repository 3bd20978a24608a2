// Adds up the copies of counts that blocks wrote apart: into the first; the others are empty afterwards, and can be
// counted into again.
#include "gpu/device/loops.cuh"

extern "C" __global__ void sum_copies(uint64* counts, int64 length, int copies) {
    for (int at : grid_stride((int)length)) {
        uint64 sum = counts[at];
        for (int copy = 1; copy < copies; ++copy) {
            sum += counts[copy * length + at];
            counts[copy * length + at] = 0;
        }
        counts[at] = sum;
    }
}
