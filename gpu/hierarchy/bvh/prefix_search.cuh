// How far a prefix of codes reaches: the references that differ from one by no more than its gap does (Karras 2012).
// Unit constant: CODE_BITS.
#pragma once
#include "gpu/device/checks.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// Whether references on both sides of `gap` belong to one node with the reference `at`: they differ by less than the
// rank above the gap's.
struct Prefix {
    Pointer<const uint64> keys;
    uint64 code;
    int n, reference, rank;

    // The rank of two places, as of neighbours at a gap.
    __device__ bool holds(int at) const {
        if (at < 0 || at >= n) return false;
        const uint64 difference = code ^ code_of(keys[at]);
        return (difference != 0 ? 95 - __clzll((int64)difference) : 31 - __clz(max(reference ^ at, 1))) <= rank;
    }
};

// The last place in the direction of `step` (1 or -1) that the prefix holds, starting from `at`, which it does.
__device__ int farthest(const Prefix& prefix, int at, int step) {
    int stride = 1;
    while (prefix.holds(at + stride * step)) {
        at += stride * step;
        stride *= 2;
    }
    for (stride /= 2; stride > 0; stride /= 2) {
        if (prefix.holds(at + stride * step)) at += stride * step;
    }
    return at;
}
