// Every operation of gpu/device/lanes.cuh, a row of results each. One item is a pack of RAYS_PER_THREAD numbers.
#include "gpu/device/lanes.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/ray.cuh"

__device__ __forceinline__ void put(float* rows, int row, int packs, int pack, Real value) {
    store(rows + (row * packs + pack) * PACK, value);
}
__device__ __forceinline__ void put(int* rows, int row, int packs, int pack, Int value) {
    store(rows + (row * packs + pack) * PACK, value);
}

extern "C" __global__ void compute_reals(const float* left, const float* right, const int* places, int packs,
                                         float* rows) {
    for (int pack : grid_stride(packs)) {
        const Real a = load(left + pack * PACK), b = load(right + pack * PACK);
        const Real results[] = {a + b,
                                a - b,
                                a * b,
                                a / b,
                                -a,
                                min(a, b),
                                max(a, b),
                                lanes_abs(a),
                                lanes_sqrt(lanes_abs(a)),
                                select(a < b, a, b),
                                a + 2.0f,
                                2.0f - a,
                                a * 3.0f,
                                1.0f / b,
                                gather(left, load(places + pack * PACK)),
                                to_real(lane_index()),
                                splat(7.5f),
                                a / 4.0f,
                                lanes_floor(a),
                                lanes_ceil(a),
                                splat_as(a, 2.5f)};
        for (int row = 0; row < 21; ++row) put(rows, row, packs, pack, results[row]);
    }
}

extern "C" __global__ void compute_ints(const int* left, const int* right, int packs, int* rows) {
    for (int pack : grid_stride(packs)) {
        const Int a = load(left + pack * PACK), b = load(right + pack * PACK);
        const Int results[] = {a + b,
                               a - b,
                               a * b,
                               a & b,
                               a | b,
                               a + 5,
                               a & 255,
                               a << 2,
                               a >> 3,
                               select(a < b, a, b),
                               splat_int(-9),
                               lane_index(),
                               lanes_popcount(a)};
        for (int row = 0; row < 13; ++row) put(rows, row, packs, pack, results[row]);
    }
}

// One word of mask bits per pack.
extern "C" __global__ void compute_masks(const float* left, const float* right, const int* integers, int packs,
                                         unsigned* rows) {
    for (int pack : grid_stride(packs)) {
        const Real a = load(left + pack * PACK), b = load(right + pack * PACK);
        const Int i = load(integers + pack * PACK);
        const Mask less = a < b, positive = a > 0.0f;
        const unsigned bits = (unsigned)(pack * 40503);
        const unsigned results[] = {mask_bits(less),
                                    mask_bits(a <= b),
                                    mask_bits(a > b),
                                    mask_bits(a >= b),
                                    mask_bits(a == b),
                                    mask_bits(less & positive),
                                    mask_bits(less | positive),
                                    mask_bits(!less),
                                    any(less) ? 1u : 0u,
                                    all(less) ? 1u : 0u,
                                    mask_bits(mask_from_bits(bits)),
                                    mask_bits(splat_mask(pack % 2 == 1)),
                                    mask_bits(i == splat_int(3)),
                                    mask_bits(i < splat_int(3))};
        for (int row = 0; row < 14; ++row) rows[row * packs + pack] = results[row];
    }
}

// Horizontal extremes under a mask, and lanes read and written one by one.
extern "C" __global__ void fold_lanes(const float* left, const float* right, int packs, float* minima, float* maxima,
                                      float* shifted) {
    for (int pack : grid_stride(packs)) {
        const Real a = load(left + pack * PACK), b = load(right + pack * PACK);
        minima[pack] = horizontal_min(a, a < b);
        maxima[pack] = horizontal_max(a, a < b);
        Real turned = a;
        for (int i = 0; i < PACK; ++i) set_lane(turned, i, lane(a, (i + 1) % PACK));
        store(shifted + pack * PACK, turned);
    }
}

extern "C" __global__ void invert_directions(const float* directions, int packs, float* inverses) {
    for (int pack : grid_stride(packs)) {
        const Real d = load(directions + pack * PACK), zero = splat(0.0f);
        const Rays rays = make_rays(zero, zero, zero, d, d, d, zero, splat(FLOAT_MAX), splat_mask(true));
        store(inverses + pack * PACK, rays.iy);
    }
}

// `fours`: four numbers a place; x, y, z, w are four rows.
extern "C" __global__ void load_fours_from(const float4* fours, const int* places, int packs, float* rows) {
    for (int pack : grid_stride(packs)) {
        const float4* at[PACK];
        for (int i = 0; i < PACK; ++i) at[i] = fours + places[pack * PACK + i];
        Real x, y, z, w;
        load_fours(at, x, y, z, w);
        put(rows, 0, packs, pack, x);
        put(rows, 1, packs, pack, y);
        put(rows, 2, packs, pack, z);
        put(rows, 3, packs, pack, w);
    }
}
