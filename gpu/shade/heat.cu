// The histogram of a picture's values, their range, and their colours (heat.cuh).
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/heat.cuh"

// `measured` begins with zeros.
extern "C" __global__ void count_values(const ViewFrame* frame, int pack_count, const int* values, int* measured) {
    SHARED int of_block[STEP_BUCKETS];
    for (int bucket : block_stride(STEP_BUCKETS)) of_block[bucket] = 0;
    block_sync();
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(values + first);
        const unsigned inside = mask_bits(pixels_of(first, *frame).inside & !(found < splat_int(0)));
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (inside >> i & 1u) block_atomic_add(&of_block[bucket_of(lane(found, i))], 1);
        }
    }
    block_sync();
    for (int bucket : block_stride(STEP_BUCKETS)) {
        if (of_block[bucket] != 0) atomic_add(&measured[bucket], of_block[bucket]);
    }
}

// The range: as asked for, or from the smallest value to that which one pixel in two hundred exceeds.
extern "C" __global__ void choose_range(const float* options, int* measured) {
    if (block_index() == 0 && thread_index() == 0) {
        int low = (int)options[HeatRow::range_low], high = (int)options[HeatRow::range_high], count = 0;
        for (int bucket = 0; bucket < STEP_BUCKETS; ++bucket) count += measured[bucket];
        if (options[HeatRow::is_automatic] != 0.0f && count > 0) {
            const int beyond = count / 200;
            int bucket = 0, rest = count;
            while (bucket < STEP_BUCKETS - 1 && measured[bucket] == 0) ++bucket;
            low = bucket_edge(bucket);
            for (rest -= measured[bucket]; bucket < STEP_BUCKETS - 1 && rest > beyond;) rest -= measured[++bucket];
            high = bucket_edge(bucket + 1) - 1;
        }
        measured[STEP_BUCKETS] = low;
        measured[STEP_BUCKETS + 1] = max(high, low + 1);
    }
}

// Pixels without a value are black.
extern "C" __global__ void shade_values(const ViewFrame* frame, const float* options, const float* color_maps,
                                        int pack_count, const int* values, const int* measured, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    const int low = measured[STEP_BUCKETS], high = measured[STEP_BUCKETS + 1];
    const float scale = 255.0f / (float)(high - low);
    const float* colors = color_maps + (int)options[HeatRow::color_map] * MAP_FLOATS;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Int found = load(values + first);
        const Real place = min(max(to_real(found + splat_int(-low)) * splat(scale) + splat(0.5f), splat(0.0f)),
                               splat(255.0f));
        const Real3 color = gather3(colors, truncated(place));
        add_to_film(sums, plane, first, frame->sample_index,
                    select(found < splat_int(0), splat3(0.0f, 0.0f, 0.0f), color));
    }
}
