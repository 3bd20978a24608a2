// The sum over all pairs of points, as it is written: the measure of every other way, and the fastest for few points.
// from gpu.radiosity.direct import SOURCES
#include "gpu/device/block.cuh"
#include "gpu/radiosity/exchange.cuh"

// `gathered` of `count` receivers. A block's receivers go through the points that send in tiles of SOURCES, which its
// threads read once for all. Each tile is summed by itself, so that rounding grows with their number and not with that
// of the points.
extern "C" __global__ void gather_from_all(const float4* to_places, const float4* to_normals, int count,
                                           const float4* places, const float4* normals, const float4* sent,
                                           int source_count, float4* gathered) {
    SHARED float4 tile_places[SOURCES], tile_normals[SOURCES], tile_sent[SOURCES];
    const int pack_count = (count + PACK - 1) / PACK;
    const int chunk_count = (pack_count + block_threads() - 1) / block_threads();
    for (int chunk = block_index(); chunk < chunk_count; chunk += block_count()) {
        const int first = min((chunk * block_threads() + thread_index()) * PACK, (pack_count - 1) * PACK);
        const Receivers to = load_receivers(to_places, to_normals, first, count - 1);
        Real3 sum = splat3(0.0f, 0.0f, 0.0f);
        for (int begin = 0; begin < source_count; begin += SOURCES) {
            const int length = min(SOURCES, source_count - begin);
            block_sync();
            for (int i : block_stride(length)) {
                tile_places[i] = places[begin + i];
                tile_normals[i] = normals[begin + i];
                tile_sent[i] = sent[begin + i];
            }
            block_sync();
            Real3 of_tile = splat3(0.0f, 0.0f, 0.0f);
            for (int i = 0; i < length; ++i)
                of_tile = of_tile + splat3(tile_sent[i].x, tile_sent[i].y, tile_sent[i].z) *
                                        exchange(to, tile_places[i], tile_normals[i]);
            sum = sum + of_tile;
        }
        if ((chunk * block_threads() + thread_index()) < pack_count) store_gathered(gathered, first, count - 1, sum);
    }
}
