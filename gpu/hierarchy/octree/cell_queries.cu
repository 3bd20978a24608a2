// Queries of cells by number alone, a query a thread (Goradia et al. 2008, the discussion of section 4). A cell is its
// `code` and `level`; what does not exist has the level -1. All of a query is read before any of it is looked at, so
// that its reads wait for memory together.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/octree/cell.cuh"

__device__ __forceinline__ void store(Cell cell, int at, uint64* code, int* level) {
    code[at] = cell.code;
    level[at] = cell.level;
}

extern "C" __global__ void find_parents(const uint64* code, const int* level, int count, uint64* found_code,
                                        int* found_level) {
    for (int i : grid_stride(count)) {
        const Cell cell = {code[i], level[i]};
        store(cell.level > 0 ? ancestor(cell, cell.level - 1) : no_cell(), i, found_code, found_level);
    }
}

extern "C" __global__ void find_children(const uint64* code, const int* level, const int* octant, int count,
                                         uint64* found_code, int* found_level) {
    for (int i : grid_stride(count)) {
        const Cell cell = {code[i], level[i]};
        const int part = octant[i];
        const bool has_child = cell.level >= 0 && cell.level < FINEST_LEVEL && (part & ~7) == 0;
        store(has_child ? Cell{cell.code << 3 | (unsigned)part, cell.level + 1} : no_cell(), i, found_code,
              found_level);
    }
}

extern "C" __global__ void test_containment(const uint64* code, const int* level, const uint64* inner_code,
                                            const int* inner_level, int count, int* is_inside) {
    for (int i : grid_stride(count)) is_inside[i] = holds({code[i], level[i]}, {inner_code[i], inner_level[i]}) ? 1 : 0;
}

extern "C" __global__ void find_children_holding(const uint64* code, const int* level, const uint64* inner_code,
                                                 const int* inner_level, int count, uint64* found_code,
                                                 int* found_level) {
    for (int i : grid_stride(count)) {
        const Cell outer = {code[i], level[i]}, inner = {inner_code[i], inner_level[i]};
        const bool is_below = holds(outer, inner) && inner.level > outer.level;
        store(is_below ? ancestor(inner, outer.level + 1) : no_cell(), i, found_code, found_level);
    }
}

extern "C" __global__ void find_common_ancestors(const uint64* code, const int* level, const uint64* other_code,
                                                 const int* other_level, int count, uint64* found_code,
                                                 int* found_level) {
    for (int i : grid_stride(count))
        store(common_ancestor({code[i], level[i]}, {other_code[i], other_level[i]}), i, found_code, found_level);
}

// `steps`: three numbers a direction, x, y, z in cells. `found`: a row of `count` for each direction.
extern "C" __global__ void find_beside(const uint64* code, const int* level, int count, const int* steps,
                                       int directions, uint64* found_code, int* found_level) {
    for (int i : grid_stride(count)) {
        const Cell cell = {code[i], level[i]};
        for (int k = 0; k < directions; ++k) {
            const Cell found = beside(cell, make_int3(steps[3 * k], steps[3 * k + 1], steps[3 * k + 2]));
            const int64 at = (int64)k * count + i;
            found_code[at] = found.code;
            found_level[at] = found.level;
        }
    }
}

// `boxes`: lower corner and side of each cell; NaN of none.
extern "C" __global__ void place_cells(const uint64* code, const int* level, int count, const float4* root,
                                       float4* boxes) {
    const float4 cube = *root;
    for (int i : grid_stride(count)) {
        const Cell cell = {code[i], level[i]};
        const int3 place = place_of(cell);
        const float side = exists(cell) ? cube.w / (float)(1 << cell.level) : 0.0f / 0.0f;
        boxes[i] = make_float4(cube.x + side * (float)place.x, cube.y + side * (float)place.y,
                               cube.z + side * (float)place.z, side);
    }
}
