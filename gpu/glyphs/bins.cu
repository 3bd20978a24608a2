// Spheres to tiles: counted, summed up by a scan, and scattered. A sphere over more than MOST_TILES tiles goes to a
// list that every tile looks at.
//
// With layers (tiles in depth) a tile has a list for each, one after the other: a sphere belongs to the layer in which
// it begins. Constants of the unit: MOST_TILES, and those of tiles.cuh.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/tiles.cuh"

// Divides numbers of 16 bits by one of them, exactly: at a fifth of what a processor's own division takes.
struct Divider {
    uint64 inverse;
    __device__ __forceinline__ explicit Divider(int divisor) : inverse((1ull << 32) / (unsigned)divisor + 1) {}
    __device__ __forceinline__ int operator()(int value) const { return (int)((unsigned)value * inverse >> 32); }
};

// Tiles that a box lies in.
struct TileBox {
    PixelRange x, y;
    int layer;
    __device__ __forceinline__ int count() const { return max(x.end - x.first, 0) * max(y.end - y.first, 0); }
    // The number of a tile's list.
    __device__ __forceinline__ int list(int tile_x, int tile_y, const TileInput& input) const {
        return (tile_y * input.across + tile_x) * input.layer_count + layer;
    }
};
// Of a picture: made before a loop over its spheres.
struct TilesOfBoxes {
    const TileInput& input;
    Divider by_width, by_height;
    __device__ __forceinline__ explicit TilesOfBoxes(const TileInput& input)
        : input(input), by_width(input.tile_width), by_height(input.tile_height) {}
    __device__ __forceinline__ TileBox operator()(int prim_id) const {
        const PixelBox box = input.box(prim_id);
        if (box.is_empty()) return {{0, 0}, {0, 0}, 0};
        return {{min(by_width(box.x.first), input.across), min(by_width(box.x.end - 1) + 1, input.across)},
                {min(by_height(box.y.first), input.down), min(by_height(box.y.end - 1) + 1, input.down)},
                input.layer_count > 1 ? input.layers[prim_id] : 0};
    }
};

// `counts`, `status` and `listed` are zero before.
extern "C" __global__ void count_in_tiles(TileInput input, int* counts, int* large, int* status, uint64* listed) {
    uint64 listed_here = 0;
    const TilesOfBoxes tiles_of(input);
    for (int i : grid_stride(input.count())) {
        const TileBox tiles = tiles_of(i);
        const int count = tiles.count();
        if (count > MOST_TILES) {
            large[atomic_add(status + LARGE_COUNT, 1)] = i;
            continue;
        }
        for (int y = tiles.y.first; y < tiles.y.end; ++y)
            for (int x = tiles.x.first; x < tiles.x.end; ++x) atomic_add(counts + tiles.list(x, y, input), 1);
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
    const TilesOfBoxes tiles_of(input);
    for (int i : grid_stride(input.count())) {
        const TileBox tiles = tiles_of(i);
        if (tiles.count() > MOST_TILES) continue;
        for (int y = tiles.y.first; y < tiles.y.end; ++y)
            for (int x = tiles.x.first; x < tiles.x.end; ++x) {
                const int list = tiles.list(x, y, input);
                ids[input.first[list] + atomic_add(filled + list, 1)] = i;
            }
    }
}

// Of lists in order of distance: how many tiles the i-th sphere by distance lies in, ...
extern "C" __global__ void count_tiles_of_spheres(TileInput input, const unsigned* by_distance, int* tile_counts) {
    const TilesOfBoxes tiles_of(input);
    for (int i : grid_stride(input.count())) {
        const int count = tiles_of((int)by_distance[i]).count();
        tile_counts[i] = count > MOST_TILES ? 0 : count;
    }
}

// ... and a pair of list and sphere for each, in that order; a stable sort by lists makes them. What is left of
// `capacity` sorts behind all of them.
extern "C" __global__ void write_pairs(TileInput input, const unsigned* by_distance, const int* pair_first,
                                       const uint64* listed, int capacity, unsigned* lists_of_pairs, unsigned* ids) {
    const bool is_full = input.status[IS_FULL] != 0;  // then there are no pairs, but what is there is sorted
    const TilesOfBoxes tiles_of(input);
    for (int i : grid_stride(is_full ? 0 : input.count())) {
        const int prim_id = (int)by_distance[i];
        const TileBox tiles = tiles_of(prim_id);
        if (tiles.count() > MOST_TILES) continue;
        int pair = pair_first[i];
        for (int y = tiles.y.first; y < tiles.y.end; ++y)
            for (int x = tiles.x.first; x < tiles.x.end; ++x, ++pair) {
                lists_of_pairs[pair] = (unsigned)tiles.list(x, y, input);
                ids[pair] = (unsigned)prim_id;
            }
    }
    const int used = is_full ? 0 : (int)*listed;
    for (int i : grid_stride(capacity - used)) {
        lists_of_pairs[used + i] = (unsigned)(input.across * input.down * input.layer_count);
        ids[used + i] = 0;
    }
}
