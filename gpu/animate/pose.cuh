// What a pose is made of, one item at a time: tracks -> local matrices and weights -> matrices to the world -> objects, lights, joints.
//
// pose.cu runs these over a grid, launch after launch, or in a single block where the scene is small.
#pragma once
#include "gpu/animate/animate.cuh"

// A weight of a morphed object: component `component` of `width` of the track that drives row `row`, else `rest`.
struct WeightSlot {
    int row, component, width;
    float rest;
};
static_assert(sizeof(WeightSlot) == 16, "deform_tables.py writes rows of four");

// `rest` ten floats a node: translation, rotation, scale; `channels` three track ids a node and clip, -1 where nothing drives it.
__device__ __forceinline__ void evaluate_node(int i, const Moment& moment, const float* rest, const int* channels, const Track* tracks,
                                              const float* times, const float* values, int node_count, float* local) {
    const int* channel = channels + 3 * ((int64)moment.clip * node_count + i);
    const float* r = rest + 10 * i;
    const float3 translation = evaluate_vector(channel[0], tracks, times, values, moment.time, make_float3(r[0], r[1], r[2]));
    const float4 rotation = evaluate_rotation(channel[1], tracks, times, values, moment.time, make_float4(r[3], r[4], r[5], r[6]));
    const float3 scale = evaluate_vector(channel[2], tracks, times, values, moment.time, make_float3(r[7], r[8], r[9]));
    store_affine(local, i, compose(translation, rotation, scale));
}

__device__ __forceinline__ void evaluate_weight(int i, const Moment& moment, const WeightSlot* slots, const int* channels, int row_count,
                                                const Track* tracks, const float* times, const float* values, float* weights) {
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

// One pass: a node multiplies what lies in `from` of itself and its next ancestors, COMPOSED_NODES together. After pass p (from 0) a node holds the
// product of COMPOSED_NODES^(p + 1) nodes, and `ancestors` of pass p leads that of COMPOSED_NODES^p nodes up: no walk is long, however deep the tree.
__device__ __forceinline__ void compose_node(int i, const float* from, const int* ancestors, float* to) {
    Affine transform = load_affine(from, i);
    int ancestor = ancestors[i];
    for (int step = 1; step < COMPOSED_NODES && ancestor >= 0; ++step) {
        transform = multiply(load_affine(from, ancestor), transform);
        ancestor = ancestors[ancestor];
    }
    store_affine(to, i, transform);
}

// Key `k` of an object's mesh lies in slot key_slots[first_time + k]: its own number, or wherever key_stream.py has put it.
__device__ __forceinline__ void place_object(int i, const Moment& moment, const float* world, const Object* objects, const float* key_times,
                                             const int* key_slots, Placement* placements) {
    const Object object = objects[i];
    const Affine transform = load_affine(world, object.node);
    const Keys keys = find_keys(key_times + object.first_time, object.key_count, moment.time);
    const int* slots = key_slots + object.first_time;
    placements[i] = {transform, normal_transform(transform), object.first_source + slots[keys.key] * object.stride,
                     object.first_source + slots[keys.next] * object.stride, keys.alpha, 0};
}

// A light as gpu/trace/lights.cuh has it. Lights of node -1 stay where they are. A node's scale makes area lights larger, not stronger.
constexpr int LIGHT_FLOATS = 20, DIRECTIONAL_LIGHT = 1;
__device__ __forceinline__ void place_light(int i, const float* world, const float* at_rest, const int* nodes, float* lights) {
    const float* from = at_rest + LIGHT_FLOATS * i;
    float* to = lights + LIGHT_FLOATS * i;
    float3 place = make_float3(from[0], from[1], from[2]), axis = make_float3(from[8], from[9], from[10]);
    float3 across = make_float3(from[12], from[13], from[14]), down = make_float3(from[16], from[17], from[18]);
    float radius = from[7];
    const bool is_directional = (int)from[3] == DIRECTIONAL_LIGHT;
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
    const float placed[LIGHT_FLOATS] = {place.x, place.y, place.z, from[3], from[4], from[5], from[6], radius, axis.x, axis.y,
                                        axis.z, from[11], across.x, across.y, across.z, from[15], down.x, down.y, down.z, 0.0f};
    for (int k = 0; k < LIGHT_FLOATS; ++k) to[k] = placed[k];
}

// A joint leads from the mesh at rest straight to the scene: the node of the object that is bent does not count. Four columns, each a quad.
__device__ __forceinline__ void place_joint(int i, const float* world, const int* nodes, const float* inverse_binds, float4* joints) {
    const Affine m = multiply(load_affine(world, nodes[i]), load_affine(inverse_binds, i));
    joints[4 * i] = make_float4(m.row[0].x, m.row[1].x, m.row[2].x, 0.0f);
    joints[4 * i + 1] = make_float4(m.row[0].y, m.row[1].y, m.row[2].y, 0.0f);
    joints[4 * i + 2] = make_float4(m.row[0].z, m.row[1].z, m.row[2].z, 0.0f);
    joints[4 * i + 3] = make_float4(m.origin.x, m.origin.y, m.origin.z, 0.0f);
}
