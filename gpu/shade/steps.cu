// Traversal steps as a heat map, and how many rays took how many: a histogram of exact buckets up to 63, then 32 for each doubling (gpu/stats.py).
//
// `options`: lower and upper end of the range, 1 where nodes count, 1 where primitives count, 1 where the range is automatic, the colour map's number,
// 1 where boxes count. `steps` are nodes visited, `tests` primitives tested, `boxes` boxes tested. `measured`: the histogram, then the lower and the upper end of the range in use.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/shading.cuh"

constexpr int EXACT_STEPS = 64, BUCKETS_AN_OCTAVE = 32, STEP_BUCKETS = 864, MAP_FLOATS = 3 * 256;

__device__ __forceinline__ Int counted_steps(const float* options, const int* steps, const int* tests, const int* boxes, int first) {
    Int count = splat_int(0);
    if (options[2] != 0.0f) count = count + load(steps + first);
    if (options[3] != 0.0f) count = count + load(tests + first);
    if (options[6] != 0.0f) count = count + load(boxes + first);
    return count;
}

__device__ __forceinline__ int bucket_of(int count) {
    if (count < EXACT_STEPS) return max(count, 0);
    const int octave = 31 - __clz(count);
    return EXACT_STEPS + (octave - 6) * BUCKETS_AN_OCTAVE + ((count >> (octave - 5)) & (BUCKETS_AN_OCTAVE - 1));
}
// The smallest count of a bucket.
__device__ __forceinline__ int bucket_edge(int bucket) {
    const int far = bucket - EXACT_STEPS;
    return far < 0 ? bucket : (BUCKETS_AN_OCTAVE + far % BUCKETS_AN_OCTAVE) << (1 + far / BUCKETS_AN_OCTAVE);
}

// `measured` begins with zeros.
extern "C" __global__ void count_steps(const ViewFrame* frame, const float* options, int pack_count, const int* steps, const int* tests,
                                       const int* boxes, int* measured) {
    SHARED int of_block[STEP_BUCKETS];
    for (int bucket : block_stride(STEP_BUCKETS)) of_block[bucket] = 0;
    block_sync();
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const unsigned inside = mask_bits(pixels_of(first, frame->width, frame->height).inside);
        const Int counts = counted_steps(options, steps, tests, boxes, first);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (inside >> i & 1u) block_atomic_add(&of_block[bucket_of(lane(counts, i))], 1);
        }
    }
    block_sync();
    for (int bucket : block_stride(STEP_BUCKETS)) {
        if (of_block[bucket] != 0) atomic_add(&measured[bucket], of_block[bucket]);
    }
}

// The range: as asked for, or from the smallest count to that which one ray in two hundred exceeds.
extern "C" __global__ void choose_range(const float* options, int pixel_count, int* measured) {
    if (block_index() == 0 && thread_index() == 0) {
        int low = (int)options[0], high = (int)options[1];
        if (options[4] != 0.0f) {
            const int beyond = pixel_count / 200;
            int bucket = 0, rest = pixel_count;
            while (bucket < STEP_BUCKETS - 1 && measured[bucket] == 0) ++bucket;
            low = bucket_edge(bucket);
            for (rest -= measured[bucket]; bucket < STEP_BUCKETS - 1 && rest > beyond;) rest -= measured[++bucket];
            high = bucket_edge(bucket + 1) - 1;
        }
        measured[STEP_BUCKETS] = low;
        measured[STEP_BUCKETS + 1] = max(high, low + 1);
    }
}

extern "C" __global__ void shade_steps(const ViewFrame* frame, const float* options, const float* color_maps, int pack_count, const int* steps,
                                       const int* tests, const int* boxes, const int* measured, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    const int low = measured[STEP_BUCKETS], high = measured[STEP_BUCKETS + 1];
    const float scale = 255.0f / (float)(high - low);
    const float* colors = color_maps + (int)options[5] * MAP_FLOATS;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int above = counted_steps(options, steps, tests, boxes, first) + splat_int(-low);
        const Real place = min(max(to_real(above) * splat(scale) + splat(0.5f), splat(0.0f)), splat(255.0f));
        add_to_film(sums, plane, first, frame->sample_index, gather3(colors, truncated(place)));
    }
}
