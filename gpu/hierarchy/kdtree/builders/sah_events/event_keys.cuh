// What events are sorted by within an axis: their planes and, among equal ones, upper ends before lower ones, so that
// what ends at a plane does not count as above it; references that lie in a plane come in between, lower ends first.
#pragma once
#include "gpu/hierarchy/kdtree/builders/sah_events/events.cuh"

__device__ __forceinline__ unsigned ordered_plane(float plane) { return (unsigned)ordered_int(plane) ^ 0x80000000u; }
__device__ __forceinline__ int rank_of(bool is_flat, int end) { return is_flat ? 1 + end : (end != 0 ? 0 : 3); }
