// The rays of a tile's pixels, kept in shared memory, and on the host the nearest hit of each beside it.
//
// Constants of the unit: RAY_PIXELS (pixels whose rays are kept), and those of tiles.cuh.
#pragma once
#include "gpu/device/block.cuh"
#include "gpu/glyphs/tiles.cuh"

// The rays of a tile's pixels, made once: what differs among them, in planes of STRIDE numbers.
struct TileRays {
    float* planes;
    int x, y, width;
    static constexpr int STRIDE = RAY_PIXELS + PACK;

    __device__ __forceinline__ float* at(int px, int py) const { return planes + ((py - y) * width + (px - x)); }
    __device__ __forceinline__ void keep(const ViewFrame& frame, const PixelBox& area) const {
        const int packs_across = (width + PACK - 1) / PACK;
        for (int pack : block_stride(packs_across * (area.y.end - area.y.first))) {
            const int px = x + pack % packs_across * PACK, py = y + pack / packs_across;
            const Rays rays = rays_from(frame, px, py, area.x.end);
            const bool is_orthographic = frame.camera[CameraRow::is_orthographic] != 0.0f;
            float* kept = at(px, py);
            store(kept, is_orthographic ? rays.ox : rays.dx);
            store(kept + STRIDE, is_orthographic ? rays.oy : rays.dy);
            store(kept + 2 * STRIDE, is_orthographic ? rays.oz : rays.dz);
            store(kept + 3 * STRIDE, rays.t_min);
            store(kept + 4 * STRIDE, rays.t_max);
        }
    }
    __device__ __forceinline__ Rays rays(const ViewFrame& frame, int px, int py, int end_x) const {
        const float *kept = at(px, py), *camera = frame.camera;
        const float *eye = camera + CameraRow::eye, *ahead = camera + CameraRow::ahead;
        const Real a = load(kept), b = load(kept + STRIDE), c = load(kept + 2 * STRIDE);
        const Real t_min = load(kept + 3 * STRIDE), t_max = load(kept + 4 * STRIDE);
        const Mask active = (splat_int(px) + lane_index() < splat_int(end_x)) & (t_min < t_max);
        if (camera[CameraRow::is_orthographic] != 0.0f)
            return make_rays(a, b, c, splat(ahead[0]), splat(ahead[1]), splat(ahead[2]), t_min, t_max, active);
        return make_rays(splat(eye[0]), splat(eye[1]), splat(eye[2]), a, b, c, t_min, t_max, active);
    }
};

// Nearest hits of packs of those pixels, on the host, where one thread has a tile. The distance of a ray's hit takes
// the place of its end: what lies behind it costs a pack one comparison.
struct TileHits {
    TileRays rays;
    int* prim_ids;

    __device__ __forceinline__ float* end_at(int px, int py) const { return rays.at(px, py) + 4 * TileRays::STRIDE; }
    __device__ __forceinline__ int* prim_id_at(int px, int py) const {
        return prim_ids + ((py - rays.y) * rays.width + (px - rays.x));
    }

    // After the rays of an area.
    __device__ __forceinline__ void clear(const PixelBox& area) const {
        for (int i : block_stride(rays.width * (area.y.end - area.y.first))) prim_ids[i] = -1;
    }
    // Whether a pixel of a pack, of those before `end_x`, has no hit before that distance.
    __device__ __forceinline__ bool is_open(int px, int py, int end_x, float distance) const {
        return any((lane_index() < splat_int(end_x - px)) & (load(end_at(px, py)) >= distance));
    }
    __device__ __forceinline__ bool is_covered(const PixelBox& area, float distance) const {
        for (int y = area.y.first; y < area.y.end; ++y)
            for (int x = area.x.first; x < area.x.end; x += PACK)
                if (is_open(x, y, area.x.end, distance)) return false;
        return true;
    }
    // Of equally near hits the smaller prim_id stays.
    __device__ __forceinline__ void keep(const Intersection& found, int px, int py) const {
        const Real end = load(end_at(px, py));
        const Int kept = load(prim_id_at(px, py)), mine = splat_int(found.prim_id);
        const Mask closer = found.hit & ((found.t < end) | (mine < kept) | (kept < splat_int(0)));
        store(end_at(px, py), select(closer, found.t, end));
        store(prim_id_at(px, py), select(closer, mine, kept));
    }
    __device__ __forceinline__ uint64 key(int px, int py) const {
        const int prim_id = *prim_id_at(px, py);
        return prim_id < 0 ? NO_HIT : hit_key(*end_at(px, py), prim_id);
    }
};
