// Numbers that look random and lie evenly: hashes of whole numbers, and Sobol's first two dimensions with Owen's
// scrambling. In lane packs; the same bits on every target, because all of it is whole numbers until the last
// multiplication.
//
//     scrambled(bits)                                   a permutation of 32 bits without visible pattern
//     sample_1d, sample_2d(pixel, sample_index, dimension, seed)
//
// Any first 2^k samples per pixel cover [0, 1) in 2^k equal parts, and [0, 1)^2 in all 2^k boxes of equal size and
// shape: a film that ends anywhere is as even as can be. `dimension` tells apart what is sampled (a lens, a light, a
// bounce); different ones are independent, as different pixels are.
#pragma once
#include "gpu/device/lanes.cuh"

// A pack of unsigned numbers: Int is signed, and sums of it must not overflow.
#if RAYS_PER_THREAD > 1
struct Bits {
    typedef unsigned Native __attribute__((vector_size(4 * RAYS_PER_THREAD)));
    Native v;
};
inline Bits splat_bits(unsigned value) { return {value - Bits::Native{}}; }
inline Bits to_bits(Int value) { return {(Bits::Native)value.v}; }
inline Int to_int(Bits value) { return {(Int::Native)value.v}; }
inline Bits operator+(Bits a, Bits b) { return {a.v + b.v}; }
inline Bits operator*(Bits a, Bits b) { return {a.v * b.v}; }
inline Bits operator^(Bits a, Bits b) { return {a.v ^ b.v}; }
inline Bits operator|(Bits a, Bits b) { return {a.v | b.v}; }
inline Bits operator&(Bits a, Bits b) { return {a.v & b.v}; }
inline Bits operator>>(Bits a, Bits b) { return {a.v >> b.v}; }
inline Bits operator>>(Bits a, int bits) { return {a.v >> bits}; }
inline Bits operator<<(Bits a, int bits) { return {a.v << bits}; }
#else
typedef unsigned Bits;
__device__ __forceinline__ Bits splat_bits(unsigned value) { return value; }
__device__ __forceinline__ Bits to_bits(Int value) { return (unsigned)value; }
__device__ __forceinline__ Int to_int(Bits value) { return (int)value; }
#endif

// The output function of O'Neill's PCG, as a hash after Jarzynski and Olano (Hash Functions for GPU Rendering, 2020).
__device__ __forceinline__ unsigned scrambled(unsigned value) {
    const unsigned state = value * 747796405u + 2891336453u;
    const unsigned word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return word >> 22 ^ word;
}
#if RAYS_PER_THREAD > 1
inline Bits scrambled(Bits value) {
    const Bits state = value * splat_bits(747796405u) + splat_bits(2891336453u);
    const Bits word = ((state >> ((state >> 28) + splat_bits(4u))) ^ state) * splat_bits(277803737u);
    return (word >> 22) ^ word;
}
#endif

// Bit 0 becomes bit 31 and so on.
__device__ __forceinline__ Bits exchanged(Bits value, int distance, unsigned lower) {
    return ((value >> distance) & splat_bits(lower)) | ((value & splat_bits(lower)) << distance);
}
__device__ __forceinline__ Bits reversed(Bits value) {
    value = exchanged(exchanged(value, 1, 0x55555555u), 2, 0x33333333u);
    value = exchanged(exchanged(value, 4, 0x0f0f0f0fu), 8, 0x00ff00ffu);
    return (value >> 16) | (value << 16);
}

// Owen's scrambling of numbers whose bits are reversed: every bit changes by what stands below it alone (Laine and
// Karras, Stratified Sampling for Stochastic Transparency, 2011; Burley, Practical Hash-based Owen Scrambling, 2020;
// these multipliers by Vegdahl 2021).
__device__ __forceinline__ Bits owen_scrambled(Bits value, Bits seed) {
    value = value ^ value * splat_bits(0x3d20adeau);
    value = (value + seed) * ((seed >> 16) | splat_bits(1u));
    value = value ^ value * splat_bits(0x05526c56u);
    return value ^ value * splat_bits(0x53a22864u);
}

// Sobol's second dimension with its bits reversed: Pascal's triangle modulo 2 times the index, in five steps of its
// Kronecker product.
__device__ __forceinline__ Bits sobol_second(Bits index) {
    index = index ^ ((index >> 1) & splat_bits(0x55555555u));
    index = index ^ ((index >> 2) & splat_bits(0x33333333u));
    index = index ^ ((index >> 4) & splat_bits(0x0f0f0f0fu));
    index = index ^ ((index >> 8) & splat_bits(0x00ff00ffu));
    return index ^ ((index >> 16) & splat_bits(0x0000ffffu));
}

// [0, 1) by the upper 24 bits: exact.
__device__ __forceinline__ Real unit_real(Bits bits) { return to_real(to_int(bits >> 8)) * splat(1.0f / 16777216.0f); }

__device__ __forceinline__ Bits sequence_of(Int pixel, int dimension, int seed) {
    return scrambled(to_bits(pixel) ^ splat_bits(scrambled((unsigned)dimension ^ scrambled((unsigned)seed))));
}
// The place in the sequence that a sample has in this pixel and dimension: the order is scrambled, so that dimensions
// do not go side by side.
__device__ __forceinline__ Bits shuffled_index(int sample_index, Bits sequence) {
    return reversed(owen_scrambled(reversed(splat_bits((unsigned)sample_index)), sequence));
}

// `pixel` is any number that tells pixels apart (pixel_number); `sample_index` counts from 0 and is no negative number.
__device__ __forceinline__ Real sample_1d(Int pixel, int sample_index, int dimension, int seed) {
    const Bits sequence = sequence_of(pixel, dimension, seed);
    return unit_real(reversed(owen_scrambled(shuffled_index(sample_index, sequence), scrambled(sequence))));
}
struct Sample2d {
    Real x, y;
};
__device__ __forceinline__ Sample2d sample_2d(Int pixel, int sample_index, int dimension, int seed) {
    const Bits sequence = sequence_of(pixel, dimension, seed), first = scrambled(sequence), second = scrambled(first);
    const Bits index = shuffled_index(sample_index, sequence);
    return {unit_real(reversed(owen_scrambled(index, first))),
            unit_real(reversed(owen_scrambled(sobol_second(index), second)))};
}
__device__ __forceinline__ Int pixel_number(Int x, Int y) { return x | (y << 16); }
