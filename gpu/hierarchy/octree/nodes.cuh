// The nodes of octrees: 8 bytes each, the root in front. Children that hold anything lie side by side in Z-order, those
// that hold nothing are bits of their parent that are not set.
//
// A cell is an eighth of its parent's: planes lie at whole places of a grid of 2^21 along each axis, over the cube that
// begins in the lower corner of the scene's box and is as long as its longest side. What of the cube lies outside the
// box is cut off, so that a flat scene has no empty upper half that rays pass.
#pragma once
#include "gpu/hierarchy/growing.cuh"

//  byte  0                                      4                                          8
// inner  | first child                          | mask of its children, bit x << 2 | y << 1 | z |
// leaf   | first of its references (unsigned)   | ~ number of its references               |
// A leaf is empty in an octree over nothing, and in a complete one.
static_assert(sizeof(int2) == 8, "a node is read at once");

constexpr int OCTREE_LEVELS = 21;  // of inner nodes at most
constexpr int OCTREE_GRID = 1 << OCTREE_LEVELS;

__device__ __forceinline__ bool is_octree_leaf(int2 node) { return node.y < 0; }
__device__ __forceinline__ int leaf_count_of(int2 leaf) { return ~leaf.y; }
__device__ __forceinline__ unsigned child_mask(int2 node) { return (unsigned)node.y & 255u; }
__device__ __forceinline__ int child_in(int first_child, unsigned mask, int octant) {
    return first_child + __popc(mask & ((1u << octant) - 1u));
}
// Which octant the child `rank` places behind the first one is.
__device__ __forceinline__ int octant_of_child(unsigned mask, int rank) {
    for (; rank > 0; --rank) mask &= mask - 1u;
    return __ffs((int)mask) - 1;
}
__device__ __forceinline__ void store_octree_node(Pointer<int2> nodes, int node_id, int first, int second) {
    int2 node;
    node.x = first;
    node.y = second;
    nodes[node_id] = node;
}

// Octants on the lower and on the upper side of the middle, along x, y and z.
__device__ __forceinline__ unsigned octants_on_side(int axis, bool is_upper) {
    const unsigned upper = axis == 0 ? 0xf0u : axis == 1 ? 0xccu : 0xaau;
    return is_upper ? upper : upper ^ 255u;
}

// A cell: where it begins on the grid, and how many inner nodes are above it.
struct OctreeCell {
    int x, y, z, level;

    __device__ __forceinline__ int size() const { return OCTREE_GRID >> level; }
    __device__ __forceinline__ int at(int axis) const { return axis == 0 ? x : axis == 1 ? y : z; }
    __device__ __forceinline__ OctreeCell child(int octant) const {
        const int half = size() >> 1;
        return {x + (octant >> 2) * half, y + (octant >> 1 & 1) * half, z + (octant & 1) * half, level + 1};
    }
};

// The scene's box as `box` holds it, and half of the cube's side beside its lower corner.
struct OctreeSpace {
    float3 lower, upper;
    float half;

    // The same number wherever a plane is asked for, and in order.
    __device__ __forceinline__ float plane(int axis, int place) const {
        const float low = along(lower, axis), high = along(upper, axis);
        if (place >= OCTREE_GRID) return high;
        return min(fmaf(half, (float)place * (2.0f / (float)OCTREE_GRID), low), high);
    }
    // Whether no coordinate is farther from the origin.
    __device__ __forceinline__ bool is_within(float most) const {
        const float3 far = max(max(lower, -lower), max(upper, -upper));
        return max(far.x, max(far.y, far.z)) <= most;
    }
    __device__ __forceinline__ float3 corner(int x, int y, int z) const {
        return make_float3(plane(0, x), plane(1, y), plane(2, z));
    }
    __device__ __forceinline__ Aabb box_of(const OctreeCell& cell) const {
        const int size = cell.size();
        return {corner(cell.x, cell.y, cell.z), corner(cell.x + size, cell.y + size, cell.z + size)};
    }
};
__device__ __forceinline__ OctreeSpace load_space(const float4* box) {
    const float4 low = box[0], high = box[1];
    return {make_float3(low.x, low.y, low.z), make_float3(high.x, high.y, high.z), low.w};
}
// Halves, as sizes may overflow.
__device__ __forceinline__ void store_space(float4* box, const Aabb& scene) {
    const float3 half = scene.upper * 0.5f - scene.lower * 0.5f;
    box[0] = make_float4(scene.lower.x, scene.lower.y, scene.lower.z, max(half.x, max(half.y, half.z)));
    box[1] = make_float4(scene.upper.x, scene.upper.y, scene.upper.z, 0.0f);
}

// A node's cell, by its parents.
__device__ __forceinline__ OctreeCell cell_of_node(const int2* nodes, const int* parent, int node_id) {
    OctreeCell cell = {0, 0, 0, 0};
    for (int child = node_id; child != 0 && cell.level < OCTREE_LEVELS; ++cell.level) {
        const int above = parent[child];
        const int octant = octant_of_child(child_mask(nodes[above]), child - nodes[above].x);
        cell.x |= (octant >> 2) << cell.level;
        cell.y |= (octant >> 1 & 1) << cell.level;
        cell.z |= (octant & 1) << cell.level;
        child = above;
    }
    const int shift = OCTREE_LEVELS - cell.level;
    return {cell.x << shift, cell.y << shift, cell.z << shift, cell.level};
}
