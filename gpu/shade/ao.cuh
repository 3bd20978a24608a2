// Ambient occlusion's colour: the share of rays that hit nothing.
#pragma once
#include "gpu/shade/gather.cuh"

__device__ __forceinline__ void add_unoccluded(const ViewFrame* frame, const float* options, const PrimaryHits& from,
                                               Real unoccluded, int64 plane, int first, float* sums) {
    const Real share = unoccluded * splat(1.0f / options[GatherRow::rays]);
    add_to_film(sums, plane, first, frame->sample_index,
                select(from.hit, Real3{share, share, share}, background(options, from.direction)));
}
