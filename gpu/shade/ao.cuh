// Ambient occlusion's colour: the share of rays that hit nothing.
#pragma once
#include "gpu/shade/gather.cuh"

__device__ __forceinline__ void add_openness(const ViewFrame* frame, const float* options, const PrimaryHits& from, Real open, int64 plane, int first,
                                             float* sums) {
    const Real share = open * splat(1.0f / options[GATHERED_RAYS]);
    add_to_film(sums, plane, first, frame->sample_index, select(from.hit, Real3{share, share, share}, background(options, from.direction)));
}
