// Walks cwbvh nodes a ray at a time: children in the order of their slots' directions, one word a level waiting (octant_groups.cuh). A pack is walked
// lane by lane, with all eight children of a node in its lanes. Any pack is legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of nodes whose children wait (one a level).
#pragma once
#include "gpu/hierarchy/bvh/layouts/cwbvh.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

struct CwbvhStack {
    static constexpr int STACK = STACK_DEPTH;

    const CwbvhNode* nodes;
    const int* root;
    const int* leaf_words;

    __device__ int root_word() const { return root[0]; }
    __device__ int child(int index, int slot) const {
        const CwbvhNode* node = nodes + index;
        const int meta = node->meta[slot];
        return meta & META_INNER ? node->child_base + (meta & META_RANK) : leaf_words[WIDE_SLOTS * (int64)index + slot];
    }
    __device__ unsigned enter(int index, const OneRay& ray) const;
};

// Four planes of one row, as the node's grid has them.
__device__ __forceinline__ float4 four_planes(unsigned bytes, float size, float origin) {
    return make_float4(plane_of((int)(bytes & 255u), size, origin), plane_of((int)(bytes >> 8 & 255u), size, origin),
                       plane_of((int)(bytes >> 16 & 255u), size, origin), plane_of((int)(bytes >> 24), size, origin));
}

__device__ __forceinline__ unsigned CwbvhStack::enter(int index, const OneRay& ray) const {
    const int4* words = (const int4*)(nodes + index);
    const int4 head = words[0];
    const float origin_x = __int_as_float(head.x), origin_y = __int_as_float(head.y), origin_z = __int_as_float(head.z);
    const float size_x = cell_size(head.w & 255), size_y = cell_size(head.w >> 8 & 255), size_z = cell_size(head.w >> 16 & 255);
    const unsigned used = (unsigned)head.w >> 24;
    const int4 x = words[2], y = words[3], z = words[4];  // lower of slots 0 to 3 and 4 to 7, then upper
    if constexpr (PACK == 1) {
        unsigned hits = 0;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int low_x = half ? x.y : x.x, high_x = half ? x.w : x.z;
            const int low_y = half ? y.y : y.x, high_y = half ? y.w : y.z;
            const int low_z = half ? z.y : z.x, high_z = half ? z.w : z.z;
            const float4 nx = four_planes((unsigned)(ray.sign_x ? high_x : low_x), size_x, origin_x);
            const float4 ny = four_planes((unsigned)(ray.sign_y ? high_y : low_y), size_y, origin_y);
            const float4 nz = four_planes((unsigned)(ray.sign_z ? high_z : low_z), size_z, origin_z);
            const float4 fx = four_planes((unsigned)(ray.sign_x ? low_x : high_x), size_x, origin_x);
            const float4 fy = four_planes((unsigned)(ray.sign_y ? low_y : high_y), size_y, origin_y);
            const float4 fz = four_planes((unsigned)(ray.sign_z ? low_z : high_z), size_z, origin_z);
            hits |= mask_bits(enter_lanes(ray, splat(nx.x), splat(ny.x), splat(nz.x), splat(fx.x), splat(fy.x), splat(fz.x))) << 4 * half;
            hits |= mask_bits(enter_lanes(ray, splat(nx.y), splat(ny.y), splat(nz.y), splat(fx.y), splat(fy.y), splat(fz.y))) << (4 * half + 1);
            hits |= mask_bits(enter_lanes(ray, splat(nx.z), splat(ny.z), splat(nz.z), splat(fx.z), splat(fy.z), splat(fz.z))) << (4 * half + 2);
            hits |= mask_bits(enter_lanes(ray, splat(nx.w), splat(ny.w), splat(nz.w), splat(fx.w), splat(fy.w), splat(fz.w))) << (4 * half + 3);
        }
        return hits & used;
    } else {
        float planes[6 * WIDE_SLOTS + PACK];
        const uint8* bytes = &nodes[index].planes[0][0];
        for (int s = 0; s < 2 * WIDE_SLOTS; ++s) {
            planes[s] = plane_of(bytes[s], size_x, origin_x);
            planes[2 * WIDE_SLOTS + s] = plane_of(bytes[2 * WIDE_SLOTS + s], size_y, origin_y);
            planes[4 * WIDE_SLOTS + s] = plane_of(bytes[4 * WIDE_SLOTS + s], size_z, origin_z);
        }
        for (int s = 6 * WIDE_SLOTS; s < 6 * WIDE_SLOTS + PACK; ++s) planes[s] = 0.0f;
        return enter_rows(planes, ray) & used;
    }
}

template <class Primitives, class OnPrimitive, class OnNode>
__device__ __forceinline__ void traverse(const CwbvhStack& tree, const Primitives& primitives, Rays& rays, OnPrimitive& on_primitive, OnNode& on_node) {
    if (any(rays.active)) walk_lane_by_lane(tree, primitives, rays, on_primitive, on_node);
}
