// Morton codes: the bits of three coordinates interleaved, x in the highest place of each group of three.
#pragma once
#include "gpu/device/vec.cuh"

// The lowest 10 bits of `value`, two zero bits between neighbours.
__device__ __forceinline__ unsigned spread_bits_10(unsigned value) {
    value = (value | value << 16) & 0x030000ffu;
    value = (value | value << 8) & 0x0300f00fu;
    value = (value | value << 4) & 0x030c30c3u;
    return (value | value << 2) & 0x09249249u;
}

// The lowest 21 bits of `value`, two zero bits between neighbours.
__device__ __forceinline__ uint64 spread_bits_21(uint64 value) {
    value = (value | value << 32) & 0x001f00000000ffffull;
    value = (value | value << 16) & 0x001f0000ff0000ffull;
    value = (value | value << 8) & 0x100f00f00f00f00full;
    value = (value | value << 4) & 0x10c30c30c30c30c3ull;
    return (value | value << 2) & 0x1249249249249249ull;
}

// `unit` in [0, 1] on a grid of 2^bits cells.
__device__ __forceinline__ unsigned grid_cell(float unit, int bits) {
    const float cells = (float)(1 << bits);
    return (unsigned)min(max(unit * cells, 0.0f), cells - 1.0f);
}

__device__ __forceinline__ unsigned morton_code_30(float3 unit) {
    return spread_bits_10(grid_cell(unit.x, 10)) << 2 | spread_bits_10(grid_cell(unit.y, 10)) << 1 |
           spread_bits_10(grid_cell(unit.z, 10));
}

__device__ __forceinline__ uint64 morton_code_60(float3 unit) {
    return spread_bits_21(grid_cell(unit.x, 20)) << 2 | spread_bits_21(grid_cell(unit.y, 20)) << 1 |
           spread_bits_21(grid_cell(unit.z, 20));
}
