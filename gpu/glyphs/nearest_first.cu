// How near the spheres are that are drawn first, and what they cover.
//
// Constants of the unit: those of tiles.cuh.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/covered.cuh"

constexpr int SAMPLES = 4096, BINS = 128;
constexpr float LAYERS = 10.0f;  // pixels that the first ones' boxes have together, for one of the picture
constexpr int MOST_OF_SAMPLE = 1 << 18;  // pixels of a box that count, so that their sum is a number of 32 bits
constexpr float WORTH_A_PASS = 0.75f;  // where more of all pixels than that are of the first ones, all are

struct Sample {
    bool is_seen;
    unsigned pixels;
    float distance;
};
__device__ __forceinline__ Sample sample_of(const TileInput& input, int64 i, int samples) {
    const int prim_id = (int)(i * input.count() / samples);
    const PixelBox box = input.box(prim_id);
    const int64 pixels = (int64)(box.x.end - box.x.first) * (box.y.end - box.y.first);
    return {!box.is_empty(), (unsigned)min(pixels, (int64)MOST_OF_SAMPLE), distance_of_key(input.order_keys[prim_id])};
}
__device__ __forceinline__ int bin_of(float distance, float least, float per_unit) {
    return (int)min(max((distance - least) * per_unit, 0.0f), (float)(BINS - 1));
}

// The key before which spheres are near, by some of them: pixels of their boxes in bins of distance. One block.
extern "C" __global__ void choose_near(TileInput input, int pixels, unsigned* bound) {
    SHARED unsigned bins[BINS];
    if (block_index() > 0) return;
    const int samples = min(SAMPLES, input.count());
    float least = FLOAT_MAX, most = -FLOAT_MAX;
    for (int i : block_stride(samples)) {
        const Sample sample = sample_of(input, i, samples);
        if (!sample.is_seen) continue;
        least = min(least, sample.distance);
        most = max(most, sample.distance);
    }
    for (int i : block_stride(BINS)) bins[i] = 0;
    least = block_min(least);
    most = block_max(most);
    const float per_unit = (float)BINS / max(most - least, LEAST_DIVISOR);
    block_sync();
    for (int i : block_stride(samples)) {
        const Sample sample = sample_of(input, i, samples);
        if (sample.is_seen) block_atomic_add(&bins[bin_of(sample.distance, least, per_unit)], sample.pixels);
    }
    block_sync();
    unsigned all = 0;
    for (int i : block_stride(BINS)) all += bins[i];
    all = block_sum(all);
    const float wanted = LAYERS * pixels * ((float)samples / input.count());
    const bool are_all_near = wanted >= WORTH_A_PASS * all;
    if (are_all_near && thread_index() == 0) *bound = ALL_ARE_NEAR;
    if (are_all_near) return;
    float before = 0.0f;
    for (int begin = 0; begin < BINS; begin += block_threads()) {
        const int bin = begin + thread_index();
        unsigned here = 0;
        const unsigned mine = bin < BINS ? bins[bin] : 0;
        const float up_to = before + block_exclusive_scan(mine, here);
        if (up_to < wanted && up_to + mine >= wanted) *bound = key_of_distance(least + (bin + 1) / per_unit);
        before += here;
    }
}

extern "C" __global__ void find_covered(const ViewFrame* frame, TileInput input, unsigned* covered) {
    if (has_no_rest(input)) return;
    const int width = frame->width, across = cells_along(width);
    for (int cell : grid_stride(across * cells_along(input.rows))) {
        const int first_x = cell % across * CELL, first_y = cell / across * CELL;
        unsigned farthest = 0;
        for (int y = first_y; y < min(first_y + CELL, input.rows); ++y)
            for (int x = first_x; x < min(first_x + CELL, width); ++x)
                farthest = max(farthest, (unsigned)(input.keys[(int64)y * width + x] >> 32));
        covered[cell] = farthest;
    }
}
