// Meshes that change their shape: morph targets, then skins (glTF 2.0, 3.7), evaluated every frame into the surface's
// world-space vertices.
//
// A tile of TILE_VERTICES vertices per block lies in shared memory as three floats per vertex. The targets are added
// there sixteen bytes at a time, each vertex is then bent by four joints (linear blend) or placed by its object's node,
// and the results leave in whole rows. pose.cu runs before.
// from gpu.animate.structs import Deformer
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/quad.cuh"

constexpr int TILE_QUADS = 3 * TILE_VERTICES / 4;
static_assert(3 * TILE_VERTICES % 4 == 0, "a tile is whole quads");

// The tile's base shape between two key frames and its targets' differences, weighed and summed, four floats per step.
__device__ __forceinline__ void morph_tile(const Tile& tile, const Placement& place, const float4* source,
                                           const float* weights, int target_count, const float4* targets, int stride,
                                           float4* out) {
    const float4* from = source + 3 * ((int64)place.source + tile.first_local) / 4;
    const float4* to = source + 3 * ((int64)place.next_source + tile.first_local) / 4;
    const int64 step = 3 * (int64)stride / 4;
    for (int i : block_stride((3 * tile.count + 3) / 4)) {
        Quad sum = load_quad(from + i) * (1.0f - place.alpha) + load_quad(to + i) * place.alpha;
        const float4* target = targets + i;
        for (int t = 0; t < target_count; ++t, target += step) {
            const float weight = weights[t];
            if (weight != 0.0f) sum = sum + load_quad(target) * weight;
        }
        store_quad(out + i, sum);
    }
}

// Column `k` of four joints, weighed and summed.
__device__ __forceinline__ Quad blend_column(const float4* joints, int4 id, float4 weight, int k) {
    return (load_quad(joints + 4 * id.x + k) * weight.x + load_quad(joints + 4 * id.y + k) * weight.y) +
           (load_quad(joints + 4 * id.z + k) * weight.z + load_quad(joints + 4 * id.w + k) * weight.w);
}

// Bends a vertex by four joints; 1 where it is not finite then. Normals turn by the blended matrix's cofactors, with
// the determinant's sign.
__device__ __forceinline__ int bend_vertex(const float4* joints, int4 id, float4 weight, float* position, float* normal,
                                           int i) {
    const Quad x = blend_column(joints, id, weight, 0), y = blend_column(joints, id, weight, 1),
               z = blend_column(joints, id, weight, 2);
    const float3 p = load3(position, i), n = load3(normal, i);
    const Quad placed = (x * p.x + y * p.y) + (z * p.z + blend_column(joints, id, weight, 3));
    const Quad yz = cross3(y, z);
    const float sign = dot3(x, yz) < 0.0f ? -1.0f : 1.0f;
    const Quad turned = (yz * n.x + cross3(z, x) * n.y + cross3(x, y) * n.z) * sign;
    store3(position, i, placed);
    store3(normal, i, normalize3(turned));
    return is_finite3(placed) ? 0 : 1;
}

// Puts a vertex where `transform` says; 1 where it is not finite there.
__device__ __forceinline__ int place_vertex(const Affine& transform, const Affine& turn, float* position, float* normal,
                                            int i) {
    const float3 placed = transform_point(transform, load3(position, i));
    store3(position, i, placed);
    store3(normal, i, normalize(transform_vector(turn, load3(normal, i))));
    return is_finite(placed) ? 0 : 1;
}

// One tile per block. The old positions go to `previous` before the new ones overwrite them. A vertex that is not
// finite stays so and is counted.
extern "C" __global__ void __launch_bounds__(TILE_VERTICES)
    deform_vertices(const Tile* tiles, int tile_count, const Placement* placements, const Deformer* deformers,
                    const float4* source_positions, const float4* source_normals, const float* weights,
                    const float4* targets, const float4* normal_targets, const float4* joints, const int4* joint_ids,
                    const float4* joint_weights, float* positions, float* previous, float* normals, int* not_finite) {
    SHARED float4 position_quads[TILE_QUADS], normal_quads[TILE_QUADS];
    float* position = &position_quads[0].x;
    float* normal = &normal_quads[0].x;
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const Tile tile = tiles[t];
        const Placement& place = placements[tile.object];
        const Deformer shape = deformers[tile.object];
        const float* own = weights + shape.first_weight;
        const float4* moved = targets + 3 * ((int64)shape.first_target + tile.first_local) / 4;
        const float4* turned = normal_targets + 3 * ((int64)max(shape.first_normal_target, 0) + tile.first_local) / 4;
        morph_tile(tile, place, source_positions, own, shape.target_count, moved, shape.stride, position_quads);
        morph_tile(tile, place, source_normals, own, shape.first_normal_target < 0 ? 0 : shape.target_count, turned,
                   shape.stride, normal_quads);
        block_sync();
        int bad = 0;
        if (shape.first_joint < 0) {
            for (int i : block_stride(tile.count))
                bad += place_vertex(place.transform, place.normals, position, normal, i);
        } else {
            const int4* ids = joint_ids + shape.first_vertex + tile.first_local;
            const float4* shares = joint_weights + shape.first_vertex + tile.first_local;
            const float4* own_joints = joints + 4 * (int64)shape.first_joint;
            for (int i : block_stride(tile.count))
                bad += bend_vertex(own_joints, ids[i], shares[i], position, normal, i);
        }
        if (bad > 0) atomic_add(not_finite, bad);
        block_sync();
        const int64 first = 3 * (int64)tile.first_vertex;
        for (int i : block_stride(3 * tile.count)) {
            previous[first + i] = positions[first + i];
            positions[first + i] = position[i];
            normals[first + i] = normal[i];
        }
        block_sync();
    }
}
