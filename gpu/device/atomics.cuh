// Atomics by scope: `atomic_*` for memory that all blocks share, `block_atomic_*` for memory of one block (plain
// operations on the host); `block_arrive` and `block_atomic_exchange` for shared memory. `atomic_load` reads what
// others change meanwhile, in no order. `gathered_add` adds what lanes of a warp add to one place at one time up first,
// and then once: for places that neighbours share. Any lanes may call it, in any control flow. `gathered_add_both` adds
// two numbers that share a word.
//
// `atomic_arrive` is fence, add (one, or `by`), fence: the last of several arrivers sees everything the others wrote
// before they arrived. `atomic_arrive_last` says whether this was the last after `others`; who was not does not wait
// for the second fence, and sees nothing. Float minimum and maximum go through ordered integers; -0.0f is turned into
// +0.0f first, so that equal floats have equal bits.
#pragma once
#include "gpu/device/types.cuh"

#ifdef CUDA_ON_HOST
__device__ int atomic_add(int* at, int value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
__device__ unsigned atomic_add(unsigned* at, unsigned value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
__device__ uint64 atomic_add(uint64* at, uint64 value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
__device__ int atomic_or(int* at, int value) { return __atomic_fetch_or(at, value, __ATOMIC_RELAXED); }
__device__ int atomic_exchange(int* at, int value) { return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }
__device__ int atomic_arrive(int* at, int by = 1) { return __atomic_fetch_add(at, by, __ATOMIC_ACQ_REL); }
__device__ bool atomic_arrive_last(int* at, int others) {
    return __atomic_fetch_add(at, 1, __ATOMIC_ACQ_REL) == others;
}
template <class Number>
inline Number host_atomic_extreme(Number* at, Number value, bool smallest) {
    Number old = __atomic_load_n(at, __ATOMIC_RELAXED);
    while ((smallest ? value < old : value > old) &&
           !__atomic_compare_exchange_n(at, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    return old;
}
__device__ int atomic_min(int* at, int value) { return host_atomic_extreme(at, value, true); }
__device__ int atomic_max(int* at, int value) { return host_atomic_extreme(at, value, false); }
__device__ unsigned atomic_min(unsigned* at, unsigned value) { return host_atomic_extreme(at, value, true); }
__device__ unsigned atomic_max(unsigned* at, unsigned value) { return host_atomic_extreme(at, value, false); }
__device__ uint64 atomic_max(uint64* at, uint64 value) { return host_atomic_extreme(at, value, false); }
__device__ uint64 atomic_min(uint64* at, uint64 value) { return host_atomic_extreme(at, value, true); }
__device__ uint64 atomic_load(const uint64* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
__device__ int block_atomic_add(int* at, int value) {
    const int old = *at;
    *at += value;
    return old;
}
__device__ unsigned block_atomic_add(unsigned* at, unsigned value) {
    const unsigned old = *at;
    *at += value;
    return old;
}
__device__ uint64 block_atomic_add(uint64* at, uint64 value) {
    const uint64 old = *at;
    *at += value;
    return old;
}
__device__ int block_atomic_min(int* at, int value) {
    const int old = *at;
    *at = min(old, value);
    return old;
}
__device__ uint64 block_atomic_min(uint64* at, uint64 value) {
    const uint64 old = *at;
    *at = min(old, value);
    return old;
}
__device__ int block_atomic_max(int* at, int value) {
    const int old = *at;
    *at = max(old, value);
    return old;
}
__device__ int block_atomic_exchange(int* at, int value) {
    const int old = *at;
    *at = value;
    return old;
}
__device__ int block_arrive(int* at) { return (*at)++; }
__device__ void gathered_add(uint64* at, unsigned value) { atomic_add(at, (uint64)value); }
__device__ void gathered_add_both(uint64* at, unsigned low, unsigned high, int shift) {
    atomic_add(at, low | (uint64)high << shift);
}
#else
// What a thread wrote before is seen by whoever sees what it writes after, and the other way round. The compiler's own
// fences are sequentially consistent besides, which nothing here needs and which takes longer.
__device__ __forceinline__ void device_fence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
__device__ __forceinline__ int atomic_add(int* at, int value) { return atomicAdd(at, value); }
__device__ __forceinline__ unsigned atomic_add(unsigned* at, unsigned value) { return atomicAdd(at, value); }
__device__ __forceinline__ uint64 atomic_add(uint64* at, uint64 value) { return atomicAdd(at, value); }
__device__ __forceinline__ int atomic_or(int* at, int value) { return atomicOr(at, value); }
__device__ __forceinline__ int atomic_exchange(int* at, int value) {
    device_fence();
    const int old = atomicExch(at, value);
    device_fence();
    return old;
}
__device__ __forceinline__ int atomic_arrive(int* at, int by = 1) {
    device_fence();
    const int old = atomicAdd(at, by);
    device_fence();
    return old;
}
__device__ __forceinline__ bool atomic_arrive_last(int* at, int others) {
    device_fence();
    if (atomicAdd(at, 1) != others) return false;
    device_fence();
    return true;
}
__device__ __forceinline__ int atomic_min(int* at, int value) { return atomicMin(at, value); }
__device__ __forceinline__ int atomic_max(int* at, int value) { return atomicMax(at, value); }
__device__ __forceinline__ unsigned atomic_min(unsigned* at, unsigned value) { return atomicMin(at, value); }
__device__ __forceinline__ unsigned atomic_max(unsigned* at, unsigned value) { return atomicMax(at, value); }
__device__ __forceinline__ uint64 atomic_max(uint64* at, uint64 value) { return atomicMax(at, value); }
__device__ __forceinline__ uint64 atomic_min(uint64* at, uint64 value) { return atomicMin(at, value); }
__device__ __forceinline__ uint64 atomic_load(const uint64* at) {
    uint64 value;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
__device__ __forceinline__ int block_atomic_add(int* at, int value) { return atomicAdd_block(at, value); }
__device__ __forceinline__ unsigned block_atomic_add(unsigned* at, unsigned value) {
    return atomicAdd_block(at, value);
}
__device__ __forceinline__ uint64 block_atomic_add(uint64* at, uint64 value) { return atomicAdd_block(at, value); }
__device__ __forceinline__ int block_atomic_min(int* at, int value) { return atomicMin_block(at, value); }
__device__ __forceinline__ uint64 block_atomic_min(uint64* at, uint64 value) { return atomicMin_block(at, value); }
__device__ __forceinline__ int block_atomic_max(int* at, int value) { return atomicMax_block(at, value); }
// These by one instruction that has both fences in it: a fence after it would be one more.
__device__ __forceinline__ int block_arrive(int* at) {
    int old;
    asm volatile("atom.acq_rel.cta.shared.add.u32 %0, [%1], 1;"
                 : "=r"(old)
                 : "r"((unsigned)__cvta_generic_to_shared(at))
                 : "memory");
    return old;
}
__device__ __forceinline__ int block_atomic_exchange(int* at, int value) {
    int old;
    asm volatile("atom.acq_rel.cta.shared.exch.b32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"((unsigned)__cvta_generic_to_shared(at)), "r"(value)
                 : "memory");
    return old;
}
// The lanes that are here together, as NVIDIA's "Using CUDA warp-level primitives" has it: whichever they are, the sum
// is right. Lanes at several places add for themselves, which nothing waits for: to sort them out takes longer.
__device__ __forceinline__ unsigned sum_of_lanes(unsigned here, unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(here, value);
#else
    unsigned sum = 0;
    for (unsigned rest = here; rest != 0u; rest &= rest - 1u) sum += __shfl_sync(here, value, __ffs((int)rest) - 1);
    return sum;
#endif
}
__device__ __forceinline__ void gathered_add_both(uint64* at, unsigned low, unsigned high, int shift) {
    const unsigned here = __activemask();
    int is_one_place;
    __match_all_sync(here, (uint64)at, &is_one_place);
    if (!is_one_place) {
        atomicAdd(at, low | (uint64)high << shift);
        return;
    }
    const uint64 sum = sum_of_lanes(here, low) | (uint64)sum_of_lanes(here, high) << shift;
    if ((threadIdx.x & 31u) == (unsigned)__ffs((int)here) - 1u) atomicAdd(at, sum);
}
__device__ __forceinline__ void gathered_add(uint64* at, unsigned value) {
    const unsigned here = __activemask();
    int is_one_place;
    __match_all_sync(here, (uint64)at, &is_one_place);
    if (!is_one_place) {
        atomicAdd(at, (uint64)value);
        return;
    }
    const unsigned sum = sum_of_lanes(here, value);
    if ((threadIdx.x & 31u) == (unsigned)__ffs((int)here) - 1u) atomicAdd(at, (uint64)sum);
}
#endif

// A float as an integer of the same order, and back.
__device__ __forceinline__ int ordered_int(float value) {
    const int bits = __float_as_int(value + 0.0f);
    return bits >= 0 ? bits : bits ^ 0x7fffffff;
}
__device__ __forceinline__ float ordered_float(int ordered) {
    return __int_as_float(ordered >= 0 ? ordered : ordered ^ 0x7fffffff);
}

// Extremes of floats kept as ordered integers: start them with ordered_int(FLOAT_MAX) or ordered_int(-FLOAT_MAX).
__device__ __forceinline__ void atomic_min_float(int* at, float value) { atomic_min(at, ordered_int(value)); }
__device__ __forceinline__ void atomic_max_float(int* at, float value) { atomic_max(at, ordered_int(value)); }
