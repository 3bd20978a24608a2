// A pass of tree rotations (exchanges.cuh) by a climb of its own: at every node, from below, the best exchange there
// is. Refits of whole trees need none: they rotate on their own way up (refit/refit.cu).
//
// In and out: the canonical tree. Launch order is the file's. Ids keep their place, but for the subtrees exchanged.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/climb.cuh"
#include "gpu/hierarchy/bvh/exchanges.cuh"

extern "C" __global__ void mark_starts_of_rotations(const float4* nodes, const uint8* flags, int node_capacity,
                                                    uint8* starts) {
    for (int node_id : grid_stride(node_capacity)) mark_start(nodes, flags, node_id, starts);
}

extern "C" __global__ void rotate_nodes(float4* record_data, const float4* reference_boxes, const int* long_leaves,
                                        float4* nodes, int* parent, uint8* flags, const uint8* starts,
                                        int node_capacity, uint8* heights, int* waiting) {
    const Rotator rotator = {{{record_data}, reference_boxes, long_leaves}, nodes, parent, flags, heights};
    const Climb climb = {nodes, parent, waiting};
    const auto write = [&](int node_id, const Relative& left, const Relative& right, bool) {
        store_node(rotator.nodes, node_id, merge(left.box, right.box), left.link, right.link);
    };
    for (int start : grid_stride(node_capacity)) {
        if (!starts[start]) continue;
        for (int node_id = start; node_id != NO_ONE; node_id = climb.next(node_id))
            rotator.visit(node_id, rotator.link(node_id, 0), rotator.link(node_id, 1), write);
    }
}
