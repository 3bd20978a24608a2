// Linear colours in lane packs, and the powers that shading needs: polynomials of ours, so that every target computes
// alike.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/lanes.cuh"

// The lowest lane of a mask, 0 of none.
__device__ __forceinline__ int lowest_lane(Mask mask) {
    const int place = __ffs((int)mask_bits(mask));
    return place > 0 ? place - 1 : 0;
}

// The part of a number above the next smaller whole one, in [0, 1); 0 where that is not known (beyond 2^22, infinite,
// not a number).
__device__ __forceinline__ Real fraction_of(Real value) {
    const Mask known = lanes_abs(value) < splat(4194304.0f);
    const Real bounded = select(known, value, splat(0.0f));
    const Real rest = bounded - to_real(truncated(bounded));
    const Real raised = select(rest < splat(0.0f), rest + splat(1.0f), rest);
    return select(raised < splat(1.0f), raised, splat(0.0f));
}

// log2 of a positive normal number, error below 1e-7 times its size: the mantissa in [0.707, 1.414) by the series of
// atanh.
__device__ __forceinline__ Real log2_of(Real value) {
    const Int bits = bits_of(value) - splat_int(0x3f3504f3);
    const Int exponent = bits >> 23;
    const Real mantissa = real_of_bits((bits & 0x007fffff) + splat_int(0x3f3504f3));
    const Real x = (mantissa - splat(1.0f)) / (mantissa + splat(1.0f)), s = x * x;
    const Real series = splat(2.885390082f) +
                        s * (splat(0.961796694f) + s * (splat(0.577078016f) + s * splat(0.412198583f)));
    return to_real(exponent) + x * series;
}

// 2 to the power of a number in [-126, 0]; smaller ones count as -126.
__device__ __forceinline__ Real exp2_of(Real power) {
    const Real bounded = max(power, splat(-126.0f));
    const Int whole = truncated(bounded);
    const Real x = bounded - to_real(whole);
    const Real series = splat(1.0f) + x * (splat(0.693147181f) +
                                           x * (splat(0.240226507f) +
                                                x * (splat(0.0555041087f) +
                                                     x * (splat(0.00961812911f) +
                                                          x * (splat(0.00133335581f) + x * splat(0.000154035304f))))));
    return series * real_of_bits((whole + splat_int(127)) << 23);
}

// base to the power of `exponent` for base in [0, 1] and exponent > 0.
__device__ __forceinline__ Real power_of(Real base, Real exponent) {
    return exp2_of(exponent * log2_of(max(base, splat(LEAST_DIVISOR))));
}

// A linear colour as 0 .. 255 in sRGB, exactly rounded. `first_level` has the level at the start of each of 4096 equal
// steps of [0, 1), `thresholds` the linear value from which a level holds; a step is so short that at most one
// threshold lies in it.
constexpr int ENCODE_STEPS = 4096;
__device__ __forceinline__ Int encode_srgb(Real linear, const uint8* first_level, const float* thresholds) {
    const Real bounded = min(max(linear, splat(0.0f)), splat(1.0f));
    const Int step = truncated(bounded * splat((float)ENCODE_STEPS)), last = splat_int(ENCODE_STEPS - 1);
    float values[PACK];
    int levels[PACK];  // steps before; lanes are looked up one by one from here, as each would come by way of memory
    store(values, bounded);
    store(levels, select(step < last, step, last));
    for (int i = 0; i < PACK; ++i) {
        const int level = first_level[levels[i]];
        levels[i] = level + (values[i] >= thresholds[level + 1] ? 1 : 0);
    }
    return load(levels);
}
