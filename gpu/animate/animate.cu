// Vertices of rigid and key-framed objects at one instant: world-space positions of this and the last instant, normals.
//
// pose.cu has placed the objects before; meshes that bend or change their shape are deform.cu's.
#include "gpu/animate/animate.cuh"
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

// One tile per block. The old positions go to `previous` before the new ones overwrite them. A vertex that is not
// finite stays so and is counted.
extern "C" __global__ void transform_vertices(const Tile* tiles, int tile_count, const Placement* placements,
                                              const float* source_positions, const float* source_normals,
                                              float* positions, float* previous, float* normals, int* not_finite) {
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
            const float3 normal = transform_vector(place.normals,
                                                   lerp(load3(normal_from, i), load3(normal_to, i), place.alpha));
            store3(previous, vertex, load3(positions, vertex));
            store3(positions, vertex, position);
            store3(normals, vertex, normalize(normal));
            bad += is_finite(position) ? 0 : 1;
        }
        bad = block_sum(bad);
        if (thread_index() == 0 && bad > 0) atomic_add(not_finite, bad);
    }
}
