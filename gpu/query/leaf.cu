// The leaf that holds each of many places, of structures whose leaves divide space: a place a thread.
#include "gpu/device/loops.cuh"
#include "gpu/query/input.cuh"

// `cells`: six for each place, lower and upper corner; an empty box where there is no leaf.
extern "C" __global__ void find_leaves(QueryInput input, int count, int* leaf_ids, int* reference_counts,
                                       float* cells) {
    for (int i : grid_stride(count)) {
        const float3 place = input.question.place(i);
        FoundLeaf found = {-1, 0, empty_aabb()};
        if (is_finite(place)) found = leaf_at(input.tree, place);
        leaf_ids[i] = found.node_id;
        reference_counts[i] = found.reference_count;
        store3(cells, 2 * (int64)i, found.cell.lower);
        store3(cells, 2 * (int64)i + 1, found.cell.upper);
    }
}
