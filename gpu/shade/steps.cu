// Traversal steps as a heat map: the steps of each ray, from 0 to `options[0]`, through a table of 256 linear colours.
#include "gpu/shade/shading.cuh"

extern "C" __global__ void shade_steps(const ViewFrame* frame, const float* options, const float* palette, int pack_count, const int* steps, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    const float scale = 255.0f / options[0];
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real place = min(to_real(load(steps + first)) * splat(scale) + splat(0.5f), splat(255.0f));
        add_to_film(sums, plane, first, frame->sample_index, gather3(palette, truncated(place)));
    }
}
