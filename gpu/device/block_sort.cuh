// Rows of floats in shared memory, each put in order by the whole block: Batcher's bitonic network (1968), whose
// comparisons do not depend on what is compared.
//
//     block_sort_rows<THREADS>(values, rows, stride, length)     row r is values[r * stride .. r * stride + length),
//     length a power of two
//
// All threads call it together, and what they wrote before is in place; afterwards every thread sees the rows in order.
#pragma once
#include "gpu/device/block.cuh"

#ifdef CUDA_ON_HOST
#include <algorithm>
template <int THREADS>
inline void block_sort_rows(float* values, int rows, int stride, int length) {
    for (int row = 0; row < rows; ++row) std::sort(values + row * stride, values + row * stride + length);
}
#else
template <int THREADS>
__device__ __forceinline__ void block_sort_rows(float* values, int rows, int stride, int length) {
    const int pairs = length / 2, all_pairs = rows * pairs, bits = 31 - __clz(max(pairs, 1));
    __syncthreads();
#pragma unroll 1
    for (int size = 2; size <= length; size *= 2) {
#pragma unroll 1
        for (int step = size / 2; step > 0; step /= 2) {
            for (int item = thread_index(); item < all_pairs; item += THREADS) {
                const int row = item >> bits, pair = item & (pairs - 1);
                float* low = values + row * stride + 2 * pair - (pair & (step - 1));
                const float a = low[0], b = low[step];
                const bool is_rising = (2 * pair & size) == 0;
                if ((a > b) == is_rising && a != b) {
                    low[0] = b;
                    low[step] = a;
                }
            }
            __syncthreads();
        }
    }
}
#endif
