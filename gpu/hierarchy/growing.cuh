// What `counts` of a structure says whose memory grows with what it holds (growing.py): the builder's draft and the
// structure that is traversed have the same words.
#pragma once
#include "gpu/device/aabb.cuh"

constexpr int NODES_NOW = 0, REFERENCES_NOW = 1, STATUS_NOW = 2, WORKING_NOW = 3, COUNT_WORDS = 4;
// STATUS_NOW: what was too small for the draft. Later kernels of that build do nothing, and the tree before stays.
constexpr int NODES_FULL = 1, REFERENCES_FULL = 2, WORKING_FULL = 4;

// The box of everything, as `box` holds it.
__device__ __forceinline__ Aabb load_root_box(const float4* box) {
    return {make_float3(box[0].x, box[0].y, box[0].z), make_float3(box[1].x, box[1].y, box[1].z)};
}
