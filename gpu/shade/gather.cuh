// Rays that a primary hit sends out to all sides: what ambient occlusion and diffuse rays have in common, whether they
// are traced on the way or as a wavefront. The same text makes them both times, so that both pictures are the same.
// from gpu.shade.gather import GatherRow
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/shade/interaction.cuh"
#include "gpu/shade/sampling.cuh"

constexpr int GATHER_DIMENSION = 1, LENGTH_DIMENSION = 2;  // of the sequence; the film's own samples are another

// The primary hits of a pack.
struct PrimaryHits {
    Int prim_id, pixel;
    Mask hit;
    Real3 direction;
};
__device__ __forceinline__ PrimaryHits primary_hits(const ViewFrame* frame, Real3 direction, const int* prim_id,
                                                    int first) {
    const PackPixels at = pixels_of(first, *frame);
    const Int found = load(prim_id + first);
    return {found, pixel_number(at.x, at.y), !(found < splat_int(0)), direction};
}

// Every hit of a block's packs adds its rays to the statistics: hits are counted, of which a picture has less than
// 2^31; their rays may be more.
__device__ __forceinline__ int hit_count(const PrimaryHits& from) { return __popc(mask_bits(from.hit)); }
__device__ __forceinline__ void count_rays(uint64* ray_counts, const float* options, int hits) {
    hits = block_sum(hits);
    if (thread_index() == 0 && hits > 0) atomic_add(ray_counts, (uint64)hits * (uint64)options[GatherRow::rays]);
}

// How far a ray looks, where a hit at t is to count by (1 - t / length) to a power: as many rays of random lengths are
// longer than t. So the mean is that of weighted hits, and any hit will do, in whatever order a structure finds them.
__device__ __forceinline__ Real ray_length(const float* options, Int pixel, int sample_index, int seed) {
    const Real length = splat(options[GatherRow::length]);
    const float falloff = options[GatherRow::falloff];
    if (falloff == 0.0f) return length;
    const Real sample = sample_1d(pixel, sample_index, LENGTH_DIMENSION, seed);
    return length * (falloff == 1.0f ? sample : splat(1.0f) - lanes_sqrt(sample));
}

// The i-th of a hit's rays, on the side of the triangle that is seen. Samples go on from one film sample to the next:
// together they are one sequence.
__device__ __forceinline__ Rays gathered_rays(const ViewFrame* frame, const float* options, const PrimaryHits& from,
                                              const SurfacePoint& at, int i) {
    const int sample_index = frame->sample_index * (int)options[GatherRow::rays] + i;
    const Sample2d sample = sample_2d(from.pixel, sample_index, GATHER_DIMENSION, frame->seed);
    const Basis basis = basis_around(at.normal);
    const Real3 direction = options[GatherRow::is_by_cosine] != 0.0f ? cosine_direction(basis, sample)
                                                                     : uniform_direction(basis, sample);
    return rays_from(at, direction, ray_length(options, from.pixel, sample_index, frame->seed), from.hit);
}
