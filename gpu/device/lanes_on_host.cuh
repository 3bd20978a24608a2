// Vectors of RAYS_PER_THREAD lanes by the compiler's vector extension; masks by what the processor has: AVX-512 mask
// registers, AVX2 blends, or plain loops of the compiler's choosing. Included by lanes.cuh alone.
#pragma once
#if defined(__AVX2__) || defined(__AVX512F__)
#include "gpu/device/intrinsics.cuh"
#endif

struct Real {
    typedef float Native __attribute__((vector_size(4 * RAYS_PER_THREAD)));
    Native v;
};
struct Int {
    typedef int Native __attribute__((vector_size(4 * RAYS_PER_THREAD)));
    Native v;
};

inline Real splat(float value) { return {value - Real::Native{}}; }
inline Int splat_int(int value) { return {value - Int::Native{}}; }
inline Real operator+(Real a, Real b) { return {a.v + b.v}; }
inline Real operator-(Real a, Real b) { return {a.v - b.v}; }
inline Real operator*(Real a, Real b) { return {a.v * b.v}; }
inline Real operator/(Real a, Real b) { return {a.v / b.v}; }
inline Real operator-(Real a) { return {-a.v}; }
inline Real operator+(Real a, float b) { return a + splat(b); }
inline Real operator-(Real a, float b) { return a - splat(b); }
inline Real operator*(Real a, float b) { return a * splat(b); }
inline Real operator/(Real a, float b) { return a / splat(b); }
inline Real operator*(float a, Real b) { return splat(a) * b; }
inline Real operator+(float a, Real b) { return splat(a) + b; }
inline Real operator-(float a, Real b) { return splat(a) - b; }
inline Real operator/(float a, Real b) { return splat(a) / b; }
inline Int operator+(Int a, Int b) { return {a.v + b.v}; }
inline Int operator-(Int a, Int b) { return {a.v - b.v}; }
inline Int operator*(Int a, Int b) { return {a.v * b.v}; }
inline Int operator&(Int a, Int b) { return {a.v & b.v}; }
inline Int operator|(Int a, Int b) { return {a.v | b.v}; }
inline Int operator+(Int a, int b) { return a + splat_int(b); }
inline Int operator&(Int a, int b) { return a & splat_int(b); }
inline Int operator<<(Int a, int bits) { return {a.v << bits}; }
inline Int operator>>(Int a, int bits) { return {a.v >> bits}; }
inline Int bits_of(Real value) { return {(Int::Native)value.v}; }
inline Real real_of_bits(Int bits) { return {(Real::Native)bits.v}; }
inline Int truncated(Real value) { return {__builtin_convertvector(value.v, Int::Native)}; }
inline Real to_real(Int value) { return {__builtin_convertvector(value.v, Real::Native)}; }

#if defined(__AVX512VPOPCNTDQ__) && RAYS_PER_THREAD == 16
inline Int lanes_popcount(Int a) { return {(Int::Native)_mm512_popcnt_epi32((__m512i)a.v)}; }
#elif defined(__AVX512VPOPCNTDQ__) && defined(__AVX512VL__) && RAYS_PER_THREAD == 8
inline Int lanes_popcount(Int a) { return {(Int::Native)_mm256_popcnt_epi32((__m256i)a.v)}; }
#else
// Sums of pairs, of fours and of bytes, unsigned, since the last product wraps.
inline Int lanes_popcount(Int a) {
    typedef unsigned Bits __attribute__((vector_size(4 * RAYS_PER_THREAD)));
    Bits bits = (Bits)a.v;
    bits -= bits >> 1 & 0x55555555u;
    bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
    bits = (bits + (bits >> 4)) & 0x0f0f0f0fu;
    return {(Int::Native)(bits * 0x01010101u >> 24)};
}
#endif

inline float lane(Real value, int i) { return value.v[i]; }
inline int lane(Int value, int i) { return value.v[i]; }
// Compilers take a lane by way of memory.
#if defined(__AVX512F__) && RAYS_PER_THREAD == 16
inline Real spread(Real value, int i) {
    return {(Real::Native)_mm512_permutexvar_ps(_mm512_set1_epi32(i), (__m512)value.v)};
}
#elif defined(__AVX2__) && RAYS_PER_THREAD == 8
inline Real spread(Real value, int i) {
    return {(Real::Native)_mm256_permutevar8x32_ps((__m256)value.v, _mm256_set1_epi32(i))};
}
#else
inline Real spread(Real value, int i) { return splat(value.v[i]); }
#endif
inline void set_lane(Real& value, int i, float x) { value.v[i] = x; }
inline void set_lane(Int& value, int i, int x) { value.v[i] = x; }
inline Real load(const float* at) {
    Real r;
    memcpy(&r.v, at, sizeof r.v);
    return r;
}
inline Int load(const int* at) {
    Int r;
    memcpy(&r.v, at, sizeof r.v);
    return r;
}
// Half a pack from each of two places, and a pack with its halves exchanged.
#if defined(__AVX512F__) && RAYS_PER_THREAD == 16
inline Real load_halves(const float* first, const float* second) {
    const __m512d low = _mm512_castpd256_pd512(_mm256_loadu_pd((const double*)first));
    return {(Real::Native)_mm512_castpd_ps(_mm512_insertf64x4(low, _mm256_loadu_pd((const double*)second), 1))};
}
inline Real swap_halves(Real value) {
    return {(Real::Native)_mm512_shuffle_f32x4((__m512)value.v, (__m512)value.v, 0x4e)};
}
#else
inline Real load_halves(const float* first, const float* second) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i)
        r.v[i] = 2 * i < RAYS_PER_THREAD ? first[i] : second[i - RAYS_PER_THREAD / 2];
    return r;
}
inline Real swap_halves(Real value) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = value.v[(i + RAYS_PER_THREAD / 2) % RAYS_PER_THREAD];
    return r;
}
#endif
// Lane i of all four is what lies at[i], at a multiple of 16 bytes. Four lanes per row, then each four by four
// exchanged.
#if defined(__AVX512F__) && RAYS_PER_THREAD == 16
inline void load_fours(const float4* const* at, Real& x, Real& y, Real& z, Real& w) {
    __m512 row[4];
    for (int i = 0; i < 4; ++i) {
        const __m512 first = _mm512_insertf32x4(_mm512_castps128_ps512(_mm_loadu_ps(&at[i]->x)),
                                                _mm_loadu_ps(&at[i + 4]->x), 1);
        row[i] = _mm512_insertf32x4(_mm512_insertf32x4(first, _mm_loadu_ps(&at[i + 8]->x), 2),
                                    _mm_loadu_ps(&at[i + 12]->x), 3);
    }
    const __m512 xy_01 = _mm512_unpacklo_ps(row[0], row[1]), zw_01 = _mm512_unpackhi_ps(row[0], row[1]);
    const __m512 xy_23 = _mm512_unpacklo_ps(row[2], row[3]), zw_23 = _mm512_unpackhi_ps(row[2], row[3]);
    x.v = (Real::Native)_mm512_shuffle_ps(xy_01, xy_23, 0x44);
    y.v = (Real::Native)_mm512_shuffle_ps(xy_01, xy_23, 0xee);
    z.v = (Real::Native)_mm512_shuffle_ps(zw_01, zw_23, 0x44);
    w.v = (Real::Native)_mm512_shuffle_ps(zw_01, zw_23, 0xee);
}
#elif defined(__AVX2__) && RAYS_PER_THREAD == 8
inline void load_fours(const float4* const* at, Real& x, Real& y, Real& z, Real& w) {
    __m256 row[4];
    for (int i = 0; i < 4; ++i)
        row[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(&at[i]->x)), _mm_loadu_ps(&at[i + 4]->x), 1);
    const __m256 xy_01 = _mm256_unpacklo_ps(row[0], row[1]), zw_01 = _mm256_unpackhi_ps(row[0], row[1]);
    const __m256 xy_23 = _mm256_unpacklo_ps(row[2], row[3]), zw_23 = _mm256_unpackhi_ps(row[2], row[3]);
    x.v = (Real::Native)_mm256_shuffle_ps(xy_01, xy_23, 0x44);
    y.v = (Real::Native)_mm256_shuffle_ps(xy_01, xy_23, 0xee);
    z.v = (Real::Native)_mm256_shuffle_ps(zw_01, zw_23, 0x44);
    w.v = (Real::Native)_mm256_shuffle_ps(zw_01, zw_23, 0xee);
}
#else
inline void load_fours(const float4* const* at, Real& x, Real& y, Real& z, Real& w) {
    for (int i = 0; i < RAYS_PER_THREAD; ++i) {
        x.v[i] = at[i]->x;
        y.v[i] = at[i]->y;
        z.v[i] = at[i]->z;
        w.v[i] = at[i]->w;
    }
}
#endif
inline void store(float* at, Real value) { memcpy(at, &value.v, sizeof value.v); }
inline void store(int* at, Int value) { memcpy(at, &value.v, sizeof value.v); }
inline Int lane_index() {
    Int r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = i;
    return r;
}
inline Real gather(Pointer<const float> values, Int index) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = values[index.v[i]];
    return r;
}

// -- masks -----------------------------------------------------------------------------------------------
#if defined(__AVX512F__) && defined(__AVX512VL__) && (RAYS_PER_THREAD == 16 || RAYS_PER_THREAD == 8)

struct Mask {
    unsigned bits;
};
inline unsigned mask_bits(Mask mask) { return mask.bits; }
inline Mask mask_from_bits(unsigned bits) { return {bits & PACK_BITS}; }
inline Mask operator&(Mask a, Mask b) { return {a.bits & b.bits}; }
inline Mask operator|(Mask a, Mask b) { return {a.bits | b.bits}; }
inline Mask operator!(Mask a) { return {~a.bits & PACK_BITS}; }
#if RAYS_PER_THREAD == 16
#define LANES_OP(name) _mm512_##name
typedef __m512 NativeReal;
typedef __m512i NativeInt;
typedef __mmask16 NativeMask;
#else
#define LANES_OP(name) _mm256_##name
typedef __m256 NativeReal;
typedef __m256i NativeInt;
typedef __mmask8 NativeMask;
#endif
inline Mask operator<(Real a, Real b) { return {LANES_OP(cmp_ps_mask)((NativeReal)a.v, (NativeReal)b.v, _CMP_LT_OQ)}; }
inline Mask operator<=(Real a, Real b) { return {LANES_OP(cmp_ps_mask)((NativeReal)a.v, (NativeReal)b.v, _CMP_LE_OQ)}; }
inline Mask operator==(Real a, Real b) { return {LANES_OP(cmp_ps_mask)((NativeReal)a.v, (NativeReal)b.v, _CMP_EQ_OQ)}; }
inline Mask operator==(Int a, Int b) {
    return {LANES_OP(cmp_epi32_mask)((NativeInt)a.v, (NativeInt)b.v, _MM_CMPINT_EQ)};
}
inline Mask operator<(Int a, Int b) {
    return {LANES_OP(cmp_epi32_mask)((NativeInt)a.v, (NativeInt)b.v, _MM_CMPINT_LT)};
}
inline Real select(Mask mask, Real a, Real b) {
    return {(Real::Native)LANES_OP(mask_blend_ps)((NativeMask)mask.bits, (NativeReal)b.v, (NativeReal)a.v)};
}
inline Int select(Mask mask, Int a, Int b) {
    return {(Int::Native)LANES_OP(mask_blend_epi32)((NativeMask)mask.bits, (NativeInt)b.v, (NativeInt)a.v)};
}
inline Real min(Real a, Real b) { return {(Real::Native)LANES_OP(min_ps)((NativeReal)a.v, (NativeReal)b.v)}; }
inline Real max(Real a, Real b) { return {(Real::Native)LANES_OP(max_ps)((NativeReal)a.v, (NativeReal)b.v)}; }
inline Real lanes_sqrt(Real a) { return {(Real::Native)LANES_OP(sqrt_ps)((NativeReal)a.v)}; }
inline Real lanes_floor(Real a) {
    return {(Real::Native)LANES_OP(roundscale_ps)((NativeReal)a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
inline Real lanes_ceil(Real a) {
    return {(Real::Native)LANES_OP(roundscale_ps)((NativeReal)a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)};
}
inline Real lanes_fma(Real a, Real b, Real c) {
    return {(Real::Native)LANES_OP(fmadd_ps)((NativeReal)a.v, (NativeReal)b.v, (NativeReal)c.v)};
}

#elif defined(__AVX2__) && RAYS_PER_THREAD == 8

struct Mask {
    __m256 v;
};
inline unsigned mask_bits(Mask mask) { return (unsigned)_mm256_movemask_ps(mask.v); }
inline Mask mask_from_bits(unsigned bits) {
    const __m256i lane_bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return {
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)bits), lane_bits), lane_bits))};
}
inline Mask operator&(Mask a, Mask b) { return {_mm256_and_ps(a.v, b.v)}; }
inline Mask operator|(Mask a, Mask b) { return {_mm256_or_ps(a.v, b.v)}; }
inline Mask operator!(Mask a) { return {_mm256_xor_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(-1)))}; }
inline Mask operator<(Real a, Real b) { return {_mm256_cmp_ps((__m256)a.v, (__m256)b.v, _CMP_LT_OQ)}; }
inline Mask operator<=(Real a, Real b) { return {_mm256_cmp_ps((__m256)a.v, (__m256)b.v, _CMP_LE_OQ)}; }
inline Mask operator==(Real a, Real b) { return {_mm256_cmp_ps((__m256)a.v, (__m256)b.v, _CMP_EQ_OQ)}; }
inline Mask operator==(Int a, Int b) { return {(__m256)(a.v == b.v)}; }
inline Mask operator<(Int a, Int b) { return {(__m256)(a.v < b.v)}; }
inline Real select(Mask mask, Real a, Real b) {
    return {(Real::Native)_mm256_blendv_ps((__m256)b.v, (__m256)a.v, mask.v)};
}
inline Int select(Mask mask, Int a, Int b) { return {(Int::Native)_mm256_blendv_ps((__m256)b.v, (__m256)a.v, mask.v)}; }
inline Real min(Real a, Real b) { return {(Real::Native)_mm256_min_ps((__m256)a.v, (__m256)b.v)}; }
inline Real max(Real a, Real b) { return {(Real::Native)_mm256_max_ps((__m256)a.v, (__m256)b.v)}; }
inline Real lanes_sqrt(Real a) { return {(Real::Native)_mm256_sqrt_ps((__m256)a.v)}; }
inline Real lanes_floor(Real a) {
    return {(Real::Native)_mm256_round_ps((__m256)a.v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)};
}
inline Real lanes_ceil(Real a) {
    return {(Real::Native)_mm256_round_ps((__m256)a.v, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC)};
}
#ifdef __FMA__
inline Real lanes_fma(Real a, Real b, Real c) {
    return {(Real::Native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v)};
}
#else
inline Real lanes_fma(Real a, Real b, Real c) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    return r;
}
#endif

#else

struct Mask {
    Int::Native v;
};
inline unsigned mask_bits(Mask mask) {
    unsigned bits = 0;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) bits |= (unsigned)(mask.v[i] & 1) << i;
    return bits;
}
inline Mask mask_from_bits(unsigned bits) {
    Mask r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = (bits >> i & 1u) ? -1 : 0;
    return r;
}
inline Mask operator&(Mask a, Mask b) { return {a.v & b.v}; }
inline Mask operator|(Mask a, Mask b) { return {a.v | b.v}; }
inline Mask operator!(Mask a) { return {~a.v}; }
inline Mask operator<(Real a, Real b) { return {a.v < b.v}; }
inline Mask operator<=(Real a, Real b) { return {a.v <= b.v}; }
inline Mask operator==(Real a, Real b) { return {a.v == b.v}; }
inline Mask operator==(Int a, Int b) { return {a.v == b.v}; }
inline Mask operator<(Int a, Int b) { return {a.v < b.v}; }
inline Real select(Mask mask, Real a, Real b) { return {mask.v ? a.v : b.v}; }
inline Int select(Mask mask, Int a, Int b) { return {mask.v ? a.v : b.v}; }
inline Real min(Real a, Real b) { return {a.v < b.v ? a.v : b.v}; }
inline Real max(Real a, Real b) { return {a.v > b.v ? a.v : b.v}; }
inline Real lanes_sqrt(Real a) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = sqrtf(a.v[i]);
    return r;
}
inline Real lanes_floor(Real a) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = floorf(a.v[i]);
    return r;
}
inline Real lanes_ceil(Real a) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = ceilf(a.v[i]);
    return r;
}
inline Real lanes_fma(Real a, Real b, Real c) {
    Real r;
    for (int i = 0; i < RAYS_PER_THREAD; ++i) r.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
    return r;
}
#endif

inline Mask splat_mask(bool value) { return mask_from_bits(value ? PACK_BITS : 0u); }
inline bool any(Mask mask) { return mask_bits(mask) != 0u; }
inline bool all(Mask mask) { return mask_bits(mask) == PACK_BITS; }
inline Mask operator>(Real a, Real b) { return b < a; }
inline Mask operator>=(Real a, Real b) { return b <= a; }
inline Mask operator<(Real a, float b) { return a < splat(b); }
inline Mask operator<=(Real a, float b) { return a <= splat(b); }
inline Mask operator>(Real a, float b) { return splat(b) < a; }
inline Mask operator>=(Real a, float b) { return splat(b) <= a; }
inline Mask operator==(Real a, float b) { return a == splat(b); }
inline Mask operator!=(Real a, float b) { return !(a == splat(b)); }
inline Real lanes_abs(Real a) { return max(a, -a); }

// -- one number where a template may also be of packs ------------------------------------------------------
inline Real splat_as(Real, float value) { return splat(value); }
inline float splat_as(float, float value) { return value; }
inline float select(bool mask, float a, float b) { return mask ? a : b; }
inline int select(bool mask, int a, int b) { return mask ? a : b; }
inline bool any(bool mask) { return mask; }
inline bool all(bool mask) { return mask; }
inline int truncated(float value) { return (int)value; }
inline float lanes_sqrt(float value) { return sqrtf(value); }
inline float lanes_abs(float value) { return fabsf(value); }
inline float lanes_floor(float value) { return floorf(value); }
inline float lanes_ceil(float value) { return ceilf(value); }
