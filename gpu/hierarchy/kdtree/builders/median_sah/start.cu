// Before the first level: the references of active primitives side by side, and the root, which may be small at once.
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/kdtree/builders/median_sah/large.cuh"

extern "C" __global__ void clear_start(int level_words, int* levels, int* totals, int* box_words, int* counts) {
    for (int i : grid_stride(level_words)) {
        levels[i] = 0;
        if (i < TOTAL_WORDS) totals[i] = 0;
        if (i < BOX_WORDS) box_words[i] = ordered_int(i < 3 ? FLOAT_MAX : -FLOAT_MAX);
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

// `places`: how many active primitives come before each. The first half of `references` has room for all primitives.
extern "C" __global__ void write_references(Primitives primitives, const int* places, float4* references) {
    for (int i : grid_stride(primitives.count)) {
        const Aabb box = primitives.aabb(i);
        if (!is_empty(box)) store_reference(references, places[i], box, i);
    }
}

// The root, as the first level's only node or as the first small root.
extern "C" __global__ void make_root(int n, const int* places, const int* active, const int* box_words, float share,
                                     int small_count, int* counts, int* levels, int* totals, float4* box,
                                     int2* draft_nodes, int* draft_parent, float4* cells, int4* ranges, int* boxes,
                                     int* side_counts, float4* root_cells, int4* root_ranges) {
    for (int item : grid_stride(1)) {
        const int count = places[n - 1] + active[n - 1];
        OpenNode root;
        root.cell.lower = root.cell.upper = make_float3(0.0f, 0.0f, 0.0f);
        for (int axis = 0; axis < 3 && count > 0; ++axis) {
            set_along(root.cell.lower, axis, ordered_float(box_words[axis]));
            set_along(root.cell.upper, axis, ordered_float(box_words[3 + axis]));
        }
        root.share = share;
        root.depth = root.first = root.node_id = root.first_chunk = item;
        root.count = count;
        box[0] = make_float4(root.cell.lower.x, root.cell.lower.y, root.cell.lower.z, 0.0f);
        box[1] = make_float4(root.cell.upper.x, root.cell.upper.y, root.cell.upper.z, 0.0f);
        store_kd_leaf(draft_nodes, 0, 0, 0);
        draft_parent[0] = -1;
        counts[NODES_NOW] = 1;
        counts[WORKING_NOW] = count;
        const bool is_large = count > small_count;
        if (is_large) {
            store_open_node(cells, ranges, 0, root);
            for (int i = 0; i < BOX_WORDS; ++i) boxes[i] = box_words[i];
            for (int i = 0; i < COUNT_STRIDE; ++i) side_counts[i] = 0;
        } else if (count > 0) {
            store_open_node(root_cells, root_ranges, 0, root);
        }
        totals[SMALL_ROOTS] = !is_large && count > 0 ? 1 : 0;
        levels[LEVEL_NODES] = is_large ? 1 : 0;
        levels[LEVEL_CHUNKS] = is_large ? chunks_of(count) : 0;
        levels[LEVEL_FIRST_NODE] = 1;
    }
}
