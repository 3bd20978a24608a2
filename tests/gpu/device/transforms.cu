// transform.cuh: rigid and scaled transforms, products, normals, interpolated rotations.
#include "gpu/device/loops.cuh"
#include "gpu/device/transform.cuh"

__device__ __forceinline__ float4 load_quaternion(const float* values, int i) {
    return make_float4(values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);
}

extern "C" __global__ void compose_transforms(const float* moves, const float* rotations, const float* scales, int n,
                                              float* matrices) {
    for (int i : grid_stride(n))
        store_affine(matrices, i, compose(load3(moves, i), load_quaternion(rotations, i), load3(scales, i)));
}

extern "C" __global__ void apply_transforms(const float* outer, const float* inner, const float* points, int n,
                                            float* products, float* normals, float* results) {
    for (int i : grid_stride(n)) {
        const Affine a = load_affine(outer, i), b = load_affine(inner, i);
        store_affine(products, i, multiply(a, b));
        store_affine(normals, i, normal_transform(a));
        store3(results, 2 * (int64)i, transform_point(a, load3(points, i)));
        store3(results, 2 * (int64)i + 1, transform_vector(a, load3(points, i)));
    }
}

extern "C" __global__ void interpolate_rotations(const float* first, const float* to, const float* alphas, int n,
                                                 float* out) {
    for (int i : grid_stride(n)) {
        const float4 q = slerp(load_quaternion(first, i), load_quaternion(to, i), alphas[i]);
        out[4 * i] = q.x;
        out[4 * i + 1] = q.y;
        out[4 * i + 2] = q.z;
        out[4 * i + 3] = q.w;
    }
}
