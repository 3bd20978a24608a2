// Light as an expansion: vectors at Chebyshev points of a node's box (Fong and Darve, The Black-box Fast Multipole
// Method, 2009). As long as both cosines keep their signs, the kernel is a matrix between two vectors,
//
//     n_i . T(r) (A_j L_j n_j),    T(r) = -r r^T / (pi r^4),    r = x_j - x_i
//
// so what is sent is kept as sums of A L n (multipole), what arrives as the field F (local), and a point gathers n . F.
// A side of the box that is next to nothing beside the others has one point instead of ORDER: most surfaces are flat.
// A unit has the constant ORDER.
#pragma once
#include "gpu/radiosity/exchange.cuh"
#include "gpu/radiosity/nodes.cuh"

constexpr int PLACES = ORDER * ORDER * ORDER, PLACE_FLOATS = 9;  // x, y, z of red, of green, of blue
constexpr int PLACE_PACKS = (PLACES + PACK - 1) / PACK;
static_assert(ORDER >= 1 && ORDER <= 4, "chebyshev_place has as many");

// Of -1 to 1: cos((2 k + 1) pi / (2 ORDER)).
__device__ __forceinline__ float chebyshev_place(int k) {
    if (ORDER == 1) return 0.0f;
    if (ORDER == 2) return k == 0 ? 0.70710678f : -0.70710678f;
    if (ORDER == 3) return k == 0 ? 0.8660254f : k == 1 ? 0.0f : -0.8660254f;
    const float outer = 0.92387953f, inner = 0.38268343f;
    return k == 0 ? outer : k == 1 ? inner : k == 2 ? -inner : -outer;
}

struct ChebyshevBox {
    float3 centre, half;
    int3 counts;

    __device__ __forceinline__ int count() const { return counts.x * counts.y * counts.z; }
    __device__ __forceinline__ int3 at(int k) const {
        return make_int3(k % counts.x, k / counts.x % counts.y, k / (counts.x * counts.y));
    }
    __device__ __forceinline__ float3 place(int k) const { return place(at(k)); }
    __device__ __forceinline__ float3 place(int3 i) const {
        return make_float3(centre.x + (counts.x > 1 ? half.x * chebyshev_place(i.x) : 0.0f),
                           centre.y + (counts.y > 1 ? half.y * chebyshev_place(i.y) : 0.0f),
                           centre.z + (counts.z > 1 ? half.z * chebyshev_place(i.z) : 0.0f));
    }
    // How much of what is at a point belongs to place k: Lagrange's polynomial along each axis.
    __device__ __forceinline__ float weight(int k, float3 point) const {
        const int3 i = at(k);
        return weight_along(counts.x, i.x, point.x - centre.x, half.x) *
               weight_along(counts.y, i.y, point.y - centre.y, half.y) *
               weight_along(counts.z, i.z, point.z - centre.z, half.z);
    }
    __device__ __forceinline__ static float weight_along(int count, int k, float offset, float half) {
        if (count == 1) return 1.0f;
        const float t = offset / half, own = chebyshev_place(k);
        float product = 1.0f;
#pragma unroll
        for (int j = 0; j < ORDER; ++j) {
            if (j != k) product *= (t - chebyshev_place(j)) / (own - chebyshev_place(j));
        }
        return product;
    }
};
__device__ __forceinline__ ChebyshevBox chebyshev_box(const float4* shapes, int node) {
    const NodeShape s = load_shape(shapes, node);
    const float least = FLAT_SIDE * s.reach;
    return {s.centre, s.half,
            make_int3(s.half.x > least ? ORDER : 1, s.half.y > least ? ORDER : 1, s.half.z > least ? ORDER : 1)};
}

__device__ __forceinline__ int64 first_float(int node, int place) {
    return ((int64)node * PLACES + place) * PLACE_FLOATS;
}

// The field of three colours at a pack of places.
struct Field {
    Real3 red, green, blue;
};
__device__ __forceinline__ Field no_field() {
    return {splat3(0.0f, 0.0f, 0.0f), splat3(0.0f, 0.0f, 0.0f), splat3(0.0f, 0.0f, 0.0f)};
}
__device__ __forceinline__ Real dot(const float* v, Real3 r) {
    return splat(v[0]) * r.x + splat(v[1]) * r.y + splat(v[2]) * r.z;
}
__device__ __forceinline__ Real inverse_fourth(Real3 r) {
    const Real squared = dot(r, r);
    return fast_divide(splat(1.0f), max(squared * squared * splat(PI), splat(LEAST_DIVISOR)));
}
__device__ __forceinline__ void add_from(Field& field, const float* sent, float3 from, Real3 to, float seen) {
    const Real3 r = {splat(from.x) - to.x, splat(from.y) - to.y, splat(from.z) - to.z};
    const Real share = inverse_fourth(r) * splat(-seen);
    field.red = field.red + r * (dot(sent, r) * share);
    field.green = field.green + r * (dot(sent + 3, r) * share);
    field.blue = field.blue + r * (dot(sent + 6, r) * share);
}
// What arrives of a node, of which the share `seen` is not hidden. Its places one after the other, without a division
// for each.
__device__ __forceinline__ void add_from(Field& field, const ChebyshevBox& box, const float* multipole, Real3 to,
                                         float seen) {
    for (int z = 0; z < box.counts.z; ++z) {
        for (int y = 0; y < box.counts.y; ++y) {
            for (int x = 0; x < box.counts.x; ++x) {
                add_from(field, multipole, box.place(make_int3(x, y, z)), to, seen);
                multipole += PLACE_FLOATS;
            }
        }
    }
}
// Of one point, whose cosine is clamped.
__device__ __forceinline__ void add_from(Field& field, const float4& place, const float4& normal, const float4& sent,
                                         Real3 to, float seen) {
    const Real3 r = {splat(place.x) - to.x, splat(place.y) - to.y, splat(place.z) - to.z};
    const Real leaves = max(-(r.x * splat(normal.x) + r.y * splat(normal.y) + r.z * splat(normal.z)), splat(0.0f));
    const Real3 along_r = r * (leaves * inverse_fourth(r) * splat(seen));
    field.red = field.red + along_r * splat(sent.x);
    field.green = field.green + along_r * splat(sent.y);
    field.blue = field.blue + along_r * splat(sent.z);
}
// What points with these normals gather of it: nothing from behind.
__device__ __forceinline__ Real3 gathered_of(const Field& field, Real3 normal) {
    const Real none = splat(0.0f);
    return {max(dot(normal, field.red), none), max(dot(normal, field.green), none), max(dot(normal, field.blue), none)};
}
