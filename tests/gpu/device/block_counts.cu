// Counts of a block that pass 2^31 many times over.
#include "gpu/device/block_counts.cuh"

// `rounds` times, each of so many threads adds the most that is allowed to one of three places; the fourth gets
// nothing.
extern "C" __global__ void count_much(int threads, int rounds, uint64* totals) {
    SHARED int in_block[4];
    const BlockCounts counts = {in_block, totals};
    counts.begin(4);
    for (int round = 0; round < rounds; ++round) {
        for (int i : block_stride(threads)) counts.add((i + round) % 3, LARGEST_COUNT - i % 3);
    }
    counts.end(4);
}
