// Asks for memory that a loop will need some rounds later. On CUDA other warps hide the latency, and a hint would only cost an instruction.
#pragma once

constexpr int PREFETCH_POINTS_AHEAD = 8, PREFETCH_INDICES_AHEAD = 16;

#ifdef CUDA_ON_HOST
__device__ void prefetch(const void* at) { __builtin_prefetch(at); }
#else
__device__ __forceinline__ void prefetch(const void*) {}
#endif
