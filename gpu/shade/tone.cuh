// From linear colours without a bound to those of a screen, in lane packs.
// from gpu.shade.film import TONES
#pragma once
#include "gpu/trace/hit_point.cuh"

// Light L becomes L / (1 + L), its hue stays (Reinhard et al., Photographic Tone Reproduction for Digital Images,
// 2002).
__device__ __forceinline__ Real3 tone_reinhard(Real3 color) {
    const Real light = color.x * splat(0.2126f) + color.y * splat(0.7152f) + color.z * splat(0.0722f);
    return color * (splat(1.0f) / (splat(1.0f) + max(light, splat(0.0f))));
}
// A fit of the ACES reference curve (Narkowicz, ACES Filmic Tone Mapping Curve, 2015): a foot, a straight part, a
// shoulder; bright colours bleach.
__device__ __forceinline__ Real tone_filmic(Real x) {
    x = min(max(x, splat(0.0f)), splat(1e8f));
    return (x * (x * splat(2.51f) + splat(0.03f))) / (x * (x * splat(2.43f) + splat(0.59f)) + splat(0.14f));
}
__device__ __forceinline__ Real3 toned(int tone, Real3 color) {
    if (tone == TONES::reinhard) return tone_reinhard(color);
    if (tone == TONES::filmic) return {tone_filmic(color.x), tone_filmic(color.y), tone_filmic(color.z)};
    return color;
}
