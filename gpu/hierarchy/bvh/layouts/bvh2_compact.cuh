// The binary layout in the compact form of Aila and Laine's kernels (2009), to compare: links are places in the node
// array instead of ids, and a leaf's link is the place of a list that ends by itself, so that no count is unpacked.
#pragma once
#include "gpu/hierarchy/bvh/layouts/bvh2.cuh"

//  nodes: 64 bytes each, as bvh2 draws them; `left` and `right` are 4 * the node's id (counted in 16 bytes), or below
//  zero ~ the place of a leaf's list. lists: one word per reference, in the order of the tree. Entry i is i, or ~i
//  where the list ends.
// EMPTY_CHILD is ~ the largest number, and no list's place. A node's index is its canonical id; ids stay below 2^27,
// links below 2^29.
__device__ __forceinline__ int compact_link(int child) {
    if (child == EMPTY_CHILD) return EMPTY_CHILD;
    return is_leaf(child) ? ~first_reference(child) : 4 * child;
}
