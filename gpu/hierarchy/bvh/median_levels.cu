// Spatial median splits as Garanzha et al. (2011) and Meister (2014, 5.4.1, 6.1.1) launch them: one kernel a level, a
// thread a task, which writes up to two tasks of the next level.
//
// Levels lie one behind the other in one array instead of in two queues that are swapped, so that the refit finds each
// level again. Within a warp prefix sums give places, and its first lane adds the number of its tasks to the next
// level's (Meister's figure 5.5). Node ids are Karras' (tree.py), not the order of arrival, which so changes nothing.
//
// Launch order: begin_levels (or what else fills level 0), then split_level for each level. Unit constants: CODE_BITS,
// REFERENCE_BITS.
#include "gpu/device/atomics.cuh"
#include "gpu/device/loops.cuh"
#include "gpu/device/warp.cuh"
#include "gpu/hierarchy/bvh/median_splits.cuh"
#include "gpu/hierarchy/bvh/range_links.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// One task over everything. `counts` is 0 everywhere before.
extern "C" __global__ void begin_levels(int n, const uint64* keys, const int* prim_ids, int* order, int* parent,
                                        uint8* flags, int* root, int max_leaf_size, int2* tasks, int* counts) {
    for (int i : grid_stride(n)) {
        order[i] = prim_id_of(keys, prim_ids, i);
        if (i < n - 1) flags[i] = 0;
        if (i == 0) {
            const bool is_node = n > max_leaf_size;
            *root = is_node ? 0 : leaf_child(0, n);
            if (n > 1) parent[0] = -1;
            tasks[0] = pack_task(0, n - 1, false);
            counts[0] = is_node ? 1 : 0;
        }
    }
}

// `firsts` and `counts`: where each level's tasks begin, 0 of the first, and how many they are. Those of the next level
// are counted here.
extern "C" __global__ void split_level(const uint64* keys, float4* nodes, int* parent, uint8* flags, int max_leaf_size,
                                       int level, int2* tasks, int* firsts, int* counts) {
    const Links links = {nodes, parent, flags, max_leaf_size};
    const int first = firsts[level], count = counts[level], next = first + count;
    if (block_index() == 0 && thread_index() == 0) firsts[level + 1] = next;
    const auto code_at = [&](int at) { return code_of(keys[at]); };
    const int step = block_count() * block_threads();
    for (int start = block_index() * block_threads() + thread_index() - warp_lane(); start < count; start += step) {
        const int i = start + warp_lane();
        int2 left = no_task(), right = left;
        if (i < count) {
            const Task task = unpack_task(tasks[first + i]);
            const int split = find_split_alone(code_at, task.first, task.last);
            links.write_inner_node(task.node_id(), task.first, split, task.last);
            if (!links.is_leaf_range(task.first, split)) left = pack_task(task.first, split, true);
            if (!links.is_leaf_range(split + 1, task.last)) right = pack_task(split + 1, task.last, false);
        }
        const int made = (left.y >= 0 ? 1 : 0) + (right.y >= 0 ? 1 : 0), until = warp_inclusive_scan(made),
                  all = warp_broadcast(until, WARP_LANES - 1);
        int place = 0;
        if (warp_lane() == 0 && all > 0) place = atomic_add(counts + level + 1, all);
        place = next + warp_broadcast(place, 0) + until - made;
        if (left.y >= 0) tasks[place++] = left;
        if (right.y >= 0) tasks[place] = right;
    }
}
