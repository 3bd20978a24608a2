// What the kernels of animation share: the moment, tracks and their values, objects as they are placed, tiles of
// vertices.
//
// Whole-mesh key frames are interpolated linearly (Meister 2014, 6.2.3); cubic tracks as glTF 2.0, appendix C.
// from gpu.animate.structs import PLACEMENT_BYTES, Moment, Object, Tile, Track
// from gpu.animate.tables import INTERPOLATIONS
#pragma once
#include "gpu/device/transform.cuh"

// What the vertices of an object need at this instant.
struct Placement {
    Affine transform, normals;
    int source, next_source;
    float alpha;
    int unused;
};
static_assert(sizeof(Placement) == PLACEMENT_BYTES, "pose.py reserves as much");

struct Keys {
    int key, next;
    float alpha, span;
};

__device__ Keys find_keys(const float* times, int count, float time) {
    if (count < 2 || !(time > times[0])) return {0, 0, 0.0f, 0.0f};
    if (time >= times[count - 1]) return {count - 1, count - 1, 0.0f, 0.0f};
    int low = 0, high = count - 1;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (times[middle] <= time) low = middle;
        else high = middle;
    }
    const float span = times[high] - times[low];
    return {low, high, span > 0.0f ? (time - times[low]) / span : 0.0f, span};
}

// One number of a cubic key: `part` 0 in-tangent, 1 value, 2 out-tangent; `width` numbers a value.
__device__ __forceinline__ float cubic(const float* values, const Keys& keys, int width, int component) {
    const float t = keys.alpha, t2 = t * t, t3 = t2 * t;
    const float* from = values + 3 * width * keys.key + component;
    const float* to = values + 3 * width * keys.next + component;
    return (2.0f * t3 - 3.0f * t2 + 1.0f) * from[width] + (t3 - 2.0f * t2 + t) * keys.span * from[2 * width] +
           (3.0f * t2 - 2.0f * t3) * to[width] + (t3 - t2) * keys.span * to[0];
}

__device__ float evaluate_component(const Track& track, const float* values, const Keys& keys, int width,
                                    int component) {
    if (track.interpolation == INTERPOLATIONS::cubic) return cubic(values, keys, width, component);
    const float from = values[width * keys.key + component];
    return track.interpolation == INTERPOLATIONS::step ? from
                                                       : lerp(from, values[width * keys.next + component], keys.alpha);
}

__device__ float3 evaluate_vector(int track_id, const Track* tracks, const float* times, const float* values,
                                  float time, float3 rest) {
    if (track_id < 0) return rest;
    const Track track = tracks[track_id];
    const Keys keys = find_keys(times + track.first_time, track.key_count, time);
    const float* own = values + track.first_value;
    return make_float3(evaluate_component(track, own, keys, 3, 0), evaluate_component(track, own, keys, 3, 1),
                       evaluate_component(track, own, keys, 3, 2));
}

__device__ float4 evaluate_rotation(int track_id, const Track* tracks, const float* times, const float* values,
                                    float time, float4 rest) {
    if (track_id < 0) return rest;
    const Track track = tracks[track_id];
    const Keys keys = find_keys(times + track.first_time, track.key_count, time);
    const float* own = values + track.first_value;
    if (track.interpolation == INTERPOLATIONS::linear) {
        const float* a = own + 4 * keys.key;
        const float* b = own + 4 * keys.next;
        return slerp(normalize(make_float4(a[0], a[1], a[2], a[3])), normalize(make_float4(b[0], b[1], b[2], b[3])),
                     keys.alpha);
    }
    return make_float4(evaluate_component(track, own, keys, 4, 0), evaluate_component(track, own, keys, 4, 1),
                       evaluate_component(track, own, keys, 4, 2), evaluate_component(track, own, keys, 4, 3));
}
