// Boxes, and other lines, drawn over a finished picture one pixel wide, each in the colour of its key; of lines through
// one pixel the greatest key is seen.
//
// Every edge leaves its key in `keys` (width * height, begins with zeros); blend_boxes then lays the colours over the
// picture. The order in which edges are drawn does not matter, and nothing is hidden by the scene: the point is to look
// into it. What a clipping plane takes away is not drawn.
#include "gpu/device/atomics.cuh"
// from gpu.shade.boxes import EDGES, BoxRow
#include "gpu/device/epsilons.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/trace/ray_sources.cuh"

// A point before the division by its depth: where it lies from the picture's middle, in picture widths and heights.
struct Seen {
    float across, down, depth;
};
__device__ __forceinline__ Seen seen(const float* c, float3 point) {
    const float3 away = point - load3(c + CameraRow::eye, 0), right = load3(c + CameraRow::across, 0),
                 down = load3(c + CameraRow::down, 0);
    const bool is_orthographic = c[CameraRow::is_orthographic] != 0.0f;
    return {dot(away, right) / dot(right, right), dot(away, down) / dot(down, down),
            is_orthographic ? 1.0f : dot(away, load3(c + CameraRow::ahead, 0))};
}

// Two corners that differ along `edge / 4`.
__device__ __forceinline__ void edge_ends(const float* box, int edge, float3& from, float3& to) {
    const int axis = edge / 4, second = axis == 0 ? 1 : 0, third = axis == 2 ? 1 : 2;
    float place[3];
    place[second] = box[second + (edge & 1 ? BoxRow::upper : BoxRow::lower)];
    place[third] = box[third + (edge & 2 ? BoxRow::upper : BoxRow::lower)];
    place[axis] = box[axis + BoxRow::lower];
    from = make_float3(place[0], place[1], place[2]);
    place[axis] = box[axis + BoxRow::upper];
    to = make_float3(place[0], place[1], place[2]);
}

// Narrow [first, last] of a line to where `start + share * change` lies in [0, size]; false where it does nowhere.
__device__ __forceinline__ bool clip_line(float start, float change, float size, float& first, float& last) {
    if (change == 0.0f) return start >= 0.0f && start <= size;
    const float a = -start / change, b = (size - start) / change;
    first = max(first, min(a, b));
    last = min(last, max(a, b));
    return first <= last;
}

// Shorten an edge to the half space that is seen; false where none of it is.
__device__ __forceinline__ bool clip_edge(const float* clip, float3& from, float3& to) {
    const float3 normal = load3(clip + ClipRow::normal, 0);
    const float offset = clip[ClipRow::offset], a = offset - dot(normal, from), b = offset - dot(normal, to);
    if (a < 0.0f && b < 0.0f) return false;
    const float3 cut = a == b ? from : from + (to - from) * (a / (a - b));
    if (a < 0.0f) from = cut;
    if (b < 0.0f) to = cut;
    return true;
}

__device__ __forceinline__ void draw_line(float x, float y, float dx, float dy, int width, int height, unsigned key,
                                          unsigned* keys) {
    float first = 0.0f, last = 1.0f;
    if (!clip_line(x, dx, (float)width, first, last) || !clip_line(y, dy, (float)height, first, last)) return;
    const float length = max(fabsf(dx), fabsf(dy)) * (last - first);
    if (!(length <= (float)(width + height))) return;
    const int steps = (int)length + 1;
    for (int step = 0; step <= steps; ++step) {
        const float share = first + (last - first) * ((float)step / (float)steps);
        const int column = min(max((int)(x + share * dx), 0), width - 1),
                  row = min(max((int)(y + share * dy), 0), height - 1);
        atomic_max(&keys[(int64)row * width + column], key);
    }
}

// A line of the world, where the picture shows it.
__device__ __forceinline__ void draw_edge(const ViewFrame* frame, float3 from, float3 to, unsigned key,
                                          unsigned* keys) {
    if (frame->is_clipped && !clip_edge(frame->clip, from, to)) return;
    Seen a = seen(frame->camera, from), b = seen(frame->camera, to);
    const float nearest = NEAREST_OF_EDGE * max(a.depth, b.depth);
    if (!(nearest > 0.0f)) return;
    const bool cuts_a = a.depth < nearest, cuts_b = b.depth < nearest;
    if (cuts_a || cuts_b) {
        Seen& cut = cuts_a ? a : b;
        const Seen& kept = cuts_a ? b : a;
        const float share = (nearest - cut.depth) / (kept.depth - cut.depth);
        cut = {cut.across + share * (kept.across - cut.across), cut.down + share * (kept.down - cut.down), nearest};
    }
    const float x = (a.across / a.depth + 0.5f) * (float)frame->width,
                y = (a.down / a.depth + 0.5f) * (float)frame->height;
    const float end_x = (b.across / b.depth + 0.5f) * (float)frame->width,
                end_y = (b.down / b.depth + 0.5f) * (float)frame->height;
    draw_line(x, y, end_x - x, end_y - y, frame->width, frame->height, key, keys);
}

extern "C" __global__ void draw_boxes(const ViewFrame* frame, const float* boxes, const int* box_keys, int edge_count,
                                      unsigned* keys) {
    for (int item : grid_stride(edge_count)) {
        const float* box = boxes + BoxRow::FLOATS * (int64)(item / EDGES);
        const float *lower = box + BoxRow::lower, *upper = box + BoxRow::upper;
        if (!(lower[0] <= upper[0] && lower[1] <= upper[1] && lower[2] <= upper[2])) continue;
        float3 from, to;
        edge_ends(box, item % EDGES, from, to);
        draw_edge(frame, from, to, (unsigned)box_keys[item / EDGES], keys);
    }
}

// `ends`: two points a line.
extern "C" __global__ void draw_lines(const ViewFrame* frame, const float* ends, int line_count, int key,
                                      unsigned* keys) {
    for (int line : grid_stride(line_count))
        draw_edge(frame, load3(ends, 2 * (int64)line), load3(ends, 2 * (int64)line + 1), (unsigned)key, keys);
}

__device__ __forceinline__ unsigned blended(unsigned under, unsigned over, int shift, unsigned alpha) {
    const unsigned a = under >> shift & 255u, b = over >> shift & 255u;
    return (a * (255u - alpha) + b * alpha + 127u) / 255u << shift;
}

// `colors`: 256 times red, green, blue and opacity.
extern "C" __global__ void blend_boxes(int pixel_count, const unsigned* keys, const uint8* colors, uint8* image) {
    const unsigned* table = (const unsigned*)colors;
    unsigned* pixels = (unsigned*)image;
    for (int i : grid_stride(pixel_count)) {
        if (keys[i] == 0u) continue;
        const unsigned over = table[keys[i]], under = pixels[i], alpha = over >> 24;
        pixels[i] = blended(under, over, 0, alpha) | blended(under, over, 8, alpha) | blended(under, over, 16, alpha) |
                    0xff000000u;
    }
}
