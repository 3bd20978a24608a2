// The objects' own trees, all at once: primitives sorted by object and, within each, by their Morton code in the
// object's box. Launch order is the file's; the caller sorts before search_objects, and the family's
// compute_tile_bounds makes records, boxes and flags (gpu/hierarchy/bvh/refit/refit.cu).
//
// A key is object << 30 | code: neighbours of two objects differ more than any two of one object. Unit constant:
// CODE_BITS, 60 (keys hold no index).
#include "gpu/device/block_box.cuh"
#include "gpu/device/morton.cuh"
#include "gpu/hierarchy/bvh/builders/two_level/objects.cuh"
#include "gpu/hierarchy/bvh/prefix_search.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"

constexpr int OBJECT_SHIFT = 30;
constexpr int NO_PARENT = -1;

// The tree above is gone. Before a refit, objects' trees end at their roots; before a build there are none, and
// `bounds` (6 ordered integers per object) become empty.
extern "C" __global__ void detach_objects(const int2* ranges, int* roots, int object_count, int* parent, uint8* flags,
                                          int* bounds) {
    const Objects objects = {ranges, roots, object_count};
    for (int object : grid_stride(object_count)) {
        if (bounds == nullptr && !is_leaf(objects.root(object))) parent[objects.root(object)] = NO_PARENT;
        if (object < object_count - 1) flags[objects.id_above(object)] = 0;
        if (bounds != nullptr) empty_words(bounds + 6 * (int64)object);
    }
}

// The nodes of the listed tiles' objects exist in `moved`, which is zero before.
extern "C" __global__ void mark_listed(const int4* tiles, const int* listed, const uint8* flags, int node_capacity,
                                       uint8* moved) {
    for (int i = block_index(); i < listed[0]; i += block_count()) {
        const int4 tile = tiles[listed[1 + i]];
        for (int at : block_stride(min(node_capacity - tile.x, tile.y))) moved[tile.x + at] = flags[tile.x + at];
    }
}

// A tile per block. Inactive primitives count for nothing.
extern "C" __global__ void bound_objects(Primitives primitives, const int2* ranges, int object_count, const int4* tiles,
                                         int tile_count, int* bounds) {
    const Objects objects = {ranges, nullptr, object_count};
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const int4 tile = tiles[t];
        Aabb box = empty_aabb();
        for (int i : block_stride(tile.y)) {
            const Aabb own = primitives.aabb(tile.x + i);
            if (is_empty(own)) continue;
            box = merge(box, own);
            if (!is_of_one_object(tile))
                merge_box_into(bounds + 6 * (int64)objects.holder(tile.x + i, tile.z, tile.w), own);
        }
        if (is_of_one_object(tile)) merge_block_box(box, bounds + 6 * (int64)tile.z);
    }
}

extern "C" __global__ void code_primitives(Primitives primitives, const int2* ranges, int object_count,
                                           const int4* tiles, int tile_count, const int* bounds, uint64* keys,
                                           int* prim_ids) {
    const Objects objects = {ranges, nullptr, object_count};
    for (int t = block_index(); t < tile_count; t += block_count()) {
        const int4 tile = tiles[t];
        for (int i : block_stride(tile.y)) {
            const int prim_id = tile.x + i, object = objects.holder(prim_id, tile.z, tile.w);
            const int* const at = bounds + 6 * (int64)object;
            const Cube cube(make_float3(ordered_float(at[0]), ordered_float(at[1]), ordered_float(at[2])),
                            make_float3(ordered_float(at[3]), ordered_float(at[4]), ordered_float(at[5])));
            keys[prim_id] = (uint64)object << OBJECT_SHIFT | morton_code_30(cube.place(primitives.aabb(prim_id)));
            prim_ids[prim_id] = prim_id;
        }
    }
}

// One thread a gap, as in lbvh. Gaps between objects split nothing here.
extern "C" __global__ void search_objects(const uint64* keys, const int* prim_ids, int n, const int2* ranges,
                                          int* roots, int object_count, int max_leaf_size, int* order, float4* nodes,
                                          int* parent, uint8* flags) {
    const Objects objects = {ranges, roots, object_count};
    const Links links = {nodes, parent, flags, max_leaf_size};
    for (int gap : grid_stride(n)) {
        order[gap] = prim_ids[gap];
        const int object = (int)(keys[gap] >> OBJECT_SHIFT);
        if (gap == objects.first(object)) {
            const int count = objects.last(object) - gap + 1;
            const bool is_leaf_object = count <= max_leaf_size;
            roots[object] = is_leaf_object ? leaf_child(gap, count) : objects.root_id(object);
            if (!is_leaf_object) parent[objects.root_id(object)] = NO_PARENT;
        }
        if (gap == n - 1) continue;
        if ((int)(keys[gap + 1] >> OBJECT_SHIFT) != object) continue;
        const Prefix prefix = {keys, code_of(keys[gap]), n, gap, rank_of_gap(keys, n, gap)};
        const int first = farthest(prefix, gap, -1), last = farthest(prefix, gap + 1, 1);
        const bool is_root = first == objects.first(object) && last == objects.last(object);
        const bool is_left = rank_of_gap(keys, n, last) < rank_of_gap(keys, n, first - 1);
        const int node_id = is_root ? objects.root_id(object) : is_left ? last : first;
        if (links.is_leaf_range(first, last)) {
            flags[node_id] = 0;
            continue;
        }
        links.write_inner_node(node_id, first, gap, last);
    }
}
