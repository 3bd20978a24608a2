// Clusters: the references of equal first bits, their boxes, and the tasks below them. Garanzha et al. 2011; Meister
// 2014, 6.1.2, finds them by splitting on and on, here the codes are sorted already: a cluster begins where the bits
// change.
//
// In: sorted keys, Primitives. Out: the list of clusters, the first tasks of the median splits. Launch order is the
// file's, with a scan of `is_cell` to `places` after begin_references. Unit constants: CODE_BITS, CLUSTER_BITS, TASK
// (median_splits.cu; 0: all tasks go to one queue, that of the wide ones).
#include "gpu/device/block_box.cuh"
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/clusters.cuh"
#include "gpu/hierarchy/bvh/median_splits.cuh"
#include "gpu/hierarchy/morton_order.cuh"

// `is_cell` is 0 everywhere before.
extern "C" __global__ void begin_references(int n, const uint64* keys, const int* prim_ids, int* order, uint8* flags,
                                            int* is_cell, int2* cell_ranges) {
    for (int i : grid_stride(n)) {
        order[i] = prim_id_of(keys, prim_ids, i);
        if (i < n - 1) flags[i] = 0;
        const int cell = cell_of(code_of(keys[i]));
        if (i == 0 || cell_of(code_of(keys[i - 1])) != cell) {
            is_cell[cell] = 1;
            cell_ranges[cell].x = i;
        }
        if (i == n - 1 || cell_of(code_of(keys[i + 1])) != cell) cell_ranges[cell].y = i;
    }
}

// Put this block's tasks into a queue: prefix sums in the block, one addition for all of it (Garanzha). Their order
// there changes no result.
__device__ __forceinline__ void queue_task(bool is_task, int2 packed, int2* queue, int* queue_count, int* first_place) {
    int total;
    const int before = block_exclusive_scan(is_task ? 1 : 0, total);
    if (thread_index() == 0) *first_place = atomic_add(queue_count, total);
    block_sync();
    if (is_task) queue[*first_place + before] = packed;
    block_sync();
}

// `wide_count` and `small_count` are 0 before.
extern "C" __global__ void begin_clusters(const int* is_cell, const int* places, const int2* cell_ranges,
                                          int max_leaf_size, int* cells, int2* ranges, int* boxes, int* cluster_count,
                                          int2* wide, int* wide_count, int2* small, int* small_count) {
    SHARED int first_place;
    const int count = places[CELLS - 1] + is_cell[CELLS - 1];
    if (block_index() == 0 && thread_index() == 0) *cluster_count = count;
    for (int start = block_index() * block_threads(); start < CELLS; start += block_count() * block_threads()) {
        const int cell = start + thread_index();
        bool is_node = false, is_wide = false;
        int2 packed = no_task();
        if (cell < CELLS && is_cell[cell]) {
            const int cluster = places[cell];
            const int2 range = cell_ranges[cell];
            cells[cluster] = cell;
            ranges[cluster] = range;
            empty_words(boxes + 6 * cluster);
            is_node = range.y - range.x >= max_leaf_size;
            is_wide = is_node && range.y - range.x >= TASK;
            packed = pack_task(range.x, range.y, is_cluster_left(cluster, count));
        }
        queue_task(is_wide, packed, wide, wide_count, &first_place);
        if (TASK > 0) queue_task(is_node && !is_wide, packed, small, small_count, &first_place);
    }
}

// -- boxes -----------------------------------------------------------------------------------------------

constexpr int WARP_REFERENCES = 256;  // neighbours that a warp takes at once
constexpr int NO_CLUSTER = -1;

// The lanes' boxes of one cluster, joined first. All lanes call it together.
__device__ __forceinline__ void merge_warp_into(int* boxes, int cluster, const Aabb& box) {
    if (cluster == NO_CLUSTER) return;
    const Aabb joined = {make_float3(warp_min(box.lower.x), warp_min(box.lower.y), warp_min(box.lower.z)),
                         make_float3(warp_max(box.upper.x), warp_max(box.upper.y), warp_max(box.upper.z))};
    if (warp_lane() == 0) merge_box_into(boxes + 6 * cluster, joined);
}

// A warp goes along its references and keeps a box per lane as long as all lanes are in one cluster. Minima and maxima
// do not mind the order.
extern "C" __global__ void bound_clusters(Primitives primitives, const uint64* keys, const int* order,
                                          const int* places, int* boxes) {
    const int n = primitives.count, warp_count = block_count() * (block_threads() / WARP_LANES);
    for (int64 start =
             (int64)(block_index() * (block_threads() / WARP_LANES) + thread_index() / WARP_LANES) * WARP_REFERENCES;
         start < n; start += (int64)warp_count * WARP_REFERENCES) {
        int running = NO_CLUSTER;
        Aabb running_box = empty_aabb();
        for (int step = 0; step < WARP_REFERENCES; step += WARP_LANES) {
            const int64 reference = start + step + warp_lane();
            const bool is_here = reference < n;
            const int cluster = places[cell_of(code_of(keys[is_here ? reference : n - 1]))];
            const Aabb box = is_here ? primitives.aabb(order[reference]) : empty_aabb();
            if (warp_all(cluster == running)) {
                running_box = merge(running_box, box);
                continue;
            }
            merge_warp_into(boxes, running, running_box);
            if (warp_all(cluster == warp_broadcast(cluster, 0))) {
                running = cluster;
                running_box = box;
            } else {
                running = NO_CLUSTER;
                merge_box_into(boxes + 6 * cluster, box);
            }
        }
        merge_warp_into(boxes, running, running_box);
    }
}
