// Asks for memory that a loop will need some rounds later. On CUDA other warps hide the latency, and a hint would only
// cost an instruction.
#pragma once

constexpr int PREFETCH_POINTS_AHEAD = 8, PREFETCH_INDICES_AHEAD = 16;

// Items that a thread reads whole before it writes the first: a compiler does not move loads before stores that might
// be to the same place.
#ifdef CUDA_ON_HOST
constexpr int READS_AT_ONCE = 1;
// The empty statement keeps GCC from taking functions that do nothing else for ones that do nothing at all.
__device__ __forceinline__ void prefetch(const void* at) {
    __builtin_prefetch(at);
    __asm__ volatile("" : : "r"(at));
}
#else
constexpr int READS_AT_ONCE = 2;
__device__ __forceinline__ void prefetch(const void*) {}
#endif
