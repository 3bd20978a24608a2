// Hit keys of a picture's rows, and hits in the order of the rays. Constants of the unit: those of tiles.cuh.
#include "gpu/device/loops.cuh"
#include "gpu/glyphs/tiles.cuh"
#include "gpu/trace/on_primitive.cuh"

extern "C" __global__ void clear_keys(uint64* keys, int count) {
    for (int i : grid_stride(count)) keys[i] = NO_HIT;
}

// Keys of a pack's pixels: NO_HIT where there is none, or none that is drawn.
struct PackKeys {
    uint64 at[PACK];
};
__device__ __forceinline__ PackKeys keys_of(const TileInput& input, const ViewFrame& frame, const PackPixels& at) {
    PackKeys keys;
    for (int i = 0; i < PACK; ++i) {
        const int row = lane(at.y, i) - frame.first_row;
        const bool is_drawn = (mask_bits(at.inside) >> i & 1u) && row < input.rows;
        keys.at[i] = is_drawn ? input.keys[(int64)row * frame.width + lane(at.x, i)] : NO_HIT;
    }
    return keys;
}
// The same of the pack after this one, whose spheres are asked for: they lie in memory in no order.
__device__ __forceinline__ PackKeys keys_ahead(const TileInput& input, const ViewFrame& frame, int first) {
    const PackKeys keys = keys_of(input, frame, pixels_of(first, frame));
    for (int i = 0; i < PACK; ++i)
        if (keys.at[i] != NO_HIT && !input.is_glyph(prim_id_of(keys.at[i])))
            input.spheres.prefetch_points(prim_id_of(keys.at[i]));
    return keys;
}

// A pack's hits as their keys have them, and the centres of the spheres that are hit.
struct KeptHits {
    Hits hits;
    Real x, y, z;
    unsigned spheres, glyphs;  // lanes
};
__device__ __forceinline__ KeptHits kept_hits(const TileInput& input, const PackKeys& keys) {
    const Real zero = splat(0.0f);
    KeptHits kept = {no_hits(), zero, zero, zero, 0u, 0u};
    for (int i = 0; i < PACK; ++i) {
        const uint64 key = keys.at[i];
        if (key == NO_HIT) continue;
        const int prim_id = prim_id_of(key);
        set_lane(kept.hits.t, i, distance_of(key));
        set_lane(kept.hits.prim_id, i, prim_id);
        if (input.is_glyph(prim_id)) {
            kept.glyphs |= 1u << i;
            continue;
        }
        const float3 centre = input.spheres.point(prim_id);
        kept.spheres |= 1u << i;
        set_lane(kept.x, i, centre.x);
        set_lane(kept.y, i, centre.y);
        set_lane(kept.z, i, centre.z);
    }
    return kept;
}

// Hits in the order of the rays, and where on its primitive each ray hits: spheres of a pack at once, by what their
// test does once it knows the distance; glyphs by their test once more.
extern "C" __global__ void write_hits(const ViewFrame* frame, TileInput input, int ray_count, float* t, int* prim_id,
                                      float* u, float* v) {
    const Stride packs = grid_stride(ray_count / PACK);
    PackKeys next;
    if (!IS_SINGLE_RAY && packs.first < packs.last) next = keys_ahead(input, *frame, packs.first * PACK);
    for (int pack : packs) {
        const int first = pack * PACK;
        const PackKeys keys = IS_SINGLE_RAY ? keys_of(input, *frame, pixels_of(first, *frame)) : next;
        if (!IS_SINGLE_RAY && pack + packs.step < packs.last)
            next = keys_ahead(input, *frame, (pack + packs.step) * PACK);
        const Rays rays = rays_of(CameraRays{frame}, first);
        KeptHits kept = kept_hits(input, keys);
        Hits& hits = kept.hits;
        if (kept.spheres != 0) {
            const SphereRecords::Approach to = SphereRecords::approach(kept.x - rays.ox, kept.y - rays.oy,
                                                                       kept.z - rays.oz, rays);
            const OctahedralPlace place = SphereRecords::place_at(hits.t, to, rays);
            hits.u = select(mask_from_bits(kept.spheres), place.u, hits.u);
            hits.v = select(mask_from_bits(kept.spheres), place.v, hits.v);
        }
        for (int i = 0; i < PACK; ++i) {
            if (!(kept.glyphs >> i & 1u)) continue;
            const int id = lane(hits.prim_id, i);
            const Intersection found = intersect_glyph(input.glyph(id), id, rays);
            set_lane(hits.u, i, lane(found.u, i));
            set_lane(hits.v, i, lane(found.v, i));
        }
        store(t + first, hits.t);
        store(prim_id + first, hits.prim_id);
        store(u + first, hits.u);
        store(v + first, hits.v);
    }
}
