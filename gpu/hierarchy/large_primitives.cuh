// Primitives that may meet many cells, which one thread would test for long while all others wait: they are listed, and
// a block of threads takes one after another.
#pragma once
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"

constexpr int MANY_CELLS = 64;

// How many there are, then their numbers; room for all, and the count 0 before.
struct LargePrimitives {
    int* list;

    __device__ __forceinline__ void add(int prim_id) const { list[1 + atomic_add(list, 1)] = prim_id; }
    // Hands each to `visit`, which every thread of a block calls in uniform control flow.
    template <class Visit>
    __device__ __forceinline__ void each(const Visit& visit) const {
        const int count = list[0];
        for (int k = block_index(); k < count; k += block_count()) visit(list[1 + k]);
    }
};
