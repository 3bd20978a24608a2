// How much work each primary ray was, as the values of a heat map (heat.cuh). `steps` are nodes visited, `tests`
// primitives tested, `boxes` boxes tested.
// from gpu.shade.steps import StepsRow
#include "gpu/shade/heat.cuh"

extern "C" __global__ void add_steps(const float* options, int pack_count, const int* steps, const int* tests,
                                     const int* boxes, int* values) {
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        Int count = splat_int(0);
        if (options[StepsRow::counts_nodes] != 0.0f) count = count + load(steps + first);
        if (options[StepsRow::counts_primitives] != 0.0f) count = count + load(tests + first);
        if (options[StepsRow::counts_boxes] != 0.0f) count = count + load(boxes + first);
        store(values + first, count);
    }
}
