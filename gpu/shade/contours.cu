// Silhouettes and halos in a finished picture, from the depths of what its pixels' centres show (after Saito and
// Takahashi, Comprehensible Rendering of 3-D Shapes, 1990, and Tarini et al., Ambient Occlusion and Edge Cueing to
// Enhance Real Time Molecular Visualization, 2006).
//
// They lie on what is behind: a pixel is as much covered as a neighbour stands in front of it, and of the plane through
// it, so that floors stay clean. Inverse depths are kept: a plane's are linear in the picture.
// from gpu.shade.contours import ContourRow
#include "gpu/device/loops.cuh"
#include "gpu/trace/ray_sources.cuh"

constexpr int HALO_SAMPLES = 6;  // to each side of a pixel: a wide halo looks at every few pixels

// `nearness`: of all pixels in rows of whole tiles one over the depth along the view, 0 where nothing is hit.
extern "C" __global__ void keep_nearness(const ViewFrame* frame, int ray_count, const int* prim_id, const float* t,
                                         float* nearness) {
    const CameraRays camera = {frame};
    const int width = frame->width, height = frame->height, stride = tiles_across(width) * TILE_SIDE;
    const float* c = frame->camera;
    const float3 upright = normalize(cross(load3(c + CameraRow::across, 0), load3(c + CameraRow::down, 0)));
    for (int pack : grid_stride(ray_count / PACK)) {
        const int first = pack * PACK;
        const PackPixels at = pixels_of(first, width, height);
        const Rays rays = rays_of(camera, first);
        const Real cosine = lanes_abs(rays.dx * splat(upright.x) + rays.dy * splat(upright.y) +
                                      rays.dz * splat(upright.z));
        const Real found = splat(1.0f) / (load(t + first) * cosine);
#pragma unroll
        for (int i = 0; i < PACK; ++i)
            nearness[(int64)lane(at.y, i) * stride + lane(at.x, i)] = prim_id[first + i] < 0 ? 0.0f : lane(found, i);
    }
}

struct Nearness {
    const float* values;
    int stride, width, height;
};
__device__ __forceinline__ float nearness_at(const Nearness& of, int x, int y) {
    return of.values[(int64)y * of.stride + x];
}

// The change from a pixel to the next along an axis: of both sides that which changes less, the surface goes on there.
__device__ __forceinline__ float slope_at(const Nearness& of, int x, int y, int dx, int dy, float own) {
    const bool has_before = x - dx >= 0 && y - dy >= 0, has_after = x + dx < of.width && y + dy < of.height;
    const float before = has_before ? own - nearness_at(of, x - dx, y - dy) : 0.0f;
    const float after = has_after ? nearness_at(of, x + dx, y + dy) - own : 0.0f;
    if (!has_before || !has_after) return has_after ? after : before;
    return fabsf(before) < fabsf(after) ? before : after;
}

// How much is covered by neighbours within `reach` pixels, each `every` pixels, from 0 to 1: in full by those that
// stand `full` in front; those farther away in the picture count less where it `fades`.
__device__ float covered(const Nearness& of, int x, int y, int reach, int every, float full, bool fades) {
    const float own = nearness_at(of, x, y);
    const float across = slope_at(of, x, y, 1, 0, own), down = slope_at(of, x, y, 0, 1, own);
    const int far = reach / every * every;
    float most = 0.0f;
    for (int dy = -far; dy <= far; dy += every) {
        for (int dx = -far; dx <= far; dx += every) {
            const int at_x = x + dx, at_y = y + dy, square = dx * dx + dy * dy;
            if (square == 0 || square > reach * reach) continue;
            if (at_x < 0 || at_y < 0 || at_x >= of.width || at_y >= of.height) continue;
            const float neighbour = nearness_at(of, at_x, at_y);
            if (neighbour <= 0.0f) continue;
            const float plane = fmaxf(own + across * (float)dx + down * (float)dy, own);
            const float step = own > 0.0f ? 1.0f / plane - 1.0f / neighbour : full;
            const float weight = fades ? 1.0f - sqrtf((float)square) / (float)(reach + 1) : 1.0f;
            most = fmaxf(most, fminf(fmaxf(step / full, 0.0f), 1.0f) * weight);
        }
    }
    return most;
}

__device__ __forceinline__ unsigned mixed_in(unsigned under, float color, float share, int shift) {
    const float before = (float)(under >> shift & 255u);
    return (unsigned)(before + (color - before) * share + 0.5f) << shift;
}

extern "C" __global__ void draw_contours(const ViewFrame* frame, const float* options, const float* nearness,
                                         uint8* image) {
    const int width = frame->width, height = frame->height, across = tiles_across(width);
    const Nearness of = {nearness, across * TILE_SIDE, width, height};
    const int line = (int)options[ContourRow::line_width], reach = (int)options[ContourRow::halo_radius];
    const float* color = options + ContourRow::color;
    for (int item : grid_stride(across * height)) {
        const int y = item / across, first = item % across * TILE_SIDE;
        for (int x = first; x < min(first + TILE_SIDE, width); ++x) {
            float share = 0.0f;
            if (line > 0) share = covered(of, x, y, line, 1, options[ContourRow::line_step], false);
            if (reach > 0 && share < 1.0f) {
                const int every = (reach + HALO_SAMPLES - 1) / HALO_SAMPLES;
                share = fmaxf(share, covered(of, x, y, reach, every, options[ContourRow::halo_depth], true));
            }
            share *= options[ContourRow::strength];
            if (share <= 0.0f) continue;
            unsigned& pixel = ((unsigned*)image)[(int64)y * width + x];
            pixel = mixed_in(pixel, color[0], share, 0) | mixed_in(pixel, color[1], share, 8) |
                    mixed_in(pixel, color[2], share, 16) | 0xff000000u;
        }
    }
}
