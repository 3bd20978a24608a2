// The scene at one instant: tracks -> local matrices -> world matrices -> objects, lights -> world-space vertices of this and the last instant.
//
// The instant is read from `moment` in the target's memory; every track and every sequence of key frames finds its own keys there. Kernels in
// launch order. Meshes that bend or change their shape are deform.cu's.
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

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

// One pass: each node multiplies what lies in `from` of itself and its next ancestors, COMPOSED_NODES together. After pass p (from 0) a node holds the
// product of COMPOSED_NODES^(p + 1) nodes, and `ancestors` of pass p leads that of COMPOSED_NODES^p nodes up: no walk is long, however deep the tree.
extern "C" __global__ void compose_nodes(const float* from, const int* ancestors, int node_count, float* to) {
    for (int i : grid_stride(node_count)) {
        Affine transform = load_affine(from, i);
        int ancestor = ancestors[i];
        for (int step = 1; step < COMPOSED_NODES && ancestor >= 0; ++step) {
            transform = multiply(load_affine(from, ancestor), transform);
            ancestor = ancestors[ancestor];
        }
        store_affine(to, i, transform);
    }
}

extern "C" __global__ void place_objects(const Moment* moment, const float* world, const Object* objects, const float* key_times, int object_count,
                                         Placement* placements) {
    for (int i : grid_stride(object_count)) {
        const Object object = objects[i];
        const Affine transform = load_affine(world, object.node);
        const Keys keys = find_keys(key_times + object.first_time, object.key_count, moment->time);
        placements[i] = {transform, normal_transform(transform), object.first_source + keys.key * object.stride,
                         object.first_source + keys.next * object.stride, keys.alpha, 0};
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
