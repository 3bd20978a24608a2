// The scene's box and every primitive's Morton code (after Lauterbach et al. 2009). Launch order is the file's; the
// caller sorts. Unit constant: CODE_BITS.
#include "gpu/device/epsilons.cuh"
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/bounds.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// See bounds.cuh.
extern "C" __global__ void compute_bounds(Primitives primitives, float* partial, int* arrived, float* bounds) {
    find_bounds(primitives, primitives.point_count, partial, arrived, bounds);
}

// Inactive primitives get the largest code. Cells are cubes: long ones make long boxes. Everything is halved, so that
// no finite coordinate overflows, and a scene of denormal size is magnified, so that its reciprocal does not.
extern "C" __global__ void compute_codes(Primitives primitives, const float* bounds, uint64* keys, int* prim_ids) {
    const float3 lower = load3(bounds, 0) * 0.5f, size = load3(bounds, 1) * 0.5f - lower;
    const float largest = max(size.x, max(size.y, size.z)),
                magnified = largest < TINY_SCENE ? TINY_SCENE_MAGNIFIED : 1.0f;
    const float scale = largest > 0.0f ? 1.0f / (largest * magnified) : 0.0f;
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        const bool is_active = !is_empty(box);
        const float3 unit = is_active ? (centre(box) * 0.5f - lower) * magnified * scale
                                      : make_float3(1.0f, 1.0f, 1.0f);
        if (CODE_BITS == 30) {
            keys[i] = (uint64)morton_code_30(unit) << 32 | (unsigned)i;
        } else {
            keys[i] = morton_code_60(unit);
            prim_ids[i] = i;
        }
    }
}
