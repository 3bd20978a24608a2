// Boxes as bvh2 nodes keep them, and rays against them as its traversals do: an item is a pack of rays and one box for
// each lane.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/traversals/bvh2_stack.cuh"

// `boxes`: lower and upper, six rows of `n`; `stored`: centre, half, and half as a node has it, nine rows of `n`.
extern "C" __global__ void keep_boxes(const float* boxes, int n, float* stored) {
    for (int i : grid_stride(n)) {
        const float3 lower = make_float3(boxes[i], boxes[n + i], boxes[2 * n + i]),
                     upper = make_float3(boxes[3 * n + i], boxes[4 * n + i], boxes[5 * n + i]);
        const CentredBox box = centred({lower, upper});
        const float3 kept = unpack_halves(pack_halves(box.half.x, box.half.y), box.half.z);
        const float parts[] = {box.centre.x, box.centre.y, box.centre.z, box.half.x, box.half.y,
                               box.half.z,   kept.x,       kept.y,       kept.z};
        for (int row = 0; row < 9; ++row) stored[(int64)row * n + i] = parts[row];
    }
}

// `rays`: eight rows of `n`, a multiple of the pack; box i is what ray i is tested against. `entered`: 1 or 0 a ray.
extern "C" __global__ void enter_boxes(const float* boxes, const float* rays, int n, int* entered) {
    for (int pack : grid_stride(n / PACK)) {
        const int first = pack * PACK;
        Real row[8];
        for (int r = 0; r < 8; ++r) row[r] = load(rays + (int64)r * n + first);
        const Rays of_pack = make_rays(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7],
                                       splat_mask(true));
        const CentredSlabs slabs = make_centred_slabs(of_pack);
        for (int i = 0; i < PACK; ++i) {
            const int at = first + i;
            const float3 lower = make_float3(boxes[at], boxes[n + at], boxes[2 * n + at]),
                         upper = make_float3(boxes[3 * n + at], boxes[4 * n + at], boxes[5 * n + at]);
            float4 node[BVH2_FLOAT4S];
            store_bvh2_node(node, 0, empty_aabb(), -1, {lower, upper}, 1);
            const Bvh2Pair pair = enter_bvh2_children(node, slabs, of_pack);
            entered[at] = (mask_bits(pair.right) >> i & 1u) | (mask_bits(pair.left) >> i & 1u) << 1;
        }
    }
}
