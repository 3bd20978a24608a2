// Cartesian expansions of the softened potential G(r) = (r^2 + e^2)^(-1/2), to a total order that is known when a unit
// is compiled. A term is a power (i, j, k) of x, y and z; terms stand in order of i + j + k.
//
// Of bodies at d_b from a centre: multipoles M_n = sum of m_b (-d_b)^n / n!, and at R from the centre the potential is
// -(sum of M_n D_n(R)), D_n the n-th derivatives of G. Around another centre: L_k = sum of M_n D_(n + k), and at s from
// it the potential is -(sum of L_k s^k / k!). All sums end at the same total order |n| + |k|, so that two cells attract
// one another by opposite forces, and momentum is kept (Dehnen, A Hierarchical O(N) Force Calculation Algorithm, 2002).
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/device/lanes.cuh"

// -- terms ----------------------------------------------------------------------------------------------
constexpr __device__ int terms_to(int order) { return (order + 1) * (order + 2) * (order + 3) / 6; }
constexpr __device__ int order_of(int term) {
    int order = 0;
    while (terms_to(order) <= term) ++order;
    return order;
}
constexpr __device__ int term_at(int x, int y, int z) {
    return terms_to(x + y + z - 1) + (y + z) * (y + z + 1) / 2 + z;
}
struct Power {
    int x, y, z;
};
constexpr __device__ Power power_of(int term) {
    const int order = order_of(term), place = term - terms_to(order - 1);
    int others = 0;  // y + z
    while ((others + 1) * (others + 2) / 2 <= place) ++others;
    const int z = place - others * (others + 1) / 2;
    return {order - others, others - z, z};
}
constexpr __device__ int term_sum(int a, int b) {
    return term_at(power_of(a).x + power_of(b).x, power_of(a).y + power_of(b).y, power_of(a).z + power_of(b).z);
}
// The axis along which a term has its first power, that power, and the term with one less of it (-1: none).
constexpr __device__ int axis_of(int term) { return power_of(term).x > 0 ? 0 : power_of(term).y > 0 ? 1 : 2; }
constexpr __device__ int along(Power power, int axis) { return axis == 0 ? power.x : axis == 1 ? power.y : power.z; }
constexpr __device__ int lowered(int term, int axis) {
    const Power power = power_of(term);
    if (along(power, axis) == 0) return -1;
    return term_at(power.x - (axis == 0), power.y - (axis == 1), power.z - (axis == 2));
}
constexpr __device__ int raised(int term, int axis) {
    const Power power = power_of(term);
    return term_at(power.x + (axis == 0), power.y + (axis == 1), power.z + (axis == 2));
}

// -- loops that are unrolled whatever the compiler thinks of it -----------------------------------------
template <int NUMBER>
struct Constant {
    static constexpr int value = NUMBER;
};
template <int FIRST, int LAST, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
    if constexpr (LAST - FIRST == 1) {
        body(Constant<FIRST>());
    } else if constexpr (LAST > FIRST) {
        unrolled<FIRST, (FIRST + LAST) / 2>(body);
        unrolled<(FIRST + LAST) / 2, LAST>(body);
    }
}

// sum[term] += a[other] * b[term + other] for all terms to ORDER together: M2L.
template <int ORDER, int SUM_ORDER, class Number>
__device__ __forceinline__ void contract(Number* sum, const Number* a, const Number* b) {
    unrolled<0, terms_to(SUM_ORDER)>([&](auto k) {
        constexpr int term = decltype(k)::value;
        unrolled<0, terms_to(ORDER - order_of(term))>([&](auto n) {
            constexpr int other = decltype(n)::value, both = term_sum(term, other);
            sum[term] = lanes_fma(a[other], b[both], sum[term]);
        });
    });
}

// s^k / k! of all terms.
template <int ORDER>
__device__ __forceinline__ void scaled_powers(float3 s, float* powers) {
    const float axes[3] = {s.x, s.y, s.z};
    powers[0] = 1.0f;
    unrolled<1, terms_to(ORDER)>([&](auto k) {
        constexpr int term = decltype(k)::value, axis = axis_of(term), less = lowered(term, axis);
        powers[term] = powers[less] * (axes[axis] * (1.0f / along(power_of(term), axis)));
    });
}

// Multipoles about one centre -> what they add about another one, `shift` = old - new: M2M. Sums grow.
template <int ORDER>
__device__ __forceinline__ void shift_multipoles(const float* from, float3 shift, float* to) {
    float powers[terms_to(ORDER)];
    scaled_powers<ORDER>(-shift, powers);
    unrolled<0, terms_to(ORDER)>([&](auto k) {
        constexpr int term = decltype(k)::value;
        unrolled<0, terms_to(ORDER - order_of(term))>([&](auto n) {
            constexpr int other = decltype(n)::value, both = term_sum(term, other);
            to[both] += from[term] * powers[other];
        });
    });
}

// A local expansion about one centre -> what it is about another one, `shift` = new - old: L2L. Sums grow.
template <int ORDER>
__device__ __forceinline__ void shift_local(const float* from, float3 shift, float* to) {
    float powers[terms_to(ORDER)];
    scaled_powers<ORDER>(shift, powers);
    contract<ORDER, ORDER>(to, (const float*)powers, from);
}

// D_n at (x, y, z) for all terms to ORDER. From h_0 = G, h_(m + 1) = -(2 m + 1) h_m / (r^2 + e^2) and
// D_(n + e)h_m = x D_n h_(m + 1) + n D_(n - e) h_(m + 1) along an axis e; terms of higher order are written first, as
// those of h_(m + 1) that they are made of have lower ones.
template <int ORDER>
__device__ __forceinline__ void derivatives(Real x, Real y, Real z, float softening2, Real* d) {
    const Real axes[3] = {x, y, z};
    const Real squared = lanes_fma(x, x, lanes_fma(y, y, lanes_fma(z, z, splat(softening2))));
    const Real inverse2 = splat(1.0f) / max(squared, splat(LEAST_SEPARATION2));
    Real radial[ORDER + 1];
    radial[0] = lanes_sqrt(inverse2);
    unrolled<0, ORDER>([&](auto i) {
        constexpr int m = decltype(i)::value;
        radial[m + 1] = radial[m] * inverse2 * (-(2.0f * m + 1.0f));
    });
    d[0] = radial[ORDER];
    unrolled<1, ORDER + 1>([&](auto i) {
        constexpr int m = ORDER - decltype(i)::value, count = terms_to(ORDER - m);
        unrolled<1, count>([&](auto j) {
            constexpr int term = count - decltype(j)::value, axis = axis_of(term), less = lowered(term, axis);
            constexpr int lesser = lowered(less, axis);
            Real value = axes[axis] * d[less];
            if constexpr (lesser >= 0) value = value + d[lesser] * (float)(along(power_of(term), axis) - 1);
            d[term] = value;
        });
        d[0] = radial[m];
    });
}
