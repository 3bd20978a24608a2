// Stores by pairs of neighbouring lanes, so that each store writes whole sectors of 32 bytes: 16 bytes per thread, 32
// or more apart, are half a sector each, and memory takes every half for a whole one. Each lane writes one half of its
// own sectors and of its neighbour's.
//
// What is stored asks to be the first that the cache evicts: more is written than the cache holds, and what the next
// launch reads is to stay there.
//
// All lanes of a warp call these together; `is_asked` says whether a lane has anything to store. On the host a lane has
// no neighbour.
#pragma once
#include "gpu/device/warp.cuh"

#ifdef CUDA_ON_HOST
template <int N>
inline void store_by_pairs(float4* at, const float4 (&parts)[N], bool is_asked) {
    for (int k = 0; is_asked && k < N; ++k) at[k] = parts[k];
}
template <int N>
inline void store_row_by_pairs(float4* at, const float4 (&parts)[N], bool is_asked) {
    store_by_pairs(at, parts, is_asked);
}
#else
__device__ __forceinline__ float4 of_neighbour(const float4& value) {
    return make_float4(__shfl_xor_sync(WARP_ALL, value.x, 1), __shfl_xor_sync(WARP_ALL, value.y, 1),
                       __shfl_xor_sync(WARP_ALL, value.z, 1), __shfl_xor_sync(WARP_ALL, value.w, 1));
}
__device__ __forceinline__ void store_aside(float4& at, const float4& value) { __stcs(&at, value); }

// N is even, and `at` a multiple of 32 bytes.
template <int N>
__device__ __forceinline__ void store_by_pairs(float4* at, const float4 (&parts)[N], bool is_asked) {
    static_assert(N % 2 == 0, "whole sectors");
    const int odd = threadIdx.x & 1;
    float4* const mine = is_asked ? at : nullptr;
    float4* const others = (float4*)__shfl_xor_sync(WARP_ALL, (uint64)mine, 1);
    float4 *const of_even = odd ? others : mine, *const of_odd = odd ? mine : others;
#pragma unroll
    for (int k = 0; k < N; k += 2) {
        const float4 kept = odd ? parts[k + 1] : parts[k], got = of_neighbour(odd ? parts[k] : parts[k + 1]);
        if (of_even != nullptr) store_aside(of_even[k + odd], odd ? got : kept);
        if (of_odd != nullptr) store_aside(of_odd[k + odd], odd ? kept : got);
    }
}
// Rows that follow each other as the lanes do: an odd lane's behind its neighbour's.
template <int N>
__device__ __forceinline__ void store_row_by_pairs(float4* at, const float4 (&parts)[N], bool is_asked) {
    if constexpr (N % 2 == 0) {
        store_by_pairs(at, parts, is_asked);
    } else {
        static_assert(N == 3, "rows of 48 bytes");
        const int odd = threadIdx.x & 1;
        const float4 got = of_neighbour(parts[1]);
        if (__shfl_xor_sync(WARP_ALL, (int)is_asked, 1) && is_asked) {
            float4* const pair = at - 3 * odd + odd;
            store_aside(pair[0], odd ? got : parts[0]);
            store_aside(pair[2], odd ? parts[0] : parts[2]);
            store_aside(pair[4], odd ? parts[2] : got);
        } else if (is_asked) {
            store_aside(at[0], parts[0]);
            store_aside(at[1], parts[1]);
            store_aside(at[2], parts[2]);
        }
    }
}
#endif
