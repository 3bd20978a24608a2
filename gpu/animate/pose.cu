// The scene's pose at one instant, before any vertex: matrices of nodes, objects and joints, weights of morph targets,
// lights.
//
// The instant is read from `moment` in the target's memory; every track and every sequence of key frames finds its own
// keys there. Kernels in launch order; pose_at_once does all of it in one block, for scenes whose every step is shorter
// than a launch.
#include "gpu/animate/pose.cuh"
#include "gpu/device/block.cuh"

extern "C" __global__ void evaluate_tracks(const Moment* moment, const Track* tracks, const float* times,
                                           const float* values, const float* rest, const int* channels, int node_count,
                                           float* local, const WeightSlot* slots, const int* weight_channels,
                                           int row_count, int slot_count, float* weights) {
    for (int i : grid_stride(node_count))
        evaluate_node(i, *moment, rest, channels, tracks, times, values, node_count, local);
    for (int i : grid_stride(slot_count))
        evaluate_weight(i, *moment, slots, weight_channels, row_count, tracks, times, values, weights);
}

extern "C" __global__ void compose_nodes(const float* source, const int* ancestors, int node_count, float* to) {
    for (int i : grid_stride(node_count)) compose_node(i, source, ancestors, to);
}

extern "C" __global__ void place_parts(const Moment* moment, const float* world, const Object* objects,
                                       const float* key_times, const int* key_slots, int object_count,
                                       Placement* placements, const float* lights_at_rest, const int* light_nodes,
                                       int light_count, float* lights, const int* joint_nodes,
                                       const float* inverse_binds, int joint_count, float4* joints, int* not_finite) {
    for (int i : grid_stride(object_count)) place_object(i, *moment, world, objects, key_times, key_slots, placements);
    for (int i : grid_stride(light_count)) place_light(i, world, lights_at_rest, light_nodes, lights);
    for (int i : grid_stride(joint_count)) place_joint(i, world, joint_nodes, inverse_binds, joints);
    if (block_index() == 0 && thread_index() == 0) *not_finite = 0;
}

// `ancestors` holds pass_count tables of node_count; passes read the one of the two matrix arrays and write the other.
extern "C" __global__ void __launch_bounds__(POSE_THREADS)
    pose_at_once(const Moment* moment, const Track* tracks, const float* times, const float* values, const float* rest,
                 const int* channels, int node_count, const WeightSlot* slots, const int* weight_channels,
                 int row_count, int slot_count, float* weights, const int* ancestors, int pass_count, float* matrices,
                 float* other_matrices, const Object* objects, const float* key_times, const int* key_slots,
                 int object_count, Placement* placements, const float* lights_at_rest, const int* light_nodes,
                 int light_count, float* lights, const int* joint_nodes, const float* inverse_binds, int joint_count,
                 float4* joints, int* not_finite) {
    const Moment now = *moment;
    for (int i : block_stride(node_count))
        evaluate_node(i, now, rest, channels, tracks, times, values, node_count, matrices);
    for (int i : block_stride(slot_count))
        evaluate_weight(i, now, slots, weight_channels, row_count, tracks, times, values, weights);
    float* from = matrices;
    float* to = other_matrices;
    for (int pass = 0; pass < pass_count; ++pass) {
        block_sync();
        for (int i : block_stride(node_count)) compose_node(i, from, ancestors + (int64)pass * node_count, to);
        float* const written = to;
        to = from;
        from = written;
    }
    block_sync();
    for (int i : block_stride(object_count)) place_object(i, now, from, objects, key_times, key_slots, placements);
    for (int i : block_stride(light_count)) place_light(i, from, lights_at_rest, light_nodes, lights);
    for (int i : block_stride(joint_count)) place_joint(i, from, joint_nodes, inverse_binds, joints);
    if (thread_index() == 0) *not_finite = 0;
}
