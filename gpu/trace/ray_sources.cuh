// Where rays come from: a camera, a buffer, or a queue, whose length is known on the target alone. A source gives the
// pack of rays that starts at ray `first`.
//
// Ray r of a camera belongs to a pixel by a Morton order inside tiles of 8 x 8 pixels, so that neighbours in a pack or
// warp are neighbours in the picture: x has bits 0, 2, 4 and y bits 1, 3, 5 of r % 64; tile r / 64 in row-major order.
// Rays of pixels beyond the picture's edge are inactive.
// from gpu.camera import CameraRow
// from gpu.clip import ClipRow
// from gpu.trace.ray_views import BufferRays, CameraRays, QueueRays
// from gpu.trace.trace import TILE_RAYS, TILE_SIDE, ViewFrame
#pragma once
#include "gpu/device/ray.cuh"

__host__ __device__ __forceinline__ int tiles_across(int pixels) { return (pixels + TILE_SIDE - 1) / TILE_SIDE; }

// Pixels of the pack that starts at ray `first`.
struct PackPixels {
    Int x, y;
    Mask inside;
};
__device__ __forceinline__ Int even_bits(Int local) { return (local & 1) | ((local >> 1) & 2) | ((local >> 2) & 4); }
__device__ __forceinline__ PackPixels pixels_of(int first, int width, int height) {
    const int tile = first / TILE_RAYS, across = tiles_across(width);
    const Int local = splat_int(first % TILE_RAYS) + lane_index();
    const Int x = even_bits(local) + splat_int(tile % across * TILE_SIDE);
    const Int y = even_bits(local >> 1) + splat_int(tile / across * TILE_SIDE);
    return {x, y, (x < splat_int(width)) & (y < splat_int(height))};
}
// The same of the rows that are drawn: the places are those in the whole picture.
__host__ __device__ __forceinline__ int rays_before_rows(const ViewFrame& f) {
    return f.first_row / TILE_SIDE * tiles_across(f.width) * TILE_RAYS;
}
__device__ __forceinline__ PackPixels pixels_of(int first, const ViewFrame& f) {
    return pixels_of(rays_before_rows(f) + first, f.width, f.height);
}

// Cut rays to the half space: the plane bounds them from behind where they go in, from before where they go out. All
// traversals take such bounds.
__device__ __forceinline__ Rays clipped(const ViewFrame& f, Rays rays) {
    const float* normal = f.clip + ClipRow::normal;
    const Real leaving = splat(normal[0]) * rays.dx + splat(normal[1]) * rays.dy + splat(normal[2]) * rays.dz;
    const Real inside = splat(f.clip[ClipRow::offset]) -
                        (splat(normal[0]) * rays.ox + splat(normal[1]) * rays.oy + splat(normal[2]) * rays.oz);
    const Real t = inside * clamped_inverse(leaving);
    const Mask leaves = !(leaving < splat(0.0f));
    rays.t_min = select(leaves, rays.t_min, max(rays.t_min, t));
    rays.t_max = select(leaves, min(rays.t_max, t), rays.t_max);
    rays.active = rays.active & (rays.t_min < rays.t_max);
    return rays;
}

// The rays through the pixels (x, y) of a picture, not cut yet.
__device__ __forceinline__ Rays rays_through(const ViewFrame& f, const PackPixels& pixels) {
    const float* c = f.camera;
    const Real s = (to_real(pixels.x) + splat(f.jitter[0])) * splat(1.0f / f.width) - splat(0.5f);
    const Real t = (to_real(pixels.y) + splat(f.jitter[1])) * splat(1.0f / f.height) - splat(0.5f);
    const float *eye = c + CameraRow::eye, *ahead = c + CameraRow::ahead, *across = c + CameraRow::across,
                *down = c + CameraRow::down;
    const Real across_x = splat(across[0]) * s + splat(down[0]) * t;
    const Real across_y = splat(across[1]) * s + splat(down[1]) * t;
    const Real across_z = splat(across[2]) * s + splat(down[2]) * t;
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    const Real near = splat(c[CameraRow::near]), far = splat(c[CameraRow::far]);
    if (is_orthographic)
        return make_rays(splat(eye[0]) + across_x, splat(eye[1]) + across_y, splat(eye[2]) + across_z, splat(ahead[0]),
                         splat(ahead[1]), splat(ahead[2]), near, far, pixels.inside);
    const Real dx = splat(ahead[0]) + across_x, dy = splat(ahead[1]) + across_y, dz = splat(ahead[2]) + across_z;
    const Real stretch = lanes_sqrt(dx * dx + dy * dy + dz * dz);
    const Real shrink = splat(1.0f) / stretch;
    return make_rays(splat(eye[0]), splat(eye[1]), splat(eye[2]), dx * shrink, dy * shrink, dz * shrink, near * stretch,
                     min(far * stretch, splat(FLOAT_MAX)), pixels.inside);
}

// The same, cut to what is seen. The uniform test costs a ray nothing that can be measured, and the traversal no
// register.
__device__ __forceinline__ Rays seen_rays(const ViewFrame& f, const PackPixels& pixels) {
    const Rays whole = rays_through(f, pixels);
    return f.is_clipped ? clipped(f, whole) : whole;
}

// The pack of rays that starts at ray `first`, of each source.
__device__ __forceinline__ Rays rays_of(const CameraRays& source, int first) {
    return seen_rays(*source.frame, pixels_of(first, *source.frame));
}

// Which ray of a picture is traced as the turn-th by single rays; a device ends with what is handed out last. Where a
// grid strides over the rays: rows of tiles from outside in, as pictures mostly show surfaces edge-on at their rims
// (docs/performance/tracing.md). Where each has a thread: from the bottom upwards, as above pictures mostly show sky,
// ceilings and what is far, of which few rays are long (docs/performance/rays.md).
__device__ __forceinline__ int in_turn(const CameraRays& source, int turn, int ray_count, bool in_strides) {
    const int row_rays = min(tiles_across(source.frame->width) * TILE_RAYS, ray_count), rows = ray_count / row_rays,
              row = turn / row_rays;
    return (in_strides && !(row & 1) ? row / 2 : rows - 1 - (in_strides ? row / 2 : row)) * row_rays + turn % row_rays;
}

__device__ __forceinline__ Rays rays_of(const BufferRays& source, int first) {
    const float* at = &source.rows[first];
    const int64 row = source.stride;
    const Real t_min = load(at + 6 * row), t_max = load(at + 7 * row);
    const Mask active = (splat_int(first) + lane_index() < splat_int(source.count)) & (t_min < t_max);
    return make_rays(load(at), load(at + row), load(at + 2 * row), load(at + 3 * row), load(at + 4 * row),
                     load(at + 5 * row), t_min, t_max, active);
}
// A buffer's rays from the end: rays scattered from a picture are handed out best so (docs/performance/tracing.md).
__device__ __forceinline__ int in_turn(const BufferRays&, int turn, int ray_count, bool) {
    return ray_count - 1 - turn;
}

// What lies behind a queue's last ray was perhaps never written.
__device__ __forceinline__ Rays rays_of(const QueueRays& source, int first) {
    const int used = *source.count;
    const Real none = splat(0.0f);
    if (first >= used) return make_rays(none, none, none, none, none, none, none, none, splat_mask(false));
    return rays_of(BufferRays{source.rows, used, source.stride}, first);
}
__device__ __forceinline__ int in_turn(const QueueRays&, int turn, int, bool) { return turn; }
