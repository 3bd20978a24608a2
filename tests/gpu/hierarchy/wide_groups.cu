// Groups of children of nodes with large numbers, written and read again: for test_wide_references.py.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

extern "C" __global__ void round_trip_groups(int n, const int* nodes, const int* slots, int* read_again) {
    for (int i : grid_stride(n)) {
        const NodeGroup group = group_of(nodes[i], (unsigned)slots[i]);
        read_again[2 * i] = (int)node_of(group);
        read_again[2 * i + 1] = slots_of(group);
    }
}
