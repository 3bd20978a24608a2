// How near the spheres are that are drawn first, and what they cover.
//
// Constants of the unit: those of seen.cuh.
#include "gpu/device/block.cuh"
#include "gpu/glyphs/seen.cuh"

constexpr int THREADS = 1024;  // of the one block that chooses
constexpr int SAMPLES = 2048, BINS = 128;
constexpr int MOST_OF_SAMPLE = 1 << 18;  // pixels of a square that count, so that their sum is a number of 32 bits
constexpr unsigned UNSEEN = ~0u;
// Where more of all pixels than that are of the first ones, all are: a second pass costs a GPU more.
constexpr float WORTH_A_PASS = RUNS_SERIAL ? 0.75f : 0.4f;
constexpr float IN_VAIN = RUNS_SERIAL ? 0.1f : 1.0f;  // what a sphere costs that is drawn in vain, for one that is not
constexpr float DISC = 0.785398163f;  // a disc's part of the square round it

struct Sample {
    unsigned pixels;  // UNSEEN where it is not seen
    float distance;
    __device__ __forceinline__ bool is_seen() const { return pixels != UNSEEN; }
};
// A box has a pixel more on each axis, in the mean, than the square round the sphere has sides.
__device__ __forceinline__ Sample sample_of(const ViewFrame& frame, const TileInput& input, int prim_id) {
    const Seen seen = seen_at(frame, input, prim_id);
    const PixelBox& box = seen.box;
    if (box.is_empty()) return {UNSEEN, 0.0f};
    const int64 pixels = (int64)(box.x.end - box.x.first - 1) * (box.y.end - box.y.first - 1);
    return {(unsigned)min(pixels, (int64)MOST_OF_SAMPLE), distance_of_key(seen.least)};
}
__device__ __forceinline__ int bin_of(float distance, float least, float per_unit) {
    return (int)min(max((distance - least) * per_unit, 0.0f), (float)(BINS - 1));
}

// In how many squares of near spheres a pixel lies best, where it lies in `all` of all spheres', of `side` pixels each.
// Where h discs hit a pixel in the mean, a cell of CELL^2 pixels stays open with a chance of about CELL^2 exp(-h), and
// one open cell lets a sphere through. One more h draws pixels / disc further near spheres, and about
// count cells CELL^2 exp(-h) fewer others, in vain: both cost the same where h = log(IN_VAIN CELL^2 cells DISC all).
__device__ __forceinline__ float layers_wanted(float all, float side) {
    const float along = max(side / CELL + 1.0f, (float)LOOK);
    return max(logf(IN_VAIN * CELL * CELL * along * along * DISC * all), 1.0f) / DISC;
}

// The key before which spheres are near, by some of them: pixels of their squares in bins of distance. One block.
extern "C" __global__ void __launch_bounds__(THREADS)
    choose_near(const ViewFrame* frame, TileInput input, int pixels, unsigned* bound) {
    SHARED Sample of_some[SAMPLES];
    SHARED unsigned bins[BINS];
    if (block_index() > 0) return;
    const int samples = min(SAMPLES, input.count());
    float least = FLOAT_MAX, most = -FLOAT_MAX;
    for (int i : block_stride(samples)) {
        const Sample sample = of_some[i] = sample_of(*frame, input, (int)((int64)i * input.count() / samples));
        if (!sample.is_seen()) continue;
        least = min(least, sample.distance);
        most = max(most, sample.distance);
    }
    for (int i : block_stride(BINS)) bins[i] = 0;
    least = block_min(least);
    most = block_max(most);
    const float per_unit = (float)BINS / max(most - least, LEAST_DIVISOR);
    block_sync();
    for (int i : block_stride(samples)) {
        const Sample sample = of_some[i];
        if (sample.is_seen()) block_atomic_add(&bins[bin_of(sample.distance, least, per_unit)], sample.pixels);
    }
    block_sync();
    unsigned all = 0, seen = 0;
    for (int i : block_stride(BINS)) all += bins[i];
    for (int i : block_stride(samples)) seen += of_some[i].is_seen();
    all = block_sum(all);
    seen = block_sum(seen);
    const float of_pixel = (float)samples / input.count() * pixels;  // squares among the samples, for one a pixel
    const float wanted = of_pixel * layers_wanted(all / of_pixel, sqrtf((float)all / max(seen, 1u)));
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
        for (int y = first_y; y < min(first_y + LOOK * CELL, input.rows); ++y)
            for (int x = first_x; x < min(first_x + LOOK * CELL, width); ++x)
                farthest = max(farthest, (unsigned)(input.keys[(int64)y * width + x] >> 32));
        covered[cell] = farthest;
    }
}
