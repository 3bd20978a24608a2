// Numbers of pixels as colours, and how many pixels have how much of it: a histogram of exact buckets up to 63, then 32 for each doubling
// (gpu/stats.py). Values are whole numbers of whatever unit the ray type says; one below zero is no value.
//
// `options`: lower and upper end of the range in values, 1 where the range is automatic, the colour map's number; what is behind belongs to the ray
// type. `measured`: the histogram, then the lower and the upper end of the range in use.
#pragma once
#include "gpu/shade/shading.cuh"

constexpr int EXACT_VALUES = 64, BUCKETS_AN_OCTAVE = 32, VALUE_BUCKETS = 864, MAP_FLOATS = 3 * 256;
constexpr int RANGE_LOW = 0, RANGE_HIGH = 1, IS_AUTOMATIC = 2, COLOR_MAP = 3, HEAT_OPTIONS = 4;

__device__ __forceinline__ int bucket_of(int value) {
    if (value < EXACT_VALUES) return value;
    const int octave = 31 - __clz(value);
    return EXACT_VALUES + (octave - 6) * BUCKETS_AN_OCTAVE + ((value >> (octave - 5)) & (BUCKETS_AN_OCTAVE - 1));
}
// The smallest value of a bucket.
__device__ __forceinline__ int bucket_edge(int bucket) {
    const int far = bucket - EXACT_VALUES;
    return far < 0 ? bucket : (BUCKETS_AN_OCTAVE + far % BUCKETS_AN_OCTAVE) << (1 + far / BUCKETS_AN_OCTAVE);
}
