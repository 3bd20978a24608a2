// The scene's box and every primitive's Morton code (after Lauterbach et al. 2009). Launch order is the file's; the caller sorts.
// Unit constant: CODE_BITS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/block.cuh"
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/bvh/morton_order.cuh"

// Adding 0 makes +0 of -0: which of the two is the smaller would depend on the blocks.
__device__ __forceinline__ void store_box(float* boxes, int index, float3 lower, float3 upper) {
    const float3 zero = make_float3(0.0f, 0.0f, 0.0f);
    store3(boxes, 2 * index, lower + zero);
    store3(boxes, 2 * index + 1, upper + zero);
}

// `bounds`: lower and upper x, y, z of all finite points. `partial`: 6 floats a block; the last block to arrive joins them, and leaves `arrived` 0.
extern "C" __global__ void compute_bounds(Primitives primitives, float* partial, int* arrived, float* bounds) {
    SHARED int is_last;
    Aabb box = empty_aabb();
    for (int i : grid_stride(primitives.point_count)) {
        const float3 point = primitives.point(i);
        if (is_finite(point)) box = grow(box, point);
    }
    for (int round = 0; round < 2; ++round) {
        const float3 lower = make_float3(block_min(box.lower.x), block_min(box.lower.y), block_min(box.lower.z));
        const float3 upper = make_float3(block_max(box.upper.x), block_max(box.upper.y), block_max(box.upper.z));
        if (round == 1) {
            if (thread_index() == 0) store_box(bounds, 0, lower, upper);
            break;
        }
        if (thread_index() == 0) {
            store_box(partial, block_index(), lower, upper);
            is_last = atomic_arrive(arrived) == block_count() - 1;
            if (is_last) *arrived = 0;
        }
        block_sync();
        if (!is_last) break;
        for (int block : block_stride(block_count())) box = merge(box, Aabb{load3(partial, 2 * block), load3(partial, 2 * block + 1)});
    }
}

// Inactive primitives get the largest code. Cells are cubes: long ones make long boxes. Everything is halved, so that no finite coordinate overflows,
// and a scene of denormal size is magnified, so that its reciprocal does not.
extern "C" __global__ void compute_codes(Primitives primitives, const float* bounds, uint64* keys, int* prim_ids) {
    const float3 lower = load3(bounds, 0) * 0.5f, size = load3(bounds, 1) * 0.5f - lower;
    const float largest = max(size.x, max(size.y, size.z)), magnified = largest < 1e-30f ? 1.2676506e30f : 1.0f;
    const float scale = largest > 0.0f ? 1.0f / (largest * magnified) : 0.0f;
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        const bool is_active = !is_empty(box);
        const float3 unit = is_active ? (centre(box) * 0.5f - lower) * magnified * scale : make_float3(1.0f, 1.0f, 1.0f);
        if (CODE_BITS == 30) {
            keys[i] = (uint64)morton_code_30(unit) << 32 | (unsigned)i;
        } else {
            keys[i] = morton_code_60(unit);
            prim_ids[i] = i;
        }
    }
}
