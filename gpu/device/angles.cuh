// Sine and cosine in lane packs: polynomials of ours, so that every target computes alike.
#pragma once
#include "gpu/device/color.cuh"
#include "gpu/device/epsilons.cuh"

struct SineCosine {
    Real sine, cosine;
};
// Of 2 pi times `turns` in [0, 1], error below 2e-7: by the nearest quarter turn and Taylor's series of what is left,
// at most an eighth of a turn.
__device__ __forceinline__ SineCosine sine_and_cosine(Real turns) {
    const Real quarters = turns * splat(4.0f);
    const Int quarter = truncated(quarters + splat(0.5f));
    const Real x = (quarters - to_real(quarter)) * splat(0.5f * PI), s = x * x;
    const Real sine = x * (splat(1.0f) + s * (splat(-1.66666667e-1f) +
                                              s * (splat(8.33333333e-3f) +
                                                   s * (splat(-1.98412698e-4f) + s * splat(2.75573192e-6f)))));
    const Real cosine = splat(1.0f) +
                        s * (splat(-0.5f) +
                             s * (splat(4.16666667e-2f) + s * (splat(-1.38888889e-3f) + s * splat(2.48015873e-5f))));
    const Mask is_odd = (quarter & 1) == splat_int(1), is_sine_negative = (quarter & 2) == splat_int(2);
    const Mask is_cosine_negative = ((quarter + 1) & 2) == splat_int(2);
    const Real first = select(is_odd, cosine, sine), second = select(is_odd, sine, cosine);
    return {select(is_sine_negative, -first, first), select(is_cosine_negative, -second, second)};
}

// The angle of (x, y) in turns, [0, 1): the series of atan around 0 and a quarter turn, error below 1e-6.
__device__ __forceinline__ Real turns_of(Real x, Real y) {
    const Real a = lanes_abs(x), b = lanes_abs(y);
    const Real large = max(max(a, b), splat(LEAST_DIVISOR)), small = min(a, b);
    const Real t = small / large;
    // atan(t) = atan(1/2) + atan((t - 1/2) / (1 + t/2)) keeps the argument within [-1/2, 1/3].
    const Real r = (t - splat(0.5f)) / (splat(1.0f) + t * splat(0.5f)), s = r * r;
    const Real series = r * (splat(1.0f) -
                             s * (splat(1.0f / 3) -
                                  s * (splat(0.2f) - s * (splat(1.0f / 7) -
                                                          s * (splat(1.0f / 9) -
                                                               s * (splat(1.0f / 11) -
                                                                    s * (splat(1.0f / 13) - s * splat(1.0f / 15))))))));
    const Real eighth = (splat(0.463647609f) + series) * splat(0.5f / PI);
    const Real quarter = select(a < b, splat(0.25f) - eighth, eighth);
    const Real half_turn = select(x < splat(0.0f), splat(0.5f) - quarter, quarter);
    const Real whole = select(y < splat(0.0f), splat(1.0f) - half_turn, half_turn);
    return select(whole < splat(1.0f), whole, splat(0.0f));
}
