// Soell's arrangements of a tile-based ray caster of spheres (Bachelorarbeit 169, Stuttgart 2015, chapters 3 and 4): a
// block per tile; an outer loop over pixels or over spheres, and threads side by side over pixels or over spheres.
//
// What is printed races in variants 2 with boxes, 3, 4 and 5. Here a pixel belongs to one thread, or threads meet at it
// by a minimum of one 64-bit word (hit_key.cuh), so that all give the same picture.
//
// Constants of the unit: VARIANT (1 to 5), BOX_LOOPS (loops over a sphere's box instead of the tile), LOCAL_PIXELS
// (pixels of the buffer in shared memory; 0: straight into the picture's buffer), LISTED (tiles have lists, else each
// tile looks at every sphere's box), FRONT_TO_BACK (lists are in order of the spheres' nearest distances), LAYERS
// (lists of a tile, one behind the other in depth), RAY_PIXELS (pixels whose rays a tile keeps in shared memory; 0:
// each test makes its own), MOST_THREADS (of a block), PRINTED_BOXES, and those of tiles.cuh.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/sphere_bounds.cuh"
#include "gpu/glyphs/tile_rays.cuh"
#include "gpu/glyphs/tiles.cuh"
#include "gpu/trace/on_primitive.cuh"

// Variant 2 of packs, with their rays and the nearest hits of these in one place.
constexpr bool KEEPS_HITS = VARIANT == 2 && !IS_SINGLE_RAY && RAY_PIXELS > 0 && LOCAL_PIXELS > 0;

// Threads of a block lie side by side in the tile, `block_x` in a row: each has every step-th pixel from its own on. On
// the host one thread takes packs of pixels in turn.
struct Lattice {
    int x, y, step_x, step_y;
};
__device__ __forceinline__ Lattice lattice_of(const TileInput& input) {
    if (RUNS_SERIAL) return {0, 0, PACK, 1};
    return {thread_index() % input.block_x, thread_index() / input.block_x, input.block_x,
            block_threads() / input.block_x};
}

// The pixels of a tile that are drawn.
__device__ __forceinline__ PixelBox area_of(const TileInput& input, const ViewFrame& frame, int tile) {
    const int x = tile % input.across * input.tile_width, y = tile / input.across * input.tile_height;
    return {{x, min(x + input.tile_width, frame.width)}, {y, min(y + input.tile_height, input.rows)}};
}

// What a tile looks at in a layer: in the first one the large spheres, then its list, or all spheres. No sphere of this
// layer or of a later one is met before `begin`.
struct TileList {
    Pointer<const int> large, ids;
    int large_count, count;
    float begin;
    __device__ __forceinline__ int sphere(int i) const {
        return !LISTED ? i : i < large_count ? large[i] : ids[i - large_count];
    }
    // Whether what follows in the list is not nearer than this one.
    __device__ __forceinline__ bool is_in_order(int i) const { return FRONT_TO_BACK && i >= large_count; }
};
__device__ __forceinline__ TileList list_of(const TileInput& input, int tile, int layer) {
    if (!LISTED) return {nullptr, nullptr, 0, input.count(), -FLOAT_MAX};
    const int large_count = layer == 0 ? input.status[LARGE_COUNT] : 0, list = tile * LAYERS + layer;
    return {input.large, input.ids + input.first[list], large_count, large_count + input.counts[list],
            layer == 0 ? -FLOAT_MAX : input.layer_begins[layer]};
}

// Hit keys of one tile, in shared memory or in the picture.
struct TileBuffer {
    Pointer<uint64> keys;
    int x, y, stride;

    __device__ __forceinline__ uint64& at(int px, int py) const { return keys[(int64)(py - y) * stride + (px - x)]; }

    // Keep the nearest: for pixels that one thread looks after, ...
    __device__ __forceinline__ void keep_own(const Intersection& found, int px, int py) const {
        const unsigned lanes = mask_bits(found.hit);
        for (int i = 0; i < PACK; ++i)
            if (lanes >> i & 1u) {
                uint64& kept = at(px + i, py);
                kept = min(kept, hit_key(lane(found.t, i), found.prim_id));
            }
    }
    // ... and for those where threads meet.
    __device__ __forceinline__ void keep_shared(const Intersection& found, int px, int py) const {
        const unsigned lanes = mask_bits(found.hit);
        for (int i = 0; i < PACK; ++i)
            if (lanes >> i & 1u) keep_key(hit_key(lane(found.t, i), found.prim_id), px + i, py);
    }
    // Most are behind what is there: to read it first spares most of the atomics.
    __device__ __forceinline__ void keep_key(uint64 key, int px, int py) const {
        uint64* kept = &at(px, py);
        if (key < atomic_load(kept)) block_atomic_min(kept, key);
    }
    // Whether a pixel has a hit before that distance: others may have found it meanwhile.
    __device__ __forceinline__ bool is_covered(int px, int py, float distance) const {
        return distance_of(atomic_load(&at(px, py))) < distance;
    }
};

struct Tile {
    const TileInput& input;
    const ViewFrame& frame;
    int number;
    PixelBox area;
    TileBuffer buffer;
    TileHits kept;
    Lattice own;

    __device__ __forceinline__ TileList list(int layer) const { return list_of(input, number, layer); }
    __device__ __forceinline__ Rays rays(int x, int y, int end_x) const {
        return RAY_PIXELS > 0 ? kept.rays.rays(frame, x, y, end_x) : rays_from(frame, x, y, end_x);
    }
    __device__ __forceinline__ Intersection test(int prim_id, int x, int y, int end_x) const {
        return intersect_at(input, prim_id, rays(x, y, end_x));
    }
    __device__ __forceinline__ float nearest(int prim_id) const {
        const float4 sphere = ball_of(input, prim_id);
        return nearest_distance(frame, make_float3(sphere.x, sphere.y, sphere.z), sphere.w);
    }
    // The same as boxes.cu wrote it for layers, where it was not sorted since.
    __device__ __forceinline__ float known_nearest(int prim_id) const {
        return LAYERS > 1 && !FRONT_TO_BACK ? distance_of_key(input.order_keys[prim_id]) : nearest(prim_id);
    }
    // The part of a sphere's box that lies in the tile; where tiles have no lists it may be empty.
    __device__ __forceinline__ PixelBox box_of(int prim_id) const { return both(input.box(prim_id), area); }

    // For the whole block: whether all that is not nearer than `distance` is behind what every pixel has.
    __device__ __forceinline__ bool is_covered(float distance) const {
        if (KEEPS_HITS) return kept.is_covered(area, distance);
        const int width = area.x.end - area.x.first;
        block_sync();
        bool is_open = false;
        for (int i : block_stride(width * (area.y.end - area.y.first)))
            is_open |= !buffer.is_covered(area.x.first + i % width, area.y.first + i / width, distance);
        return !block_any(is_open);
    }
};

// The first of a thread's own pixels from `from` on: it has every `step`-th, from `own` on.
__device__ __forceinline__ int own_from(int from, int own, int step) {
    return RUNS_SERIAL ? from : own + (max(from - own, 0) + step - 1) / step * step;
}

// To look whether all that follows is farther costs nearly as much as a test on the host: there every fourth time.
constexpr int LOOK_EVERY = RUNS_SERIAL ? 4 : 1;
// Pixels that a thread works on at once: a block of COLUMNS by ROWS on the host, whose pixels are covered by fewer
// spheres than those of a row; one on CUDA.
constexpr int COLUMN_BITS = 3, COLUMNS = PACK < 8 ? PACK : 8, ROWS = PACK / COLUMNS;

__device__ __forceinline__ Rays rays_of_pack(const Tile& tile, int x, int y) {
    if (IS_SINGLE_RAY) return tile.rays(x, y, tile.area.x.end);
    const Int column = lane_index() & (COLUMNS - 1), row = lane_index() >> COLUMN_BITS;
    const Int at_x = splat_int(x) + column, at_y = splat_int(y) + row;
    const Mask inside = (at_x < splat_int(tile.area.x.end)) & (at_y < splat_int(tile.area.y.end));
    return seen_rays(tile.frame, {at_x, at_y + splat_int(tile.frame.first_row), inside});
}

// Variant 1: pixels outside, pixels side by side. A ray ends where all that follows is farther.
__device__ __forceinline__ void pixels_by_pixels(const Tile& tile) {
    const Lattice& own = tile.own;
    const int step_x = RUNS_SERIAL ? COLUMNS : own.step_x, step_y = RUNS_SERIAL ? ROWS : own.step_y;
    for (int y = tile.area.y.first + own.y; y < tile.area.y.end; y += step_y)
        for (int x = tile.area.x.first + own.x; x < tile.area.x.end; x += step_x) {
            Rays rays = rays_of_pack(tile, x, y);
            ClosestHit closest = {no_hits()};
            for (int layer = 0; layer < LAYERS; ++layer) {
                const TileList list = tile.list(layer);
                if (layer > 0 && all(!rays.active | (rays.t_max < splat(list.begin)))) break;
                for (int i = 0; i < list.count; ++i) {
                    const int prim_id = list.sphere(i);
                    if (!LISTED && tile.box_of(prim_id).is_empty()) continue;
                    if (i % LOOK_EVERY == 0 && list.is_in_order(i) &&
                        all(!rays.active | (rays.t_max < splat(tile.nearest(prim_id)))))
                        break;
                    closest(rays, intersect_at(tile.input, prim_id, rays));
                }
            }
            for (int i = 0; i < PACK; ++i) {
                const int prim_id = lane(closest.hits.prim_id, i);
                if (prim_id >= 0)
                    tile.buffer.at(x + i % COLUMNS, y + i / COLUMNS) = hit_key(lane(closest.hits.t, i), prim_id);
            }
        }
}

// Variant 2 of packs. Spheres lie in memory in another order than in lists, so those that follow are asked for.
__device__ __forceinline__ void keep_spheres(const Tile& tile, const TileList& list) {
    for (int i = 0; i < list.count; ++i) {
        const int prim_id = list.sphere(i);
        tile.input.prefetch(list.sphere(min(i + PREFETCH_POINTS_AHEAD, list.count - 1)));
        const PixelBox box = tile.box_of(prim_id);
        if (box.is_empty()) continue;
        const PixelBox& looked_at = BOX_LOOPS ? box : tile.area;
        const float least = tile.known_nearest(prim_id);
        const float4 sphere = ball_of(tile.input, prim_id);  // read once: what is kept might lie there, to a compiler
        for (int y = looked_at.y.first; y < looked_at.y.end; ++y)
            for (int x = looked_at.x.first; x < looked_at.x.end; x += PACK)
                if (tile.kept.is_open(x, y, looked_at.x.end, least))
                    tile.kept.keep(intersect_read(tile.input, sphere, prim_id, tile.rays(x, y, looked_at.x.end)), x, y);
    }
}

// Variant 2: spheres outside, pixels side by side. Each thread keeps to pixels of its own, with boxes too.
__device__ __forceinline__ void spheres_by_pixels(const Tile& tile, const TileList& list) {
    for (int i = 0; i < list.count; ++i) {
        const int prim_id = list.sphere(i);
        const PixelBox box = tile.box_of(prim_id);
        if (box.is_empty()) continue;
        const PixelBox& looked_at = BOX_LOOPS ? box : tile.area;
        const int first_x = own_from(looked_at.x.first, tile.area.x.first + tile.own.x, tile.own.step_x);
        const int first_y = own_from(looked_at.y.first, tile.area.y.first + tile.own.y, tile.own.step_y);
        for (int y = first_y; y < looked_at.y.end; y += tile.own.step_y)
            for (int x = first_x; x < looked_at.x.end; x += tile.own.step_x)
                tile.buffer.keep_own(tile.test(prim_id, x, y, looked_at.x.end), x, y);
    }
}

// Variant 3: pixels outside, spheres side by side. Threads meet at each pixel once a layer, with the nearest of theirs.
__device__ __forceinline__ void pixels_by_spheres(const Tile& tile) {
    for (int y = tile.area.y.first; y < tile.area.y.end; ++y)
        for (int x = tile.area.x.first; x < tile.area.x.end; x += PACK) {
            Rays rays = tile.rays(x, y, tile.area.x.end);
            const int pixels = min(PACK, tile.area.x.end - x);
            for (int layer = 0; layer < LAYERS; ++layer) {
                const TileList list = tile.list(layer);
                bool is_covered = layer > 0;
                for (int i = 0; i < pixels; ++i)
                    is_covered = is_covered && tile.buffer.is_covered(x + i, y, list.begin);
                if (is_covered) break;
                ClosestHit closest = {no_hits()};
                for (int i : block_stride(list.count)) {
                    const int prim_id = list.sphere(i);
                    if (!LISTED && tile.box_of(prim_id).is_empty()) continue;
                    closest(rays, intersect_at(tile.input, prim_id, rays));
                }
                for (int i = 0; i < pixels; ++i) {
                    const int prim_id = lane(closest.hits.prim_id, i);
                    if (prim_id >= 0) tile.buffer.keep_key(hit_key(lane(closest.hits.t, i), prim_id), x + i, y);
                }
            }
        }
}

// Variant 4: spheres outside, spheres side by side.
__device__ __forceinline__ void spheres_by_spheres(const Tile& tile, const TileList& list) {
    for (int i : block_stride(list.count)) {
        const int prim_id = list.sphere(i);
        const PixelBox box = tile.box_of(prim_id);
        if (box.is_empty()) continue;
        const PixelBox& looked_at = BOX_LOOPS ? box : tile.area;
        for (int y = looked_at.y.first; y < looked_at.y.end; ++y)
            for (int x = looked_at.x.first; x < looked_at.x.end; x += PACK)
                tile.buffer.keep_shared(tile.test(prim_id, x, y, looked_at.x.end), x, y);
    }
}

// Variant 5: spheres outside, the pixels of a sphere's box side by side, counted row by row.
__device__ __forceinline__ void spheres_by_box_pixels(const Tile& tile, const TileList& list) {
    for (int i = 0; i < list.count; ++i) {
        const int prim_id = list.sphere(i);
        const PixelBox box = tile.box_of(prim_id);
        if (box.is_empty()) continue;
        const int packs_across = (box.x.end - box.x.first + PACK - 1) / PACK;
        for (int pack : block_stride(packs_across * (box.y.end - box.y.first))) {
            const int x = box.x.first + pack % packs_across * PACK, y = box.y.first + pack / packs_across;
            tile.buffer.keep_shared(tile.test(prim_id, x, y, box.x.end), x, y);
        }
    }
}

// With spheres outside, a block ends with the layer behind which all its pixels are covered.
__device__ __forceinline__ void cast_tile(const Tile& tile) {
    if (VARIANT == 1) pixels_by_pixels(tile);
    if (VARIANT == 3) pixels_by_spheres(tile);
    if (VARIANT == 1 || VARIANT == 3) return;
    for (int layer = 0; layer < LAYERS; ++layer) {
        const TileList list = tile.list(layer);
        if (layer > 0 && tile.is_covered(list.begin)) break;
        if (KEEPS_HITS) keep_spheres(tile, list);
        else if (VARIANT == 2) spheres_by_pixels(tile, list);
        if (VARIANT == 4) spheres_by_spheres(tile, list);
        if (VARIANT == 5) spheres_by_box_pixels(tile, list);
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) cast_tiles(const ViewFrame* frame, TileInput input) {
    SHARED uint64 local[LOCAL_PIXELS > 0 ? LOCAL_PIXELS : 1];
    SHARED float rays[RAY_PIXELS > 0 ? 5 * TileRays::STRIDE : 1];
    SHARED int prim_ids[KEEPS_HITS ? TileRays::STRIDE : 1];
    if (LISTED && input.status[IS_FULL]) return;  // the lists are not whole: splat.cu draws instead
    for (int at = block_index(); at < input.across * input.down; at += block_count()) {
        const PixelBox area = area_of(input, *frame, at);
        if (area.is_empty()) continue;
        const int width = area.x.end - area.x.first, pixels = width * (area.y.end - area.y.first);
        uint64* drawn = input.keys + (int64)area.y.first * frame->width + area.x.first;
        const TileBuffer picture = {drawn, area.x.first, area.y.first, frame->width};
        const TileHits kept = {{rays, area.x.first, area.y.first, width}, prim_ids};
        if (RAY_PIXELS > 0) kept.rays.keep(*frame, area);
        if (KEEPS_HITS) {
            kept.clear(area);
            cast_tile({input, *frame, at, area, picture, kept, lattice_of(input)});
            for (int y = area.y.first; y < area.y.end; ++y)
                for (int x = area.x.first; x < area.x.end; ++x) picture.at(x, y) = kept.key(x, y);
            continue;
        }
        if (LOCAL_PIXELS == 0) {
            if (RAY_PIXELS > 0) block_sync();
            cast_tile({input, *frame, at, area, picture, kept, lattice_of(input)});
            if (RAY_PIXELS > 0) block_sync();
            continue;
        }
        for (int i : block_stride(pixels)) local[i] = NO_HIT;
        block_sync();
        const TileBuffer buffer = {local, area.x.first, area.y.first, width};
        cast_tile({input, *frame, at, area, buffer, kept, lattice_of(input)});
        block_sync();
        for (int i : block_stride(pixels)) picture.at(area.x.first + i % width, area.y.first + i / width) = local[i];
        block_sync();
    }
}
