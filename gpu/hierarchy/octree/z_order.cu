// Points along the Z-order: the root cube, the codes, and what is copied once they are sorted (by the caller). Unit
// constants: BITS, of an axis; IS_PACKED (keys hold code and index; otherwise keys are codes, and indices go along).
#include "gpu/hierarchy/bounds.cuh"
#include "gpu/hierarchy/octree/cells.cuh"
#include "gpu/hierarchy/octree/point_tree.cuh"
#include "gpu/hierarchy/octree/root_cube.cuh"

// Behind every code: points that are not finite are sorted to the end.
constexpr uint64 DROPPED = 1ull << 3 * BITS;

struct Positions {
    Pointer<const float> rows;
    int width;  // floats of a row

    __device__ float3 point(int i) const {
        const float* row = rows + (int64)i * width;
        return make_float3(row[0], row[1], row[2]);
    }
};

// See bounds.cuh.
extern "C" __global__ void bound_points(const float* positions, int width, int count, float* partial, int* arrived,
                                        float* bounds) {
    find_bounds(Positions{positions, width}, count, partial, arrived, bounds);
}

extern "C" __global__ void copy_root(const float* given, float* root) {
    for (int i : grid_stride(4)) root[i] = given[i];
}

// Which of six sides a direction looks to: the sign and the axis that it is nearest to. What looks halfway between two
// axes, as walls often do, is not halfway between two sides.
__device__ __forceinline__ uint64 side_of(float4 direction) {
    const float x = direction.x, y = 0.97f * direction.y, z = 0.94f * direction.z;
    const float most = max(fabsf(x), max(fabsf(y), fabsf(z)));
    const int axis = fabsf(x) == most ? 0 : fabsf(y) == most ? 1 : 2;
    return (uint64)(2 * axis + ((axis == 0 ? x : axis == 1 ? y : z) < 0.0f ? 1 : 0));
}

// `root` is made of the bounds, or given where there are none. Where points have `directions`, the uppermost cells are
// not eighths of the root but sides, each of which has a tree of all the cube.
extern "C" __global__ void encode_points(const float* positions, const float4* directions, int width, int count,
                                         const float* bounds, float4* root, uint64* keys, int* ids) {
    const RootCube cube = bounds != nullptr ? root_cube(load3(bounds, 0), load3(bounds, 1)) : root_cube(*root);
    if (block_index() == 0 && thread_index() == 0 && bounds != nullptr) *root = corner_and_side(cube);
    for (int i : grid_stride(count)) {
        const float3 point = Positions{positions, width}.point(i);
        const uint64 cell = directions == nullptr
                                ? cube.code(point, BITS)
                                : side_of(directions[i]) << 3 * (BITS - 1) | cube.code(point, BITS - 1);
        const uint64 code = is_finite(point) ? cell : DROPPED;
        keys[i] = IS_PACKED ? code << 32 | (unsigned)i : code;
        if (ids != nullptr) ids[i] = i;
    }
}

// What the sorted keys say. `values` may be nothing: then they are the fourth of a row, or 0.
extern "C" __global__ void order_points(const uint64* keys, const int* ids, const float* positions, const float* values,
                                        int width, int count, float4* points, int* order, uint64* codes, int* counts) {
    for (int i : grid_stride(count)) {
        const uint64 code = IS_PACKED ? keys[i] >> 32 : keys[i];
        const int id = IS_PACKED ? (int)(unsigned)keys[i] : ids[i];
        const float3 point = Positions{positions, width}.point(id);
        const float value = values != nullptr ? values[id] : width > 3 ? positions[(int64)id * width + 3] : 0.0f;
        points[i] = make_float4(point.x, point.y, point.z, value);
        order[i] = id;
        codes[i] = code;
        const bool is_dropped = code >= DROPPED;
        const bool is_next = i + 1 < count && (IS_PACKED ? keys[i + 1] >> 32 : keys[i + 1]) < DROPPED;
        if (is_dropped ? i == 0 : !is_next) {  // where the finite points end
            counts[TREE_COUNTS::points] = is_dropped ? 0 : i + 1;
            counts[TREE_COUNTS::dropped] = is_dropped ? count : count - i - 1;
        }
    }
}
