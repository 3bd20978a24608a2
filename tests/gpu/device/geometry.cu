// vec.cuh and aabb.cuh: items are vectors of three floats.
#include "gpu/device/aabb.cuh"
#include "gpu/device/loops.cuh"

extern "C" __global__ void compute_vectors(const float* left, const float* right, int n, float* vectors,
                                           float* numbers) {
    for (int i : grid_stride(n)) {
        const float3 a = load3(left, i), b = load3(right, i);
        const float3 results[] = {a + b,       a - b,        a * b,
                                  a * 2.0f,    a / 2.0f,     -a,
                                  cross(a, b), normalize(a), lerp(a, b, 0.25f),
                                  min(a, b),   max(a, b),    reflect(a, normalize(b))};
        for (int row = 0; row < 12; ++row) store3(vectors, (int64)row * n + i, results[row]);
        numbers[i] = dot(a, b);
        numbers[n + i] = length(a);
        numbers[2 * n + i] = clamp(a.x, -1.0f, 1.0f);
        numbers[3 * n + i] = is_finite(a) ? 1.0f : 0.0f;
    }
}

extern "C" __global__ void compute_boxes(const float* left, const float* right, const float* points, int n,
                                         float* boxes, float* numbers) {
    for (int i : grid_stride(n)) {
        const Aabb a = grow(grow(empty_aabb(), load3(left, i)), load3(right, i));
        const Aabb results[] = {a, grow(a, load3(points, i)), merge(a, grow(empty_aabb(), load3(points, i))),
                                merge(empty_aabb(), a), empty_aabb()};
        for (int row = 0; row < 5; ++row) {
            store3(boxes, 2 * ((int64)row * n + i), results[row].lower);
            store3(boxes, 2 * ((int64)row * n + i) + 1, results[row].upper);
            numbers[row * n + i] = half_area(results[row]);
            numbers[(5 + row) * n + i] = is_empty(results[row]) ? 1.0f : 0.0f;
        }
        store3(boxes, 10 * (int64)n + i, centre(a));
    }
}
