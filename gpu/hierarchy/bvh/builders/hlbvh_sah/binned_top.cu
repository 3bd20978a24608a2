// SAH splits above the clusters as Meister (2014, 5.4.2, 6.1.2) has them: binned at every level, down to single
// clusters, by a queue of tasks. A level is four kernels: bins are reset, clusters are binned, tasks split, clusters
// distributed.
//
// There are as many bins as an axis has cells, so that some plane parts any two clusters. Levels from `first_halved` on
// split the longest row of bins in its middle, which bounds the depth. Where tasks lie in a queue is the order of their
// arrival; node ids are those of clusters.cuh, which it does not change.
//
// Launch order is the file's, begin_binned_top once. Unit constants: CODE_BITS, CLUSTER_BITS, BINS (2^(CLUSTER_BITS /
// 3)).
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/cluster_bins.cuh"

constexpr int NO_TASK = -1;  // of a cluster that stands alone

//  byte  0       4         8            12             16
//        | split | node id | left place | right place |     places in the next queue, NO_TASK of one cluster alone
__device__ __forceinline__ int place_of(const int4& split, bool is_right) { return is_right ? split.w : split.z; }

// One task, of all clusters. `counts`, of tasks in each level, is 0 everywhere before.
extern "C" __global__ void begin_binned_top(const int* cluster_count, int most_clusters, const int2* ranges,
                                            int max_leaf_size, int* task_of, int4* task_data, int* counts,
                                            float4* nodes, int* parent, uint8* flags, int* root) {
    const int count = *cluster_count;
    for (int i : grid_stride(most_clusters)) task_of[i] = count > 1 ? 0 : NO_TASK;
    if (block_index() > 0 || thread_index() > 0) return;
    ((TopTask*)task_data)[0] = {0, count, 0, NO_PARENT};
    if (count > 1) {
        counts[0] = 1;
    } else {
        const TopTree tree = {nodes, parent, flags, root, ranges};
        tree.hang(cluster_word(ranges, 0, count, max_leaf_size), NO_PARENT);
    }
}

extern "C" __global__ void reset_bins(int level, const int* counts, float4* bin_data) {
    for (int i : grid_stride(counts[level] * TASK_BINS)) ((ClusterBin*)bin_data)[i].clear();
}

extern "C" __global__ void bin_clusters_of_level(const int* cluster_count, const int* cells, const int2* ranges,
                                                 const int* boxes, const int* task_of, float4* bin_data) {
    for (int cluster : grid_stride(*cluster_count)) {
        if (task_of[cluster] == NO_TASK) continue;
        ClusterBin* const of_task = (ClusterBin*)bin_data + (int64)task_of[cluster] * TASK_BINS;
        const int reference_count = ranges[cluster].y - ranges[cluster].x + 1;
        for (int axis = 0; axis < 3; ++axis)
            share_bin(of_task[axis * BINS + bin_of(cells[cluster], axis)], boxes + 6 * cluster, reference_count, 1);
    }
}

// The middle of the axis on which clusters lie farthest apart, of equal ones the first. All threads of the block call
// it.
__device__ __forceinline__ int find_middle(const ClusterBin* bins, int* left_count) {
    int chosen = 0, farthest = 0;
    for (int axis = 0; axis < 3; ++axis) {
        int first = BINS, last = 0;
        for (int bin = 0; bin < BINS; ++bin) {
            if (bins[axis * BINS + bin].cluster_count == 0) continue;
            first = min(first, bin);
            last = bin;
        }
        if (last - first <= farthest) continue;
        farthest = last - first;
        chosen = 3 * ((first + last) / 2) + axis;
    }
    int left = 0;
    for (int bin = 0; bin <= chosen / 3; ++bin) left += bins[chosen % 3 * BINS + bin].cluster_count;
    if (thread_index() == 0) *left_count = left;
    block_sync();
    return chosen;
}

// One block per task.
extern "C" __global__ void split_tasks_of_level(int level, int first_halved, int* counts, const int4* task_data,
                                                const float4* bin_data, const int2* ranges, float4* nodes, int* parent,
                                                uint8* flags, int* root, int4* splits, int4* next_task_data) {
    SHARED ClusterBin bins[TASK_BINS];
    SHARED int left_count;
    const TopTree tree = {nodes, parent, flags, root, ranges};
    const int task_count = counts[level];
    for (int task = block_index(); task < task_count; task += block_count()) {
        const ClusterBin* const mine = (const ClusterBin*)bin_data + (int64)task * TASK_BINS;
        for (int i : block_stride(TASK_BINS)) bins[i] = mine[i];
        block_sync();
        const int split = level < first_halved ? find_plane(bins, &left_count) : find_middle(bins, &left_count);
        if (thread_index() == 0) {
            const TopTask whole = ((const TopTask*)task_data)[task];
            const int node_id = tree.add(whole);
            const TopTask left = left_task(whole, left_count, node_id), right = right_task(whole, left_count, node_id);
            const int lefts = left.count > 1 ? 1 : 0, rights = right.count > 1 ? 1 : 0;
            const int place = lefts + rights > 0 ? atomic_add(counts + level + 1, lefts + rights) : 0;
            if (lefts > 0) ((TopTask*)next_task_data)[place] = left;
            if (rights > 0) ((TopTask*)next_task_data)[place + lefts] = right;
            splits[task] = make_int4(split, node_id, lefts > 0 ? place : NO_TASK, rights > 0 ? place + lefts : NO_TASK);
        }
        block_sync();
    }
}

// Clusters to the children of their tasks; one that is alone in its hangs there.
extern "C" __global__ void distribute_clusters(const int* cluster_count, const int* cells, const int2* ranges,
                                               int max_leaf_size, const int4* splits, int* task_of, float4* nodes,
                                               int* parent, uint8* flags, int* root) {
    const TopTree tree = {nodes, parent, flags, root, ranges};
    const int count = *cluster_count;
    for (int cluster : grid_stride(count)) {
        if (task_of[cluster] == NO_TASK) continue;
        const int4 split = splits[task_of[cluster]];
        const bool is_right = bin_of(cells[cluster], split.x % 3) > split.x / 3;
        const int place = place_of(split, is_right);
        if (place == NO_TASK)
            tree.hang(cluster_word(ranges, cluster, count, max_leaf_size), 2 * split.y + (is_right ? 1 : 0));
        task_of[cluster] = place;
    }
}
