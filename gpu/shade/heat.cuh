// Numbers of pixels as colours, and how many pixels have how much of it: a histogram of exact buckets up to 63, then 32
// for each doubling (gpu/stats.py). Values are whole numbers of whatever unit the ray type says; one below zero is no
// value.
//
// `options` begin with a HeatRow. `measured`: the histogram, then the lower and the upper end of the range in use.
// from gpu.shade.color_maps import MAP_COLORS
// from gpu.shade.heat import HeatRow
// from gpu.stats import BUCKETS_AN_OCTAVE, EXACT_STEPS, STEP_BUCKETS
#pragma once
#include "gpu/shade/shading.cuh"

constexpr int MAP_FLOATS = 3 * MAP_COLORS;

__device__ __forceinline__ int bucket_of(int value) {
    if (value < EXACT_STEPS) return value;
    const int octave = 31 - __clz(value);
    return EXACT_STEPS + (octave - 6) * BUCKETS_AN_OCTAVE + ((value >> (octave - 5)) & (BUCKETS_AN_OCTAVE - 1));
}
// The smallest value of a bucket.
__device__ __forceinline__ int bucket_edge(int bucket) {
    const int far = bucket - EXACT_STEPS;
    return far < 0 ? bucket : (BUCKETS_AN_OCTAVE + far % BUCKETS_AN_OCTAVE) << (1 + far / BUCKETS_AN_OCTAVE);
}
