// Samples of pixels, and angles, as the kernels make them.
#include "gpu/device/angles.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/random.cuh"

// Sample `sample` of pixel `pixel` at place sample * pixel_count + pixel; pixel_count is a multiple of the pack.
extern "C" __global__ void draw_samples(int pixel_count, int sample_count, int dimension, int seed, float* x, float* y,
                                        float* single) {
    for (int pack : grid_stride(pixel_count / PACK)) {
        const Int pixel = splat_int(pack * PACK) + lane_index();
        for (int i = 0; i < sample_count; ++i) {
            const int at = i * pixel_count + pack * PACK;
            const Sample2d sample = sample_2d(pixel, i, dimension, seed);
            store(x + at, sample.x);
            store(y + at, sample.y);
            store(single + at, sample_1d(pixel, i, dimension, seed));
        }
    }
}

extern "C" __global__ void turn(int pack_count, const float* turns, float* sine, float* cosine) {
    for (int pack : grid_stride(pack_count)) {
        const SineCosine found = sine_and_cosine(load(turns + pack * PACK));
        store(sine + pack * PACK, found.sine);
        store(cosine + pack * PACK, found.cosine);
    }
}
