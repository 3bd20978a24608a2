// Readings of a picture's hits as colours: one of them as the values of a heat map, three as red, green and blue, or a
// number as a colour of its own.
//
// `readings` are planes in ray order, one a number.
// from gpu.shade.views import ViewRow
#include "gpu/device/random.cuh"
#include "gpu/shade/heat.cuh"

// Numbers below zero are zero, as infinite ones are the largest there is room for.
extern "C" __global__ void quantise_reading(const float* options, int pack_count, const int* prim_id,
                                            const float* readings, int* values) {
    const int64 plane = (int64)pack_count * PACK;
    const float* shown = readings + (int)options[ViewRow::plane] * plane;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real value = min(max(load(shown + first) * splat(options[ViewRow::values_in_one]), splat(0.0f)),
                               splat(2147483520.0f));
        store(values + first, select(load(prim_id + first) < splat_int(0), splat_int(-1), truncated(value)));
    }
}

extern "C" __global__ void shade_vector(const ViewFrame* frame, const float* options, int pack_count,
                                        const int* prim_id, const float* readings, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    const Real scale = splat(options[ViewRow::scale]), offset = splat(options[ViewRow::offset]), none = splat(0.0f),
               one = splat(1.0f);
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Real3 found = {load(readings + first), load(readings + plane + first),
                             load(readings + 2 * plane + first)};
        const Real3 scaled = found * scale + Real3{offset, offset, offset};
        const Real3 color = {min(max(scaled.x, none), one), min(max(scaled.y, none), one),
                             min(max(scaled.z, none), one)};
        const Mask hit = !(load(prim_id + first) < splat_int(0));
        add_to_film(sums, plane, first, frame->sample_index, select(hit, color * color, splat3(0.0f, 0.0f, 0.0f)));
    }
}

// Colours that no two neighbours are likely to share: all bright enough to tell from the background.
extern "C" __global__ void shade_ids(const ViewFrame* frame, const float* options, int pack_count, const int* prim_id,
                                     const int* readings, float* sums) {
    const int64 plane = (int64)pack_count * PACK;
    const int* shown = readings + (int)options[ViewRow::plane] * plane;
    for (int pack : grid_stride(pack_count)) {
        const int first = pack * PACK;
        const Bits hash = scrambled(to_bits(load(shown + first))), second = scrambled(hash), third = scrambled(second);
        const Real3 color = {unit_real(hash) * splat(0.85f) + splat(0.05f),
                             unit_real(second) * splat(0.85f) + splat(0.05f),
                             unit_real(third) * splat(0.85f) + splat(0.05f)};
        const Mask hit = !(load(prim_id + first) < splat_int(0));
        add_to_film(sums, plane, first, frame->sample_index, select(hit, color, splat3(0.0f, 0.0f, 0.0f)));
    }
}
