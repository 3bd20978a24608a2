// Ambient occlusion's colour: the share of rays that hit nothing, of a surface of one grey.
// from gpu.shade.ao import AoRow
#pragma once
#include "gpu/shade/gather.cuh"

__device__ __forceinline__ void add_unoccluded(const ViewFrame* frame, const float* options, const PrimaryHits& from,
                                               Real unoccluded, int64 plane, int first, float* sums) {
    const Real share = unoccluded * splat(options[AoRow::albedo] / options[AoRow::rays]);
    add_to_film(sums, plane, first, frame->sample_index,
                select(from.hit, Real3{share, share, share}, background(options, from.direction)));
}
