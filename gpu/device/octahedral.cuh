// Directions as two numbers in [0, 1]: the sphere is unfolded over an octahedron to a square (Cigolle and others, A
// Survey of Efficient Representations for Independent Unit Vectors, 2014). In lane packs; gpu/octahedral.py is the same
// on the host.
#pragma once
#include "gpu/device/lanes.cuh"

struct OctahedralPlace {
    Real u, v;
};
struct OctahedralDirection {
    Real x, y, z;
};
// Of a vector of any length but 0.
__device__ __forceinline__ OctahedralPlace octahedral_place(Real x, Real y, Real z) {
    const Real scale = splat(1.0f) / (lanes_abs(x) + lanes_abs(y) + lanes_abs(z));
    const Real a = x * scale, b = y * scale, one = splat(1.0f), zero = splat(0.0f);
    const Real folded_a = select(a < zero, lanes_abs(b) - one, one - lanes_abs(b));
    const Real folded_b = select(b < zero, lanes_abs(a) - one, one - lanes_abs(a));
    const Mask is_below = z < zero;
    return {select(is_below, folded_a, a) * splat(0.5f) + splat(0.5f),
            select(is_below, folded_b, b) * splat(0.5f) + splat(0.5f)};
}
// Of unit length.
__device__ __forceinline__ OctahedralDirection octahedral_direction(Real u, Real v) {
    const Real a = u * splat(2.0f) - splat(1.0f), b = v * splat(2.0f) - splat(1.0f), zero = splat(0.0f);
    const Real z = splat(1.0f) - lanes_abs(a) - lanes_abs(b), below = max(-z, zero);
    const Real x = a + select(a < zero, below, -below), y = b + select(b < zero, below, -below);
    const Real scale = splat(1.0f) / lanes_sqrt(x * x + y * y + z * z);
    return {x * scale, y * scale, z * scale};
}
