// The direct sum: every body attracts every other one. A block takes a tile of bodies, and all bodies pass by in tiles
// through shared memory (Nyland, Harris and Prins, GPU Gems 3, 31); on the host a thread takes packs of bodies.
//
// What a tile adds is summed by itself first, so that rounding grows with the tiles, not with the bodies.
// from gpu.nbody.direct import TILE
#include "gpu/device/block.cuh"
#include "gpu/nbody/attraction.cuh"

static_assert(TILE % PACK == 0, "a tile is whole packs");

// bodies (n): places and masses -> field (n): accelerations and potentials. Blocks have TILE / PACK threads or a
// divisor of it.
extern "C" __global__ void sum_directly(const float4* bodies, int n, float softening2, float4* field) {
    SHARED float4 sources[TILE];
    const int tile_count = (n + TILE - 1) / TILE;
    for (int t = block_index(); t < tile_count; t += block_count()) {
        for (int pack : block_stride(TILE / PACK)) {
            const int first = t * TILE + pack * PACK;
            const PackPlaces at = load_places(bodies, first, n);
            PackField sum = no_field();
            for (int s = 0; s < tile_count; ++s) {
                const int count = min(TILE, n - s * TILE);
                for (int i : block_stride(count)) sources[i] = bodies[s * TILE + i];
                block_sync();
                const Int own = lane_index() + pack * PACK;
                sum.add(s == t ? attract_all<true>(at, sources, count, own, softening2)
                               : attract_all<false>(at, sources, count, own, softening2));
                block_sync();
            }
            store_field(field, first, n, sum);
        }
    }
}
