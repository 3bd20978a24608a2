// Spheres to tiles: counted, summed up by a scan, and scattered. A sphere over more than MOST_TILES tiles goes to a
// list that every tile looks at.
//
// With layers (tiles in depth) a tile has a list for each, one after the other: a sphere belongs to the layer in which
// it begins. Constants of the unit: MOST_TILES, and those of tiles.cuh.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/tiles.cuh"

// Tiles that a box lies in.
struct TileBox {
    int first_x, end_x, first_y, end_y, layer;
    __device__ __forceinline__ int count() const { return max(end_x - first_x, 0) * max(end_y - first_y, 0); }
    // The number of the i-th tile's list.
    __device__ __forceinline__ int list(int i, const TileInput& input) const {
        const int tile = (first_y + i / (end_x - first_x)) * input.across + first_x + i % (end_x - first_x);
        return tile * input.layer_count + layer;
    }
};
__device__ __forceinline__ TileBox tiles_of(const TileInput& input, int prim_id) {
    const PixelBox box = input.box(prim_id);
    if (box.is_empty()) return {0, 0, 0, 0, 0};
    return {min(box.x.first / input.tile_width, input.across),
            min((box.x.end - 1) / input.tile_width + 1, input.across), min(box.y.first / input.tile_height, input.down),
            min((box.y.end - 1) / input.tile_height + 1, input.down),
            input.layer_count > 1 ? input.layers[prim_id] : 0};
}

// `counts`, `status` and `listed` are zero before.
extern "C" __global__ void count_in_tiles(TileInput input, int* counts, int* large, int* status, uint64* listed) {
    uint64 listed_here = 0;
    for (int i : grid_stride(input.count())) {
        const TileBox tiles = tiles_of(input, i);
        const int count = tiles.count();
        if (count > MOST_TILES) {
            large[atomic_add(status + LARGE_COUNT, 1)] = i;
            continue;
        }
        for (int j = 0; j < count; ++j) atomic_add(counts + tiles.list(j, input), 1);
        listed_here += count;
    }
    listed_here = block_sum(listed_here);
    if (thread_index() == 0 && listed_here > 0) atomic_add(listed, listed_here);
}

// Whether the lists fit.
extern "C" __global__ void check_lists(const uint64* listed, int capacity, int* status) {
    if (block_index() == 0 && thread_index() == 0) status[IS_FULL] = *listed > (uint64)capacity;
}

// `filled` is zero before: how long each list is by now. The lists' order is that of arrival.
extern "C" __global__ void scatter_to_tiles(TileInput input, int* filled, int* ids) {
    if (input.status[IS_FULL]) return;
    for (int i : grid_stride(input.count())) {
        const TileBox tiles = tiles_of(input, i);
        const int count = tiles.count();
        if (count > MOST_TILES) continue;
        for (int j = 0; j < count; ++j) {
            const int list = tiles.list(j, input);
            ids[input.first[list] + atomic_add(filled + list, 1)] = i;
        }
    }
}

// Of lists in order of distance: how many tiles the i-th sphere by distance lies in, ...
extern "C" __global__ void count_tiles_of_spheres(TileInput input, const unsigned* by_distance, int* tile_counts) {
    for (int i : grid_stride(input.count())) {
        const int count = tiles_of(input, (int)by_distance[i]).count();
        tile_counts[i] = count > MOST_TILES ? 0 : count;
    }
}

// ... and a pair of list and sphere for each, in that order; a stable sort by lists makes them. What is left of
// `capacity` sorts behind all of them.
extern "C" __global__ void write_pairs(TileInput input, const unsigned* by_distance, const int* pair_first,
                                       const uint64* listed, int capacity, unsigned* lists_of_pairs, unsigned* ids) {
    const bool is_full = input.status[IS_FULL] != 0;  // then there are no pairs, but what is there is sorted
    for (int i : grid_stride(is_full ? 0 : input.count())) {
        const int prim_id = (int)by_distance[i];
        const TileBox tiles = tiles_of(input, prim_id);
        const int count = tiles.count();
        if (count > MOST_TILES) continue;
        for (int j = 0; j < count; ++j) {
            lists_of_pairs[pair_first[i] + j] = (unsigned)tiles.list(j, input);
            ids[pair_first[i] + j] = (unsigned)prim_id;
        }
    }
    const int used = is_full ? 0 : (int)*listed;
    for (int i : grid_stride(capacity - used)) {
        lists_of_pairs[used + i] = (unsigned)(input.across * input.down * input.layer_count);
        ids[used + i] = 0;
    }
}
