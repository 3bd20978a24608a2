// Traverses cwbvh nodes one ray at a time: children in the order of their slots' directions, one word per level waiting
// (octant_groups.cuh). A pack is traversed lane by lane, with all eight children of a node in its lanes. Any pack is
// legal.
//
// Unit constants: STACK_DEPTH, a proven bound of the number of nodes whose children wait (one per level).
// from gpu.hierarchy.bvh.layouts.cwbvh import CompressedNodes
#pragma once
#include "gpu/device/epsilons.cuh"
#include "gpu/hierarchy/bvh/layouts/cwbvh.cuh"
#include "gpu/hierarchy/bvh/traversals/octant_groups.cuh"

struct CwbvhStack : CompressedNodes {
    static constexpr int STACK = STACK_DEPTH;
    static constexpr bool MOVES_PLANES = !IS_SINGLE_RAY;  // grid_axis moves them by more for single rays

    __device__ int root_word() const { return root[0]; }
    __device__ int child(int index, int slot) const {
        const CwbvhNode* node = &nodes[index];
        const int meta = node->meta[slot];
        return meta & META_INNER ? node->child_base + (meta & META_RANK) : leaf_words[WIDE_SLOTS * (int64)index + slot];
    }
    __device__ unsigned enter(int index, const OneRay& ray) const;
    __device__ unsigned slots(int index) const { return (unsigned)((const int4*)&nodes[index])->w >> 24; }
    __device__ Aabb box(int index, int slot) const {
        const int4 head = *(const int4*)&nodes[index];
        const uint8* bytes = &nodes[index].planes[0][0] + slot;
        const float origin[3] = {__int_as_float(head.x), __int_as_float(head.y), __int_as_float(head.z)};
        float planes[6];
        for (int i = 0; i < 6; ++i)
            planes[i] = plane_of(bytes[WIDE_SLOTS * i], cell_size(head.w >> 8 * (i / 2) & 255), origin[i / 2]);
        return {make_float3(planes[0], planes[2], planes[4]), make_float3(planes[1], planes[3], planes[5])};
    }
};

// A single ray takes the node's grid into its own terms: the distance to a plane of so many cells is cells * step +
// base, one fused operation. A cell count is read as 32768 + cells, its byte put into a float's mantissa, and the bases
// hold what that is too much; they are rounded outwards. `step` is the ray's inverse times a power of two, hence exact,
// unless it leaves the range of floats: then the axis decides nothing.
struct GridAxis {
    float step, near, far;
};
__device__ __forceinline__ GridAxis grid_axis(float origin, int exponent, float inverse, float near, float far) {
    const float step = cell_size(exponent) * inverse, excess = step * 32768.0f;
    const float near_base = fmaf(origin, inverse, -near) - excess, far_base = fmaf(origin, inverse, -far) - excess;
    if (!(fabsf(step) < 1e30f)) return {0.0f, -FLOAT_MAX, FLOAT_MAX};
    const float slack = fmaf(fabsf(excess), SLAB_SLACK, SLAB_LEAST_SLACK);
    return {step, near_base - fmaf(fabsf(near_base), SLAB_SLACK, slack),
            far_base + fmaf(fabsf(far_base), SLAB_SLACK, slack)};
}
template <int PLACE>
__device__ __forceinline__ float cells_at(unsigned bytes) {
    return __int_as_float((int)__byte_perm(bytes, 0x47000000u, 0x7604u | PLACE << 4));
}

struct CompressedNode {
    GridAxis x, y, z;

    // Whether the ray enters the box in PLACE of four; words of its nearer and further planes.
    template <int PLACE>
    __device__ __forceinline__ unsigned enters(const OneRay& ray, uint3 nearer, uint3 further) const {
        const float near_x = fmaf(cells_at<PLACE>(nearer.x), x.step, x.near),
                    near_y = fmaf(cells_at<PLACE>(nearer.y), y.step, y.near);
        const float far_x = fmaf(cells_at<PLACE>(further.x), x.step, x.far),
                    far_y = fmaf(cells_at<PLACE>(further.y), y.step, y.far);
        const float near_z = fmaf(cells_at<PLACE>(nearer.z), z.step, z.near),
                    far_z = fmaf(cells_at<PLACE>(further.z), z.step, z.far);
        const float entry = max(max(near_x, near_y), max(near_z, lane(ray.t_min, 0)));
        const float exit = min(min(far_x, far_y), min(far_z, lane(ray.t_max, 0)));
        return entry <= exit * SLAB_GROWTH ? 1u << PLACE : 0u;
    }
    __device__ __forceinline__ unsigned enters_four(const OneRay& ray, uint3 nearer, uint3 further) const {
        return enters<0>(ray, nearer, further) | enters<1>(ray, nearer, further) | enters<2>(ray, nearer, further) |
               enters<3>(ray, nearer, further);
    }
};

__device__ __forceinline__ unsigned CwbvhStack::enter(int index, const OneRay& ray) const {
    const int4* words = (const int4*)&nodes[index];
    const int4 head = words[0];
    const float origin_x = __int_as_float(head.x), origin_y = __int_as_float(head.y), origin_z = __int_as_float(head.z);
    const int exponent_x = head.w & 255, exponent_y = head.w >> 8 & 255, exponent_z = head.w >> 16 & 255;
    const unsigned used = (unsigned)head.w >> 24;
    if constexpr (IS_SINGLE_RAY) {
        const int4 x = words[2], y = words[3], z = words[4];  // lower of slots 0 to 3 and 4 to 7, then upper
        const CompressedNode node = {
            grid_axis(origin_x, exponent_x, lane(ray.ix, 0), lane(ray.near_x, 0), lane(ray.far_x, 0)),
            grid_axis(origin_y, exponent_y, lane(ray.iy, 0), lane(ray.near_y, 0), lane(ray.far_y, 0)),
            grid_axis(origin_z, exponent_z, lane(ray.iz, 0), lane(ray.near_z, 0), lane(ray.far_z, 0))};
        unsigned hits = 0;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const uint3 lower = {(unsigned)(half ? x.y : x.x), (unsigned)(half ? y.y : y.x),
                                 (unsigned)(half ? z.y : z.x)};
            const uint3 upper = {(unsigned)(half ? x.w : x.z), (unsigned)(half ? y.w : y.z),
                                 (unsigned)(half ? z.w : z.z)};
            const uint3 nearer = {ray.sign_x ? upper.x : lower.x, ray.sign_y ? upper.y : lower.y,
                                  ray.sign_z ? upper.z : lower.z};
            const uint3 further = {ray.sign_x ? lower.x : upper.x, ray.sign_y ? lower.y : upper.y,
                                   ray.sign_z ? lower.z : upper.z};
            hits |= node.enters_four(ray, nearer, further) << 4 * half;
        }
        return hits & used;
    } else {
        const float size_x = cell_size(exponent_x), size_y = cell_size(exponent_y), size_z = cell_size(exponent_z);
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
__device__ __forceinline__ void traverse(const CwbvhStack& tree, const Primitives& primitives, Rays& rays,
                                         OnPrimitive& on_primitive, OnNode& on_node) {
    if (any(rays.active)) traverse_lane_by_lane(tree, primitives, rays, on_primitive, on_node);
}
