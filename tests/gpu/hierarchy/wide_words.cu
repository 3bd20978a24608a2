// Words and packed clusters of wide trees, written and read again: for test_wide_references.py.
#include "gpu/device/loops.cuh"
#include "gpu/hierarchy/bvh/clusters.cuh"

// `firsts`, `counts`: leaves. `read_again`: what their words say.
extern "C" __global__ void round_trip_words(int n, const int* firsts, const int* counts, int2* read_again) {
    for (int i : grid_stride(n)) {
        const int word = leaf_child(firsts[i], counts[i]);
        read_again[i].x = is_leaf(word) ? first_reference(word) : -1;
        read_again[i].y = reference_count(word);
    }
}

// `clusters`: id, place, leaf count, height, is collapsed; `read_again` the same.
extern "C" __global__ void round_trip_clusters(int n, const int* clusters, int* read_again) {
    for (int i : grid_stride(n)) {
        const int* row = clusters + 5 * i;
        const Cluster found = unpack(pack({empty_aabb(), row[0], row[2], row[1], row[3], row[4]}));
        int* out = read_again + 5 * i;
        out[0] = found.id;
        out[1] = found.place;
        out[2] = found.leaf_count;
        out[3] = found.height;
        out[4] = found.is_collapsed;
    }
}
