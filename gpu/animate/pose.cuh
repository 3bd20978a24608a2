// What a pose is made of, one item at a time: tracks -> local matrices and weights -> matrices to the world -> objects,
// lights, joints.
//
// pose.cu runs these over a grid, launch after launch, or in a single block where the scene is small.
// from gpu.animate.structs import NodeRow, WeightSlot
// from gpu.light_row import LightRow
// from gpu.scene import LIGHT_KINDS
#pragma once
#include "gpu/animate/animate.cuh"

// `rest` a NodeRow a node; `channels` three track ids a node and clip, -1 where nothing
// drives it.
__device__ __forceinline__ void evaluate_node(int i, const Moment& moment, const float* rest, const int* channels,
                                              const Track* tracks, const float* times, const float* values,
                                              int node_count, float* local) {
    const int* channel = channels + 3 * ((int64)moment.clip * node_count + i);
    const float *r = rest + NodeRow::FLOATS * i, *q = r + NodeRow::rotation;
    const float3 translation = evaluate_vector(channel[0], tracks, times, values, moment.time,
                                               load3(r + NodeRow::translation, 0));
    const float4 rotation = evaluate_rotation(channel[1], tracks, times, values, moment.time,
                                              make_float4(q[0], q[1], q[2], q[3]));
    const float3 scale = evaluate_vector(channel[2], tracks, times, values, moment.time, load3(r + NodeRow::scale, 0));
    store_affine(local, i, compose(translation, rotation, scale));
}

__device__ __forceinline__ void evaluate_weight(int i, const Moment& moment, const WeightSlot* slots,
                                                const int* channels, int row_count, const Track* tracks,
                                                const float* times, const float* values, float* weights) {
    const WeightSlot slot = slots[i];
    const int track_id = channels[(int64)moment.clip * row_count + slot.row];
    float weight = slot.rest;
    if (track_id >= 0) {
        const Track track = tracks[track_id];
        const Keys keys = find_keys(times + track.first_time, track.key_count, moment.time);
        weight = evaluate_component(track, values + track.first_value, keys, slot.width, slot.component);
    }
    weights[i] = weight;
}

// One pass: a node multiplies what lies in `from` of itself and its next ancestors, COMPOSED_NODES together. After pass
// p (from 0) a node holds the product of COMPOSED_NODES^(p + 1) nodes, and `ancestors` of pass p leads that of
// COMPOSED_NODES^p nodes up: no traversal is long, however deep the tree.
__device__ __forceinline__ void compose_node(int i, const float* from, const int* ancestors, float* to) {
    Affine transform = load_affine(from, i);
    int ancestor = ancestors[i];
    for (int step = 1; step < COMPOSED_NODES && ancestor >= 0; ++step) {
        transform = multiply(load_affine(from, ancestor), transform);
        ancestor = ancestors[ancestor];
    }
    store_affine(to, i, transform);
}

// Key `k` of an object's mesh lies in slot key_slots[first_time + k]: its own number, or wherever key_stream.py has put
// it.
__device__ __forceinline__ void place_object(int i, const Moment& moment, const float* world, const Object* objects,
                                             const float* key_times, const int* key_slots, Placement* placements) {
    const Object object = objects[i];
    const Affine transform = load_affine(world, object.node);
    const Keys keys = find_keys(key_times + object.first_time, object.key_count, moment.time);
    const int* slots = key_slots + object.first_time;
    placements[i] = {transform,
                     normal_transform(transform),
                     object.first_source + slots[keys.key] * object.stride,
                     object.first_source + slots[keys.next] * object.stride,
                     keys.alpha,
                     0};
}

// Lights of node -1 stay where they are. A node's scale makes area lights
// larger, not stronger.
__device__ __forceinline__ void place_light(int i, const float* world, const float* at_rest, const int* nodes,
                                            float* lights) {
    const float* from = at_rest + LightRow::FLOATS * i;
    float* to = lights + LightRow::FLOATS * i;
    float3 place = load3(from + LightRow::place, 0), axis = load3(from + LightRow::direction, 0);
    float3 across = load3(from + LightRow::across, 0), down = load3(from + LightRow::down, 0);
    float radius = from[LightRow::radius];
    const bool is_directional = (int)from[LightRow::kind] == LIGHT_KINDS::directional;
    if (nodes[i] >= 0) {
        const Affine transform = load_affine(world, nodes[i]);
        place = is_directional ? transform_vector(transform, place) : transform_point(transform, place);
        axis = transform_vector(transform, axis);
        across = transform_vector(transform, across);
        down = transform_vector(transform, down);
        const float3 measure = transform_vector(transform, make_float3(0.57735027f, 0.57735027f, 0.57735027f));
        radius *= sqrtf(dot(measure, measure));
    }
    if (is_directional) place = normalize(place);
    if (dot(axis, axis) > 0.0f) axis = normalize(axis);
    float placed[LightRow::FLOATS];
    for (int k = 0; k < LightRow::FLOATS; ++k) placed[k] = from[k];
    store3(placed + LightRow::place, 0, place);
    store3(placed + LightRow::direction, 0, axis);
    store3(placed + LightRow::across, 0, across);
    store3(placed + LightRow::down, 0, down);
    placed[LightRow::radius] = radius;
    for (int k = 0; k < LightRow::FLOATS; ++k) to[k] = placed[k];
}

// A joint leads from the mesh at rest straight to the scene: the node of the object that is bent does not count. Four
// columns, each a quad.
__device__ __forceinline__ void place_joint(int i, const float* world, const int* nodes, const float* inverse_binds,
                                            float4* joints) {
    const Affine m = multiply(load_affine(world, nodes[i]), load_affine(inverse_binds, i));
    joints[4 * i] = make_float4(m.row[0].x, m.row[1].x, m.row[2].x, 0.0f);
    joints[4 * i + 1] = make_float4(m.row[0].y, m.row[1].y, m.row[2].y, 0.0f);
    joints[4 * i + 2] = make_float4(m.row[0].z, m.row[1].z, m.row[2].z, 0.0f);
    joints[4 * i + 3] = make_float4(m.origin.x, m.origin.y, m.origin.z, 0.0f);
}
