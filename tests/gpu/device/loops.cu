// Every loop counts its visits.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"

extern "C" __global__ void visit_grid(int n, int* visits) {
    for (int i : grid_stride(n)) atomic_add(&visits[i], 1);
}

extern "C" __global__ void visit_block(int n, int* visits) {
    for (int i : block_stride(n)) atomic_add(&visits[block_index() * n + i], 1);
}
