// Keys of the cells of one level that primitives meet: Z-order code << 32 | prim_id, by counting, prefix sums and
// writing. Launch order is the file's; the caller scans and sorts.
#include "gpu/device/block_box.cuh"
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/octree/cell_keys.cuh"
#include "gpu/hierarchy/large_primitives.cuh"
#include "gpu/hierarchy/octree/cells_met.cuh"

extern "C" __global__ void clear_cells(int* box_words, uint64* level_sums, int* chosen, int* counts, int* large) {
    for (int i : grid_stride(CODE_LEVELS + 1)) {
        level_sums[i] = 0;
        if (i == 0) empty_words(box_words);
        if (i == 0) large[0] = 0;
        if (i < CHOSEN_WORDS) chosen[i] = 0;
        if (i < COUNT_WORDS) counts[i] = 0;
    }
}

extern "C" __global__ void find_box(Primitives primitives, int* box_words) {
    Aabb bounds = empty_aabb();
    for (int i : grid_stride(primitives.count)) bounds = merge(bounds, primitives.aabb(i));
    merge_block_box(bounds, box_words);
}

extern "C" __global__ void make_space(const int* box_words, float4* box) {
    for (int item : grid_stride(1)) {
        const float3 most = make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX), none = make_float3(0.0f, 0.0f, 0.0f);
        Aabb scene = {
            make_float3(ordered_float(box_words[item]), ordered_float(box_words[1]), ordered_float(box_words[2])),
            make_float3(ordered_float(box_words[3]), ordered_float(box_words[4]), ordered_float(box_words[5]))};
        scene = is_empty(scene) ? Aabb{none, none} : Aabb{max(scene.lower, -most), min(scene.upper, most)};
        store_space(box, scene);
    }
}

// How many cells the boxes of all primitives meet, by level: integers, whose sums do not depend on their order.
extern "C" __global__ void sum_cells(Primitives primitives, const float4* box, int most_levels, uint64* level_sums) {
    const OctreeSpace space = load_space(box);
    uint64 sums[CODE_LEVELS + 1] = {};
    for (int i : grid_stride(primitives.count)) {
        const Aabb own = primitives.aabb(i);
        if (is_empty(own)) continue;
        CellBlock cells(space, most_levels, own);
        for (int level = most_levels; level >= 0; --level, cells.go_up()) sums[level] += cells.count();
    }
    for (int level = 0; level <= CODE_LEVELS; ++level) {
        const uint64 sum = block_sum(sums[level]);
        if (thread_index() == 0 && sum > 0) atomic_add(level_sums + level, sum);
    }
}

// The level: `given`, or, where that is negative, the deepest one of `most_levels` up to which each next level has less
// than three times as many references (four times as many in cells of a quarter of the area would gain nothing), and no
// more than `most_references`.
extern "C" __global__ void choose_level(const uint64* level_sums, int given, int most_levels, float most_references,
                                        float most_tested, int* chosen) {
    for (int item : grid_stride(1)) {
        int level = given < 0 ? 0 : given;
        while (given < 0 && level < most_levels && level_sums[level + 1] < 3 * level_sums[level] &&
               (float)level_sums[level + 1] <= most_references)
            ++level;
        chosen[CHOSEN_LEVEL + item] = level;
        chosen[IS_REFUSED] = (float)level_sums[level] > most_tested;
    }
}

// The cells that a primitive may meet, and which of them it does; `is_whole`: all, as nothing else is known.
template <class Kind>
struct MetCells {
    typename Kind::Shape shape;
    OctreeSpace space;
    Aabb own;
    CellBlock cells;
    int level;
    bool is_whole;

    __device__ __forceinline__ MetCells(const Kind& primitives, int prim_id, const OctreeSpace& of, int at,
                                        const Aabb& box)
        : shape(primitives.shape(primitives.corners(prim_id))), space(of), own(box), cells(of, at, box), level(at) {
        is_whole = cells.count() == 1 || !space.is_within(LARGEST_CLIPPED);
    }
    __device__ __forceinline__ int count() const { return (int)cells.count(); }
    // Whether it is left to a block.
    __device__ __forceinline__ bool is_large() const { return cells.count() > MANY_CELLS; }
    __device__ __forceinline__ uint64 key(int place, int prim_id) const {
        return (uint64)code(place) << 32 | (unsigned)prim_id;
    }
    __device__ __forceinline__ bool meets(int place) const {
        if (is_whole) return true;
        const int3 cell = cells.cell(place);
        const int shift = OCTREE_LEVELS - level;
        return meets_cell(shape, own, space.box_of({cell.x << shift, cell.y << shift, cell.z << shift, level}));
    }
    __device__ __forceinline__ unsigned code(int place) const {
        const int3 cell = cells.cell(place);
        return spread_bits_10((unsigned)cell.x) << 2 | spread_bits_10((unsigned)cell.y) << 1 |
               spread_bits_10((unsigned)cell.z);
    }
};

// `masks`: which of the cells that its box meets a primitive meets, where those are at most 32; else whether it meets
// none, and is listed in the first.
extern "C" __global__ void count_cells(Primitives primitives, const float4* box, const int* chosen, int* cell_counts,
                                       unsigned* masks, int* large) {
    const OctreeSpace space = load_space(box);
    for (int i : grid_stride(primitives.count)) {
        const Aabb own = primitives.aabb(i);
        cell_counts[i] = 0;
        if (is_empty(own) || chosen[IS_REFUSED]) continue;
        const MetCells<Primitives> met(primitives, i, space, chosen[CHOSEN_LEVEL], own);
        if (met.is_large()) {
            LargePrimitives{large}.add(i);
            continue;
        }
        const int cells = met.count();
        unsigned mask = 0u;
        int count = 0;
#pragma unroll 1
        for (int place = 0; place < cells; ++place) {
            const bool is_met = met.meets(place);
            count += is_met;
            if (is_met && place < 32) mask |= 1u << place;
        }
        cell_counts[i] = max(count, 1);
        masks[i] = count == 0 ? 1u : mask;
    }
}

extern "C" __global__ void __launch_bounds__(64)
    count_cells_of_large(Primitives primitives, const float4* box, const int* chosen, int* large, int* cell_counts,
                         unsigned* masks) {
    const OctreeSpace space = load_space(box);
    LargePrimitives{large}.each([&](int prim_id) {
        const MetCells<Primitives> met(primitives, prim_id, space, chosen[CHOSEN_LEVEL], primitives.aabb(prim_id));
        int own = 0;
#pragma unroll 1
        for (int place : block_stride(met.count())) own += met.meets(place);
        const int count = block_sum(own);
        if (thread_index() == 0) {
            cell_counts[prim_id] = max(count, 1);
            masks[prim_id] = count == 0 ? 1u : 0u;
        }
    });
}

// `places`: the exclusive sums of `cell_counts`. Places behind the last key are sorted to the end.
extern "C" __global__ void write_keys(Primitives primitives, const float4* box, const int* places,
                                      const int* cell_counts, const unsigned* masks, int capacity, int* chosen,
                                      int* counts, uint64* keys) {
    const OctreeSpace space = load_space(box);
    const int n = primitives.count;
    const int total = places[n - 1] + cell_counts[n - 1];
    for (int i : grid_stride(max(n, capacity))) {
        if (i == 0) {
            const bool fits = total <= capacity && !chosen[IS_REFUSED];
            chosen[KEYS_MADE] = fits ? total : 0;
            counts[WORKING_NOW] = total;
            counts[STATUS_NOW] = fits ? 0 : WORKING_FULL;
        }
        if (i >= total && i < capacity) keys[i] = ~0ull;
        if (i >= n || cell_counts[i] == 0) continue;
        const MetCells<Primitives> met(primitives, i, space, chosen[CHOSEN_LEVEL], primitives.aabb(i));
        if (met.is_large()) continue;
        const int cells = met.count(), last = places[i] + cell_counts[i];
#pragma unroll 1
        for (int place = 0, key = places[i]; place < cells && key < min(last, capacity); ++place) {
            const bool is_met = cells <= 32 ? (masks[i] >> place & 1u) != 0u : met.meets(place);
            if (is_met || (place == 0 && cells > 32 && (masks[i] & 1u) != 0u)) keys[key++] = met.key(place, i);
        }
    }
}

// The keys of one primitive in any order: no two are of one cell, and they are sorted by cells.
extern "C" __global__ void __launch_bounds__(64)
    write_keys_of_large(Primitives primitives, const float4* box, const int* places, const unsigned* masks,
                        const int* chosen, const int* counts, int* large, uint64* keys) {
    if (counts[STATUS_NOW] != 0) return;
    const OctreeSpace space = load_space(box);
    SHARED int next;
    LargePrimitives{large}.each([&](int prim_id) {
        const MetCells<Primitives> met(primitives, prim_id, space, chosen[CHOSEN_LEVEL], primitives.aabb(prim_id));
        if (thread_index() == 0) next = places[prim_id];
        block_sync();
        const bool is_in_none = masks[prim_id] != 0u;
#pragma unroll 1
        for (int place : block_stride(is_in_none ? 1 : met.count())) {
            if (is_in_none || met.meets(place)) keys[block_atomic_add(&next, 1)] = met.key(place, prim_id);
        }
        block_sync();
    });
}
