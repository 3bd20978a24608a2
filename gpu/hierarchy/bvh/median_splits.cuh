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

// The last reference of the left child of [first, last], by one thread: behind it the highest bit changes that differs
// in the range; the middle where all codes are equal. `code_at(i)`: the code of a place.
template <class CodeAt>
__device__ __forceinline__ int find_split_alone(const CodeAt& code_at, int first, int last) {
    const uint64 difference = code_at(first) ^ code_at(last);
    if (difference == 0) return first + (last - first) / 2;
    const int bit = 63 - __clzll((int64)difference);
    int low = first, high = last;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (code_at(middle) >> bit & 1) high = middle;
        else low = middle;
    }
    return low;
}
