// The box of a grid and how many cells divide it, decided where the primitives are. Launch order is the file's.
//
// Unit constant: IS_SOLID, whether primitives may fill the cells inside of them, too.
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/grid/extents.cuh"

__device__ __forceinline__ Aabb box_of(const int* words) {
    return {make_float3(ordered_float(words[0]), ordered_float(words[1]), ordered_float(words[2])),
            make_float3(ordered_float(words[3]), ordered_float(words[4]), ordered_float(words[5]))};
}

extern "C" __global__ void clear_shape(int* box_words, uint64* extent_sums) {
    for (int i : grid_stride(EXTENT_SUMS)) {
        if (i == 0) empty_words(box_words);
        extent_sums[i] = 0;
    }
}

extern "C" __global__ void find_box(Primitives primitives, int* box_words) {
    Aabb box = empty_aabb();
    for (int i : grid_stride(primitives.count)) box = merge(box, primitives.aabb(i));
    merge_block_box(box, box_words);
}

extern "C" __global__ void sum_extents(Primitives primitives, const int* box_words, uint64* extent_sums) {
    const Aabb box = box_of(box_words);
    const float longest = longest_half(box);
    ExtentSums found = {};
    for (int i : grid_stride(primitives.count)) {
        const Aabb own = primitives.aabb(i);
        if (!is_empty(own)) found.add(own, box, longest);
    }
    for (int i = 0; i < EXTENT_SUMS; ++i) {
        const uint64 sum = block_sum(found.sums[i]);
        if (thread_index() == 0 && sum != 0) atomic_add(extent_sums + i, sum);
    }
}

// `most_references`: per primitive. `step_cost` and `test_cost`: 0 where the finest grid is wanted that is allowed.
extern "C" __global__ void choose_cells(const int* box_words, const uint64* extent_sums, int most_cells, int most_along,
                                        float most_references, float step_cost, float test_cost, int* counts,
                                        float4* box) {
    for (int item : grid_stride(1)) {
        const Aabb of = box_of(box_words + item);
        const Fineness fineness(of, extent_sums, most_along);
        int best = fineness.finest(most_cells, fineness.members * most_references);
        if (step_cost > 0.0f || test_cost > 0.0f) {
            const int finest = best;
            double least = fineness.cost(best, step_cost, test_cost);
            for (int tried = 1; tried < finest; tried += 1 + tried / 16) {
                const double cost = fineness.cost(tried, step_cost, test_cost);
                if (cost < least) {
                    least = cost;
                    best = tried;
                }
            }
        }
        const int3 count = fineness.counts(best);
        store_grid(box, of, count);
        counts[NODES_NOW] = count.x * count.y * count.z;
        counts[REFERENCES_NOW] = 0;
        counts[STATUS_NOW] = 0;
        counts[WORKING_NOW] = 0;
    }
}
