// Affine transforms and rotations. Matrices are three rows of four floats (row-major, column vectors: p' = M p),
// quaternions x, y, z, w.
//
// The few transcendental values are polynomials of ours, so that every target computes the same bits where it does not
// contract.
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/vec.cuh"

struct Affine {
    float3 row[3];
    float3 origin;
};

__device__ __forceinline__ float3 transform_vector(const Affine& m, float3 v) {
    return make_float3(dot(m.row[0], v), dot(m.row[1], v), dot(m.row[2], v));
}
__device__ __forceinline__ float3 transform_point(const Affine& m, float3 p) {
    return transform_vector(m, p) + m.origin;
}

__device__ __forceinline__ Affine load_affine(const float* rows, int index) {
    const float* at = rows + 12 * (int64)index;
    return {{make_float3(at[0], at[1], at[2]), make_float3(at[4], at[5], at[6]), make_float3(at[8], at[9], at[10])},
            make_float3(at[3], at[7], at[11])};
}
__device__ __forceinline__ void store_affine(float* rows, int index, const Affine& m) {
    float* at = rows + 12 * (int64)index;
    const float origin[3] = {m.origin.x, m.origin.y, m.origin.z};
    for (int i = 0; i < 3; ++i) {
        at[4 * i] = m.row[i].x;
        at[4 * i + 1] = m.row[i].y;
        at[4 * i + 2] = m.row[i].z;
        at[4 * i + 3] = origin[i];
    }
}

// outer * inner: first `inner`, then `outer`.
__device__ __forceinline__ Affine multiply(const Affine& outer, const Affine& inner) {
    Affine product;
    for (int i = 0; i < 3; ++i)
        product.row[i] = inner.row[0] * outer.row[i].x + inner.row[1] * outer.row[i].y + inner.row[2] * outer.row[i].z;
    product.origin = transform_point(outer, inner.origin);
    return product;
}

// The matrix that turns normals: the cofactors, with the determinant's sign, so that normals keep their side under
// mirroring.
__device__ __forceinline__ Affine normal_transform(const Affine& m) {
    const float3 a = cross(m.row[1], m.row[2]), b = cross(m.row[2], m.row[0]), c = cross(m.row[0], m.row[1]);
    const float sign = dot(m.row[0], a) < 0.0f ? -1.0f : 1.0f;
    return {{a * sign, b * sign, c * sign}, make_float3(0.0f, 0.0f, 0.0f)};
}

__device__ __forceinline__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ __forceinline__ float4 blend(float4 a, float s, float4 b, float t) {
    return make_float4(a.x * s + b.x * t, a.y * s + b.y * t, a.z * s + b.z * t, a.w * s + b.w * t);
}
__device__ __forceinline__ float4 normalize(float4 a) {
    const float squared = dot(a, a);
    return squared > 0.0f ? blend(a, 1.0f / sqrtf(squared), a, 0.0f) : make_float4(0.0f, 0.0f, 0.0f, 1.0f);
}

// sin on [0, pi / 2]: Taylor's polynomial, error below 6e-8.
__device__ __forceinline__ float sin_first_quadrant(float x) {
    const float s = x * x;
    return x * (1.0f +
                s * (-1.0f / 6 + s * (1.0f / 120 + s * (-1.0f / 5040 + s * (1.0f / 362880 - s * (1.0f / 39916800))))));
}
// asin on [0, 0.3827]: its series, error below 1e-7.
__device__ __forceinline__ float asin_small(float x) {
    const float s = x * x;
    return x *
           (1.0f + s * (1.0f / 6 + s * (3.0f / 40 + s * (15.0f / 336 + s * (105.0f / 3456 + s * (945.0f / 42240))))));
}

// The shorter way round between two unit quaternions (Shoemake 1985); nearly equal ones are blended linearly.
__device__ __forceinline__ float4 slerp(float4 a, float4 b, float t) {
    if (dot(a, b) < 0.0f) b = blend(b, -1.0f, b, 0.0f);
    const float4 chord = blend(b, 1.0f, a, -1.0f);
    const float half_sine = min(0.5f * sqrtf(dot(chord, chord)), 0.70710678f);
    if (half_sine < LEAST_TURN) return normalize(blend(a, 1.0f - t, b, t));
    const float half_cosine = sqrtf(1.0f - half_sine * half_sine);
    const float angle = 4.0f * asin_small(half_sine / sqrtf(2.0f * (1.0f + half_cosine)));
    const float sine = 2.0f * half_sine * half_cosine;
    return normalize(blend(a, sin_first_quadrant((1.0f - t) * angle) / sine, b, sin_first_quadrant(t * angle) / sine));
}

__device__ __forceinline__ Affine compose(float3 translation, float4 rotation, float3 scale) {
    const float4 q = normalize(rotation);
    const float x2 = q.x * 2.0f, y2 = q.y * 2.0f, z2 = q.z * 2.0f;
    const float xx = q.x * x2, yy = q.y * y2, zz = q.z * z2, xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    const float wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return {
        {make_float3(1.0f - yy - zz, xy - wz, xz + wy) * scale, make_float3(xy + wz, 1.0f - xx - zz, yz - wx) * scale,
         make_float3(xz - wy, yz + wx, 1.0f - xx - yy) * scale},
        translation};
}
