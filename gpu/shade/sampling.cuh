// Points of the unit square moved onto the half sphere around a normal, evenly or by the cosine.
#pragma once
#include "gpu/device/angles.cuh"
#include "gpu/device/random.cuh"
#include "gpu/trace/hit_point.cuh"

// Two directions that stand on a unit vector and on each other (Duff et al., Building an Orthonormal Basis, Revisited,
// 2017).
struct Basis {
    Real3 tangent, bitangent, normal;
};
__device__ __forceinline__ Basis basis_around(Real3 n) {
    const Real sign = select(n.z < splat(0.0f), splat(-1.0f), splat(1.0f));
    const Real a = splat(-1.0f) / (sign + n.z), b = n.x * n.y * a;
    return {{splat(1.0f) + sign * n.x * n.x * a, sign * b, -sign * n.x}, {b, sign + n.y * n.y * a, -n.y}, n};
}
__device__ __forceinline__ Real3 along(const Basis& basis, Real x, Real y, Real z) {
    return basis.tangent * x + basis.bitangent * y + basis.normal * z;
}

// Density 1 / (2 pi): the share of the half sphere above a height falls as the height grows.
__device__ __forceinline__ Real3 uniform_direction(const Basis& basis, Sample2d sample) {
    const SineCosine angle = sine_and_cosine(sample.y);
    const Real radius = lanes_sqrt(sample.x * (splat(2.0f) - sample.x));
    return along(basis, radius * angle.cosine, radius * angle.sine, splat(1.0f) - sample.x);
}
// Density cosine / pi: a point of the disc, moved up (Malley).
__device__ __forceinline__ Real3 cosine_direction(const Basis& basis, Sample2d sample) {
    const SineCosine angle = sine_and_cosine(sample.y);
    const Real radius = lanes_sqrt(sample.x);
    return along(basis, radius * angle.cosine, radius * angle.sine, lanes_sqrt(splat(1.0f) - sample.x));
}
