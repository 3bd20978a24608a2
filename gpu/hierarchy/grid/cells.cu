// Sorted keys become cells: where the references of each begin and end.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/growing.cuh"

__device__ __forceinline__ int node_of(uint64 key) { return (int)(key >> 32); }

extern "C" __global__ void write_cells(const uint64* keys, const int* counts, int* nodes, int* references) {
    if (counts[STATUS_NOW] != 0) return;
    const int count = counts[REFERENCES_NOW];
    for (int i : grid_stride(count)) {
        const uint64 key = keys[i];
        const int64 node = node_of(key);
        references[i] = (int)(unsigned)key;
        if (i == 0 || node_of(keys[i - 1]) != node) nodes[2 * node] = i;
        if (i == count - 1 || node_of(keys[i + 1]) != node) nodes[2 * node + 1] = i + 1;
    }
}
