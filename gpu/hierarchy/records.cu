// Writes primitives' records in the scene's order, and their common box: what a structure without a tree needs.
#include "gpu/device/block_box.cuh"

extern "C" __global__ void write_records(Primitives primitives, float4* record_data, int* order) {
    const Records records = {record_data};
    for (int i : grid_stride(primitives.count)) {
        records.write(i, primitives, i);
        order[i] = i;
    }
}

// `result`: lower and upper as ordered integers (the caller starts them), then the number of inactive references.
extern "C" __global__ void measure_records(float4* record_data, int count, int* result) {
    const Records records = {record_data};
    Aabb box = empty_aabb();
    int inactive_count = 0;
    for (int i : grid_stride(count)) {
        box = merge(box, records.aabb(i));
        inactive_count += !records.is_active(i);
    }
    merge_block_box(box, result);
    inactive_count = block_sum(inactive_count);
    if (thread_index() == 0) atomic_add(result + 6, inactive_count);
}
