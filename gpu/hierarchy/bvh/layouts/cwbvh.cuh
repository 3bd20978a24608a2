// The compressed 8-wide layout after Ylitie, Karras and Laine 2017: boxes of 8 bits per plane on a grid of the node's
// own, children in slots by direction (octant_slots.cuh). Triangles stay where the canonical tree has them, and leaves
// may hold 32 of them: so what a leaf covers is a word of its own, beside the node, instead of an offset into a list of
// three triangles per slot.
#pragma once
#include "gpu/hierarchy/bvh/canonical.cuh"

//  byte  0        12                 15     16           20       24        32 80
//        | origin | exponents[3]     | used | child_base | unused | meta[8] | lower.x[8] upper.x[8] lower.y[8]
//        upper.y[8] lower.z[8] upper.z[8] |
// A plane is origin + byte * 2^(exponent - 127), as fmaf rounds it: no box is smaller than what it holds. `used`: bit s
// set where slot s holds something. meta: 128 + rank of an inner child, whose index is child_base + rank; 64 for a
// leaf, whose word is leaf_words[8 * node + s]; 0 if unused.
struct alignas(16) CwbvhNode {
    float origin[3];
    uint8 exponents[3], used;
    int child_base, unused;
    uint8 meta[8];
    uint8 planes[6][8];

    // The 16 bytes from 16 * quad on.
    __device__ void set_quad(int quad, const CwbvhNode& from) {
        int4 words;
        memcpy(&words, (const int4*)&from + quad, sizeof words);  // written as numbers and bytes just before
        ((int4*)this)[quad] = words;
    }
};
static_assert(sizeof(CwbvhNode) == 80, "drawn above; cwbvh.py reads it");

constexpr int CWBVH_QUADS = sizeof(CwbvhNode) / 16;
constexpr int META_INNER = 128, META_LEAF = 64, META_RANK = 7;

__device__ __forceinline__ float cell_size(int exponent) { return __int_as_float(exponent << 23); }
__device__ __forceinline__ float plane_of(int cells, float size, float origin) {
    return fmaf((float)cells, size, origin);
}
