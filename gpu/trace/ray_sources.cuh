// Where rays come from: a camera, a buffer, or a queue, whose length is known on the target alone. A source gives the pack of rays that starts at ray `first`.
//
// Ray r of a camera belongs to a pixel by a Morton order inside tiles of 8 x 8 pixels, so that neighbours in a pack or warp are neighbours in the
// picture: x has bits 0, 2, 4 and y bits 1, 3, 5 of r % 64; tile r / 64 in row-major order. Rays of pixels beyond the picture's edge are inactive.
#pragma once
#include "gpu/device/ray.cuh"

constexpr int TILE_SIDE = 8, TILE_RAYS = 64;

// What changes from frame to frame in one view; written by the host before the launches (film.py). Camera rows as in gpu/camera.py.
struct ViewFrame {
    float camera[16];
    int width, height;
    int sample_index, sample_count;   // the sample being drawn, and how many the film holds after it
    float jitter_x, jitter_y;         // where in the pixel this sample lies, centre .5
    float exposure;                   // factor on linear colours before they are clamped
    int is_clipped;                   // whether only a half space is seen
    float clip[4];                    // its normal and offset: seen where normal . p <= offset
    int seed;                         // of everything random in the picture
    int tone;                         // how linear colours become those of a screen: tone.cuh
};
static_assert(sizeof(ViewFrame) == 120, "trace.py writes 120 bytes");

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

// Cut rays to the half space: the plane bounds them from behind where they go in, from before where they go out. All walks take such bounds.
__device__ __forceinline__ Rays clipped(const ViewFrame& f, Rays rays) {
    const Real leaving = splat(f.clip[0]) * rays.dx + splat(f.clip[1]) * rays.dy + splat(f.clip[2]) * rays.dz;
    const Real inside = splat(f.clip[3]) - (splat(f.clip[0]) * rays.ox + splat(f.clip[1]) * rays.oy + splat(f.clip[2]) * rays.oz);
    const Real t = inside * clamped_inverse(leaving);
    const Mask leaves = !(leaving < splat(0.0f));
    rays.t_min = select(leaves, rays.t_min, max(rays.t_min, t));
    rays.t_max = select(leaves, min(rays.t_max, t), rays.t_max);
    rays.active = rays.active & (rays.t_min < rays.t_max);
    return rays;
}

struct CameraRays {
    const ViewFrame* frame;

    // The uniform test costs a ray nothing that can be measured, and the walk no register.
    __device__ __forceinline__ Rays rays(int first) const {
        const Rays whole = whole_rays(first);
        return frame->is_clipped ? clipped(*frame, whole) : whole;
    }

    __device__ __forceinline__ Rays whole_rays(int first) const {
        const ViewFrame& f = *frame;
        const float* c = f.camera;
        const PackPixels pixels = pixels_of(first, f.width, f.height);
        const Real s = (to_real(pixels.x) + splat(f.jitter_x)) * splat(1.0f / f.width) - splat(0.5f);
        const Real t = (to_real(pixels.y) + splat(f.jitter_y)) * splat(1.0f / f.height) - splat(0.5f);
        const Real across_x = splat(c[8]) * s + splat(c[12]) * t;
        const Real across_y = splat(c[9]) * s + splat(c[13]) * t;
        const Real across_z = splat(c[10]) * s + splat(c[14]) * t;
        const bool is_orthographic = c[3] != 0.0f;
        const Real near = splat(c[7]), far = splat(c[11]);
        if (is_orthographic)
            return make_rays(splat(c[0]) + across_x, splat(c[1]) + across_y, splat(c[2]) + across_z, splat(c[4]), splat(c[5]), splat(c[6]), near, far,
                             pixels.inside);
        const Real dx = splat(c[4]) + across_x, dy = splat(c[5]) + across_y, dz = splat(c[6]) + across_z;
        const Real stretch = lanes_sqrt(dx * dx + dy * dy + dz * dz);
        const Real shrink = splat(1.0f) / stretch;
        return make_rays(splat(c[0]), splat(c[1]), splat(c[2]), dx * shrink, dy * shrink, dz * shrink, near * stretch,
                         min(far * stretch, splat(FLOAT_MAX)), pixels.inside);
    }
};

// Which ray of a picture is traced as the turn-th by single rays: rows of tiles from outside in. A device ends with its longest rays where those are
// handed out last, and pictures mostly show surfaces edge-on at their rims (docs/performance/tracing.md).
__device__ __forceinline__ int in_turn(const CameraRays& source, int turn, int ray_count) {
    const int row_rays = tiles_across(source.frame->width) * TILE_RAYS, rows = ray_count / row_rays, row = turn / row_rays;
    return (row & 1 ? rows - 1 - row / 2 : row / 2) * row_rays + turn % row_rays;
}

// Eight rows of `stride` floats: origin, direction, t_min, t_max. `stride` is a multiple of 64, so that a pack never reads past its row.
struct BufferRays {
    const float* rows;
    int count, stride;

    __device__ __forceinline__ Rays rays(int first) const {
        const float* at = rows + first;
        const int64 row = stride;
        const Real t_min = load(at + 6 * row), t_max = load(at + 7 * row);
        const Mask active = (splat_int(first) + lane_index() < splat_int(count)) & (t_min < t_max);
        return make_rays(load(at), load(at + row), load(at + 2 * row), load(at + 3 * row), load(at + 4 * row), load(at + 5 * row), t_min, t_max, active);
    }
};
// A buffer's rays from the end: rays scattered from a picture are handed out best so (docs/performance/tracing.md).
__device__ __forceinline__ int in_turn(const BufferRays&, int turn, int ray_count) { return ray_count - 1 - turn; }

// A queue's rays: rows as above, and how many there are on the target.
struct QueueRays {
    const float* rows;
    const int* count;
    int stride;

    // What lies behind the last ray was perhaps never written.
    __device__ __forceinline__ Rays rays(int first) const {
        const int used = *count;
        const Real none = splat(0.0f);
        if (first >= used) return make_rays(none, none, none, none, none, none, none, none, splat_mask(false));
        return BufferRays{rows, used, stride}.rays(first);
    }
};
__device__ __forceinline__ int in_turn(const QueueRays&, int turn, int) { return turn; }
