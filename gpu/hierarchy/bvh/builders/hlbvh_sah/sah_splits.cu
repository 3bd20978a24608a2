// SAH splits of the top levels, over clusters, many tasks per launch: binning, evaluation, distribution (Garanzha et
// al. 2011; Meister 2014, 5.4.2, 6.1.2).
//
// A task's number, its slot, is its way from the root: the children of slot s are 2s and 2s + 1 of the next round. So
// there are no queues, no counters and no order of arrival; a task of few clusters, which finish_clusters.cu takes,
// keeps the left way. Bins count along the cells' own grid: planes lie between cells, and two clusters differ in a bin
// on some axis as long as an axis has no more than BINS cells.
//
// Launch order: begin_splits; a round is bin_clusters and split_tasks; list_clusters. Unit constants: CODE_BITS,
// CLUSTER_BITS, BINS, SMALL, ROUNDS.
// from gpu.hierarchy.bvh.builders.hlbvh_sah import TILE
#include "gpu/hierarchy/bvh/builders/hlbvh_sah/cluster_bins.cuh"

// One task, of all clusters.
extern "C" __global__ void begin_splits(const int* cluster_count, int most_clusters, int* task_of, int4* task_data,
                                        float4* bin_data) {
    for (int i : grid_stride(max(most_clusters, TASK_BINS))) {
        if (i < most_clusters) task_of[i] = 0;
        if (i < TASK_BINS) ((ClusterBin*)bin_data)[i].clear();
        if (i == 0) ((TopTask*)task_data)[0] = {0, *cluster_count, 0, NO_PARENT};
    }
}

// A cluster's slot after the splits of its task.
__device__ __forceinline__ int next_slot(int slot, int split, int cell) {
    return 2 * slot + (split != NO_SPLIT && bin_of(cell, split % 3) > split / 3 ? 1 : 0);
}

// One more cluster in a bin of this block.
__device__ __forceinline__ void add_cluster(ClusterBin& bin, const int* box, int reference_count) {
    for (int i = 0; i < 3; ++i) block_atomic_min(&bin.box[i], box[i]);
    for (int i = 3; i < 6; ++i) block_atomic_max(&bin.box[i], box[i]);
    block_atomic_add(&bin.reference_count, reference_count);
    block_atomic_add(&bin.cluster_count, 1);
}

// Clusters go to the children of their tasks, and into their bins. In the first rounds all of a tile are in one
// task, and in few bins of it: those are added up in shared memory first.
extern "C" __global__ void bin_clusters(const int* cluster_count, const int* cells, const int2* ranges,
                                        const int* boxes, int is_first_round, const int* splits, const int4* task_data,
                                        int* task_of, float4* bin_data) {
    SHARED ClusterBin bins[TASK_BINS];
    const int count = *cluster_count;
    for (int start = block_index() * TILE; start < count; start += block_count() * TILE) {
        const int tile_count = min(TILE, count - start);
        int lowest = 0x7fffffff, highest = -1;
        for (int i : block_stride(tile_count)) {
            int slot = task_of[start + i];
            if (!is_first_round) task_of[start + i] = slot = next_slot(slot, splits[slot], cells[start + i]);
            lowest = min(lowest, slot);
            highest = max(highest, slot);
        }
        lowest = block_min(lowest);
        highest = block_max(highest);
        const bool is_one_task = lowest == highest;
        if (is_one_task && ((const TopTask*)task_data)[lowest].count <= SMALL) continue;
        for (int i : block_stride(is_one_task ? TASK_BINS : 0)) bins[i].clear();
        block_sync();
        for (int i : block_stride(tile_count)) {
            const int cluster = start + i, cell = cells[cluster], slot = task_of[cluster];
            if (((const TopTask*)task_data)[slot].count <= SMALL) continue;
            const int reference_count = ranges[cluster].y - ranges[cluster].x + 1;
            for (int axis = 0; axis < 3; ++axis) {
                const int bin = axis * BINS + bin_of(cell, axis);
                if (is_one_task) add_cluster(bins[bin], boxes + 6 * cluster, reference_count);
                else
                    share_bin(((ClusterBin*)bin_data)[slot * TASK_BINS + bin], boxes + 6 * cluster, reference_count, 1);
            }
        }
        block_sync();
        for (int i : block_stride(is_one_task ? TASK_BINS : 0)) {
            if (bins[i].cluster_count == 0) continue;
            share_bin(((ClusterBin*)bin_data)[lowest * TASK_BINS + i], bins[i].box, bins[i].reference_count,
                      bins[i].cluster_count);
        }
        block_sync();
    }
}

// One block per task.
extern "C" __global__ void split_tasks(int task_count, const int4* task_data, const float4* bin_data,
                                       const int2* ranges, float4* nodes, int* parent, uint8* flags, int* root,
                                       int* splits, int4* next_task_data, float4* next_bin_data) {
    SHARED ClusterBin bins[TASK_BINS];
    SHARED int left_count;
    const TopTree tree = {nodes, parent, flags, root, ranges};
    for (int slot = block_index(); slot < task_count; slot += block_count()) {
        const TopTask task = ((const TopTask*)task_data)[slot];
        TopTask* children = (TopTask*)next_task_data + 2 * slot;
        int split = NO_SPLIT;
        if (task.count > SMALL) {
            for (int i : block_stride(TASK_BINS)) bins[i] = ((const ClusterBin*)bin_data)[slot * TASK_BINS + i];
            block_sync();
            split = find_plane(bins, &left_count);
            for (int i : block_stride(2 * TASK_BINS)) ((ClusterBin*)next_bin_data)[2 * slot * TASK_BINS + i].clear();
        }
        if (thread_index() == 0) {
            splits[slot] = split;
            if (split == NO_SPLIT) {
                children[0] = task;
                children[1] = {task.start + task.count, 0, 0, NO_PARENT};
            } else {
                const int node_id = tree.add(task);
                children[0] = left_task(task, left_count, node_id);
                children[1] = right_task(task, left_count, node_id);
            }
        }
        block_sync();
    }
}

// What sorts the clusters by their tasks: slot and number in one word. Whatever is no cluster comes last.
extern "C" __global__ void list_clusters(const int* cluster_count, int most_clusters, const int* cells,
                                         const int* splits, const int* task_of, unsigned* keys) {
    for (int i : grid_stride(most_clusters)) {
        keys[i] = ~0u;
        if (i < *cluster_count)
            keys[i] = (unsigned)next_slot(task_of[i], splits[task_of[i]], cells[i]) << (32 - ROUNDS) | (unsigned)i;
    }
}
