// A task of the median splits (median_splits.cu): references [first, last] that become an inner node, in 8 bytes.
// Whoever fills the first queue includes this.
#pragma once
#include "gpu/device/vec.cuh"

// Its node's id is that of Karras: the last reference of a left child, the first of a right one. A root counts as a
// right child.
struct Task {
    int first, last;
    bool is_left;

    __device__ int count() const { return last - first + 1; }
    __device__ int node_id() const { return is_left ? last : first; }
};

//  byte  0                                4      8
//        | first, inverted of a left child | last |
__device__ __forceinline__ int2 pack_task(int first, int last, bool is_left) {
    return make_int2(is_left ? ~first : first, last);
}
__device__ __forceinline__ Task unpack_task(int2 packed) {
    return {packed.x < 0 ? ~packed.x : packed.x, packed.y, packed.x < 0};
}
__device__ __forceinline__ int2 no_task() { return make_int2(0, -1); }
