// CUDA's words for a host C++ compiler: a block is one thread, a warp is one lane. Included by the host target alone,
// first in a unit.
//
// Barriers vanish, shared memory is a stack array, block and grid indices are thread-local numbers that the pool's
// thread sets before each block. HOST_ENTRY makes the function the pool calls: arguments as cuLaunchKernel takes them,
// and a range of blocks.
#pragma once
#define CUDA_ON_HOST 1

#include "gpu/target/host_headers.cuh"
#ifdef IS_CHECKED
#include <setjmp.h>
#endif

#define __global__ __attribute__((visibility("hidden")))
#define __device__ inline
#define __host__
#ifdef IS_INLINED_BY_CHOICE  // of the compiler: less code in tests, where speed matters less
#define __forceinline__
#else
#define __forceinline__ __attribute__((always_inline))
#endif
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

// -- vector types ----------------------------------------------------------------------------------------
struct alignas(8) float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) int2 {
    int x, y;
};
struct int3 {
    int x, y, z;
};
struct alignas(16) int4 {
    int x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct uint3 {
    unsigned x, y, z;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline int2 make_int2(int x, int y) { return {x, y}; }
static inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
static inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
static inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// -- intrinsics that kernels use -------------------------------------------------------------------------
static inline int __float_as_int(float value) {
    int bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline unsigned __float_as_uint(float value) {
    unsigned bits;
    memcpy(&bits, &value, 4);
    return bits;
}
static inline float __int_as_float(int bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline float __uint_as_float(unsigned bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
static inline int __clz(int value) { return value ? __builtin_clz((unsigned)value) : 32; }
static inline int __clzll(long long value) { return value ? __builtin_clzll((unsigned long long)value) : 64; }
static inline int __popc(unsigned value) { return __builtin_popcount(value); }
static inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }
static inline int __ffs(int value) { return __builtin_ffs(value); }
static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const unsigned long long bytes = (unsigned long long)high << 32 | low;
    unsigned chosen = 0;
    for (int i = 0; i < 4; ++i) chosen |= (unsigned)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
    return chosen;
}

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }
static inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
static inline long long min(long long a, long long b) { return a < b ? a : b; }
static inline unsigned long long min(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
static inline long long max(long long a, long long b) { return a > b ? a : b; }

// -- the grid --------------------------------------------------------------------------------------------
namespace cuda_on_host {

struct Index {
    int x;
};

static thread_local Index block_index;
static thread_local Index grid_size;
#ifdef IS_CHECKED
static thread_local jmp_buf check_exit;  // out of a share of the blocks, where a check fails (gpu/device/checks.cuh)
#endif

template <int... I>
struct Indices {};
template <int N, int... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <int... I>
struct MakeIndices<0, I...> {
    typedef Indices<I...> Type;
};

template <class Kernel, Kernel kernel>
struct Entry;

template <class... Arguments, void (*kernel)(Arguments...)>
struct Entry<void (*)(Arguments...), kernel> {
    template <int... I>
    static void call(void** arguments, Indices<I...>) {
        kernel(*static_cast<Arguments*>(arguments[I])...);
    }

    static void run(void** arguments, int first_block, int last_block, int block_count) {
        grid_size.x = block_count;
#ifdef IS_CHECKED
        if (_setjmp(check_exit)) return;
#endif
        for (int block = first_block; block < last_block; ++block) {
            block_index.x = block;
            call(arguments, typename MakeIndices<sizeof...(Arguments)>::Type());
        }
    }
};

}  // namespace cuda_on_host

#define HOST_ENTRY(kernel)                                                                                            \
    extern "C" __attribute__((visibility("default"))) void host_entry_##kernel(void** arguments, int first, int last, \
                                                                               int count) {                           \
        cuda_on_host::Entry<decltype(&kernel), &kernel>::run(arguments, first, last, count);                          \
    }
