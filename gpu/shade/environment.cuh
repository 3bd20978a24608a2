// Light from far away: a picture of all directions (equirectangular: row 0 straight up, its middle column along -z),
// and directions chosen by its brightness: first a row, then a column of it, by tables of sums (Pharr, Jakob and
// Humphreys 2016, 14.2.4). In lane packs.
// from gpu.shade.environment import EnvironmentArrays
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/device/epsilons.cuh"
#include "gpu/trace/hit_point.cuh"

struct EnvironmentView : EnvironmentArrays {
    __device__ __forceinline__ bool is_there() const { return width > 0; }
};
struct EnvironmentChoice {
    Real3 towards, radiance;
    Real density;
};

// Where a direction lies in the picture: [0, 1) to the right and down.
struct SkyPlace {
    Real x, y, sine;
};
__device__ __forceinline__ SkyPlace sky_place(const EnvironmentView& e, Real3 d) {
    const Real side = lanes_sqrt(d.x * d.x + d.z * d.z);
    const Real across = fraction_of(turns_of(-d.z, d.x) + splat(0.5f + e.turn));
    return {across, min(turns_of(d.y, side) * splat(2.0f), splat(BELOW_ONE)), side};
}
// The row or column of `count` that a share of them is in, whatever a direction without length makes of it.
__device__ __forceinline__ Int sky_line(Real share, int count) {
    const Int line = truncated(min(max(share, splat(0.0f)) * splat((float)count), splat((float)count - 0.5f)));
    const Int inside = select(line < splat_int(count), line, splat_int(count - 1));
    return select(inside < splat_int(0), splat_int(0), inside);
}
__device__ Real3 environment_radiance(const EnvironmentView& e, Real3 direction) {
    const SkyPlace at = sky_place(e, direction);
    return gather3(e.texels, sky_line(at.y, e.height) * splat_int(e.width) + sky_line(at.x, e.width)) *
           splat(e.strength);
}
__device__ __forceinline__ Real share_of(const float* sums, Int first, Int place) {
    const Mask is_first = place < splat_int(1);
    const Real before = gather(sums, first + select(is_first, splat_int(0), place - splat_int(1)));
    return max(gather(sums, first + place) - select(is_first, splat(0.0f), before), splat(0.0f));
}
// A texel fills 2 pi^2 sine / (width height) of the sphere.
__device__ __forceinline__ Real texel_density(const EnvironmentView& e, Int row, Int column, Real sine) {
    const Real share = share_of(e.rows, splat_int(0), row) * share_of(e.columns, row * splat_int(e.width), column);
    return share * splat((float)e.width * (float)e.height / (2.0f * PI * PI)) / max(sine, splat(LEAST_COSINE));
}
__device__ Real environment_density(const EnvironmentView& e, Real3 direction) {
    const SkyPlace at = sky_place(e, direction);
    const Int row = sky_line(at.y, e.height), column = sky_line(at.x, e.width);
    return texel_density(e, row, column, at.sine);
}
// The first place of an ascending table of sums whose value is larger than each lane's, at most `count` - 1.
__device__ __forceinline__ Int place_in_sums(const float* sums, Int first, int count, Real value) {
    Int low = splat_int(0), high = splat_int(count - 1);
    for (int width = count; width > 0; width >>= 1) {
        const Int middle = (low + high) >> 1;
        const Mask is_above = value < gather(sums, first + middle);
        low = select(is_above, low, select(middle < high, middle + splat_int(1), high));
        high = select(is_above, middle, high);
    }
    return high;
}
// A row by `choice`, a column by u, and a place in that texel by v and what is left of the others.
__device__ EnvironmentChoice choose_direction(const EnvironmentView& e, Real choice, Real u, Real v) {
    const Int row = place_in_sums(e.rows, splat_int(0), e.height, choice);
    const Int first = row * splat_int(e.width);
    const Int column = place_in_sums(e.columns, first, e.width, u);
    const Real share = share_of(e.columns, first, column);
    const Real before = gather(e.columns, first + column) - share;
    const Real inside = min(max((u - before) / max(share, splat(LEAST_SHARE)), splat(0.0f)), splat(BELOW_TEXEL));
    const Real x = fraction_of((to_real(column) + inside) * splat(1.0f / (float)e.width) - splat(e.turn) + splat(1.0f));
    const Real y = (to_real(row) + v) * splat(1.0f / (float)e.height);
    const SineCosine height = sine_and_cosine(y * splat(0.5f)), turn = sine_and_cosine(x);
    // x = 1/2 is -z, growing to the right, that is towards +x.
    const Real3 towards = {-height.sine * turn.sine, height.cosine, height.sine * turn.cosine};
    return {towards, gather3(e.texels, first + column) * splat(e.strength), texel_density(e, row, column, height.sine)};
}
