// Before the first level: the references of active primitives side by side, and the root, which may be a leaf.
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/octree/builders/octree_top_down/level.cuh"

extern "C" __global__ void clear_start(int level_words, int* levels, int tile_words, int* tile_sums, int addition_words,
                                       int* additions, int* box_words, int* counts) {
    for (int i : grid_stride(max(level_words, max(tile_words, addition_words)))) {
        if (i < level_words) levels[i] = 0;
        if (i < tile_words) tile_sums[i] = 0;
        if (i < addition_words) additions[i] = 0;
        if (i == 0) empty_words(box_words);
        if (i < COUNT_WORDS) counts[i] = 0;
    }
}

extern "C" __global__ void find_active(Primitives primitives, int* active, int* box_words) {
    Aabb bounds = empty_aabb();
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        active[i] = is_empty(box) ? 0 : 1;
        bounds = merge(bounds, box);
    }
    merge_block_box(bounds, box_words);
}

__device__ __forceinline__ Aabb box_of_words(const int* words, bool is_any) {
    const float3 none = make_float3(0.0f, 0.0f, 0.0f), most = make_float3(FLOAT_MAX, FLOAT_MAX, FLOAT_MAX);
    if (!is_any) return {none, none};
    return {max(make_float3(ordered_float(words[0]), ordered_float(words[1]), ordered_float(words[2])), -most),
            min(make_float3(ordered_float(words[3]), ordered_float(words[4]), ordered_float(words[5])), most)};
}

// `places`: how many active primitives come before each.
extern "C" __global__ void make_root(int n, const int* active, const int* places, const int* box_words, int* levels,
                                     int4* cells, int4* ranges, int* prim_ids, int* slot_ids, float share,
                                     int leaf_primitives, int working_capacity, int reference_capacity, int* counts,
                                     float4* box, int2* draft_nodes, int* draft_parent, int* draft_references) {
    const int count = places[n - 1] + active[n - 1];
    const bool is_leaf = count <= leaf_primitives;
    for (int i : grid_stride(n)) {
        if (i == 0) {
            store_space(box, box_of_words(box_words, count > 0));
            store_octree_node(draft_nodes, 0, 0, is_leaf ? ~count : 0);
            draft_parent[0] = -1;
            const int status = (count > working_capacity ? WORKING_FULL : 0) |
                               (is_leaf && count > reference_capacity ? REFERENCES_FULL : 0);
            counts[NODES_NOW] = 1;
            counts[REFERENCES_NOW] = is_leaf ? count : 0;
            counts[STATUS_NOW] = status;
            counts[WORKING_NOW] = count;
            levels[LEVEL_CELLS] = is_leaf || status != 0 ? 0 : 1;
            levels[LEVEL_REFERENCES] = is_leaf || status != 0 ? 0 : count;
            levels[LEVEL_FIRST_NODE] = 1;
            levels[LEVEL_FIRST_REFERENCE] = is_leaf ? count : 0;
            store_open_cell(cells, ranges, 0, {{0, 0, 0, 0}, 0, 0, count, share});
        }
        if (active[i] == 0) continue;
        const int place = places[i];
        if (is_leaf && place < reference_capacity) draft_references[place] = i;
        if (!is_leaf && place < working_capacity) {
            prim_ids[place] = i;
            slot_ids[place] = 0;
        }
    }
}
