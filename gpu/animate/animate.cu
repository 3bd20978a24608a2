// The scene at one instant: tracks -> local matrices -> world matrices -> objects, lights -> world-space vertices of this and the last instant.
//
// The instant is read from `moment` in the target's memory; every track and every sequence of key frames finds its own keys there. Kernels in
// launch order. Whole-mesh key frames are interpolated linearly (Meister 2014, 6.2.3); cubic tracks as glTF 2.0, appendix C.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/transform.cuh"

constexpr int STEP = 0, LINEAR = 1, CUBIC = 2;

struct Moment {
    float time;
    int clip;
};

// A track: key_count times from first_time on, and as many values (three times as many for cubic) from first_value on.
struct Track {
    int first_time, first_value, key_count, interpolation;
};

// An object: a mesh of vertex_count vertices at a node, with key_count key frames one after the other from first_source on.
struct Object {
    int node, vertex_count, first_source, key_count, first_time;
};

// What the vertices of an object need at this instant.
struct Placement {
    Affine transform, normals;
    int source, next_source;
    float alpha;
    int unused;
};
static_assert(sizeof(Placement) == 112, "animate.py reserves 112 bytes a placement");

// Vertices [first_vertex, first_vertex + count) belong to `object` and start at its vertex `first_local`.
struct Tile {
    int first_vertex, count, object, first_local;
};

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

__device__ float evaluate_component(const Track& track, const float* values, const Keys& keys, int width, int component) {
    if (track.interpolation == CUBIC) return cubic(values, keys, width, component);
    const float from = values[width * keys.key + component];
    return track.interpolation == STEP ? from : lerp(from, values[width * keys.next + component], keys.alpha);
}

__device__ float3 evaluate_vector(int track_id, const Track* tracks, const float* times, const float* values, float time, float3 rest) {
    if (track_id < 0) return rest;
    const Track track = tracks[track_id];
    const Keys keys = find_keys(times + track.first_time, track.key_count, time);
    const float* own = values + track.first_value;
    return make_float3(evaluate_component(track, own, keys, 3, 0), evaluate_component(track, own, keys, 3, 1),
                       evaluate_component(track, own, keys, 3, 2));
}

__device__ float4 evaluate_rotation(int track_id, const Track* tracks, const float* times, const float* values, float time, float4 rest) {
    if (track_id < 0) return rest;
    const Track track = tracks[track_id];
    const Keys keys = find_keys(times + track.first_time, track.key_count, time);
    const float* own = values + track.first_value;
    if (track.interpolation == LINEAR) {
        const float* a = own + 4 * keys.key;
        const float* b = own + 4 * keys.next;
        return slerp(normalize(make_float4(a[0], a[1], a[2], a[3])), normalize(make_float4(b[0], b[1], b[2], b[3])), keys.alpha);
    }
    return make_float4(evaluate_component(track, own, keys, 4, 0), evaluate_component(track, own, keys, 4, 1),
                       evaluate_component(track, own, keys, 4, 2), evaluate_component(track, own, keys, 4, 3));
}

// `rest` ten floats a node: translation, rotation, scale; `channels` three track ids a node and clip, -1 where nothing drives it.
extern "C" __global__ void evaluate_nodes(const Moment* moment, const float* rest, const int* channels, const Track* tracks, const float* times,
                                          const float* values, int node_count, float* local) {
    const float time = moment->time;
    for (int i : grid_stride(node_count)) {
        const int* channel = channels + 3 * ((int64)moment->clip * node_count + i);
        const float* r = rest + 10 * i;
        const float3 translation = evaluate_vector(channel[0], tracks, times, values, time, make_float3(r[0], r[1], r[2]));
        const float4 rotation = evaluate_rotation(channel[1], tracks, times, values, time, make_float4(r[3], r[4], r[5], r[6]));
        const float3 scale = evaluate_vector(channel[2], tracks, times, values, time, make_float3(r[7], r[8], r[9]));
        store_affine(local, i, compose(translation, rotation, scale));
    }
}

// Each node walks up its ancestors: no order between nodes is needed.
extern "C" __global__ void compose_nodes(const float* local, const int* parents, int node_count, float* world) {
    for (int i : grid_stride(node_count)) {
        Affine transform = load_affine(local, i);
        for (int parent = parents[i]; parent >= 0; parent = parents[parent]) transform = multiply(load_affine(local, parent), transform);
        store_affine(world, i, transform);
    }
}

extern "C" __global__ void place_objects(const Moment* moment, const float* world, const Object* objects, const float* key_times, int object_count,
                                         Placement* placements) {
    for (int i : grid_stride(object_count)) {
        const Object object = objects[i];
        const Affine transform = load_affine(world, object.node);
        const Keys keys = find_keys(key_times + object.first_time, object.key_count, moment->time);
        placements[i] = {transform, normal_transform(transform), object.first_source + keys.key * object.vertex_count,
                         object.first_source + keys.next * object.vertex_count, keys.alpha, 0};
    }
}

// A light in eight floats: position or direction, 1 for directional; colour, 0. Lights of node -1 stay where they are.
extern "C" __global__ void place_lights(const float* world, const float* at_rest, const int* nodes, int light_count, float* lights) {
    for (int i : grid_stride(light_count)) {
        const float* from = at_rest + 8 * i;
        float* to = lights + 8 * i;
        float3 place = make_float3(from[0], from[1], from[2]);
        const bool is_directional = from[3] != 0.0f;
        if (nodes[i] >= 0) {
            const Affine transform = load_affine(world, nodes[i]);
            place = is_directional ? transform_vector(transform, place) : transform_point(transform, place);
        }
        if (is_directional) place = normalize(place);
        to[0] = place.x;
        to[1] = place.y;
        to[2] = place.z;
        for (int k = 3; k < 8; ++k) to[k] = from[k];
    }
}

// One tile a block. The old positions go to `previous` before the new ones overwrite them. A vertex that is not finite stays so and is counted.
extern "C" __global__ void transform_vertices(const Tile* tiles, int tile_count, const Placement* placements, const float* source_positions,
                                              const float* source_normals, float* positions, float* previous, float* normals, int* not_finite) {
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const Tile tile = tiles[t];
        const Placement place = placements[tile.object];
        const float* from = source_positions + 3 * ((int64)place.source + tile.first_local);
        const float* to = source_positions + 3 * ((int64)place.next_source + tile.first_local);
        const float* normal_from = source_normals + 3 * ((int64)place.source + tile.first_local);
        const float* normal_to = source_normals + 3 * ((int64)place.next_source + tile.first_local);
        int bad = 0;
        for (int i : block_stride(tile.count)) {
            const int64 vertex = (int64)tile.first_vertex + i;
            const float3 position = transform_point(place.transform, lerp(load3(from, i), load3(to, i), place.alpha));
            const float3 normal = transform_vector(place.normals, lerp(load3(normal_from, i), load3(normal_to, i), place.alpha));
            store3(previous, vertex, load3(positions, vertex));
            store3(positions, vertex, position);
            store3(normals, vertex, normalize(normal));
            bad += is_finite(position) ? 0 : 1;
        }
        bad = block_sum(bad);
        if (thread_index() == 0 && bad > 0) atomic_add(not_finite, bad);
    }
}
