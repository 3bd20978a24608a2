// bsdf.cuh as a kernel: one material, one direction towards the eye; many directions or numbers. Rows of `n` floats.
#include "gpu/device/loops.cuh"
#include "gpu/shade/bsdf.cuh"

__device__ __forceinline__ Bsdf material(const float* gloss, const float* m, Real3 out) {
    return make_bsdf(gloss, splat3(m[0], m[1], m[2]), splat(m[3]), splat(m[4]), splat(m[5]), splat(m[6]), out.z);
}
__device__ __forceinline__ Real3 load3(const float* rows, int n, int first) {
    return {load(rows + first), load(rows + n + first), load(rows + 2 * n + first)};
}
__device__ __forceinline__ void store3(float* rows, int n, int first, Real3 value) {
    store(rows + first, value.x);
    store(rows + n + first, value.y);
    store(rows + 2 * n + first, value.z);
}

// `out`, `in`: three rows. `results`: value, density.
extern "C" __global__ void evaluate(const float* gloss, const float* parameters, const float* out,
                                    const float* incoming, int n, float* results) {
    for (int pack : grid_stride(n / PACK)) {
        const Real3 o = load3(out, n, pack * PACK);
        const BsdfValue found = evaluate_bsdf(material(gloss, parameters, o), o, load3(incoming, n, pack * PACK));
        store3(results, n, pack * PACK, found.value);
        store(results + 3 * n + pack * PACK, found.density);
    }
}
// `numbers`: three rows. `results`: direction, weight, density, is_delta, is_transmitted.
extern "C" __global__ void sample(const float* gloss, const float* parameters, const float* out, const float* numbers,
                                  int n, float* results) {
    for (int pack : grid_stride(n / PACK)) {
        const int first = pack * PACK;
        const Real3 o = load3(out, n, first), u = load3(numbers, n, first);
        const BsdfSample found = sample_bsdf(material(gloss, parameters, o), o, u.x, u.y, u.z);
        store3(results, n, first, found.in);
        store3(results + 3 * n, n, first, found.weight);
        store(results + 6 * n + first, found.density);
        store(results + 7 * n + first, select(found.is_delta, splat(1.0f), splat(0.0f)));
        store(results + 8 * n + first, select(found.is_transmitted, splat(1.0f), splat(0.0f)));
    }
}
