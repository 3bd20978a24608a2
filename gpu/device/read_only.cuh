// Loads of what nobody writes meanwhile: on CUDA through the read-only cache, which is the textures' own.
#pragma once

#ifdef CUDA_ON_HOST
template <class Value>
inline Value load_read_only(const Value* at) {
    return *at;
}
#else
template <class Value>
__device__ __forceinline__ Value load_read_only(const Value* at) {
    return __ldg(at);
}
#endif
