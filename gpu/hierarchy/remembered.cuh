// What is known of nodes that were met a moment ago, by their number: who walks up from node after node, as the host
// does over nodes that lie side by side, goes only as far as an ancestor that is still remembered. Where a block has
// many threads nothing is kept: neighbours are other threads'.
#pragma once
#include "gpu/device/warp.cuh"

constexpr int REMEMBERED = RUNS_SERIAL ? 256 : 0;

template <class Value>
struct Remembered {
    int ids[REMEMBERED > 0 ? REMEMBERED : 1];
    Value values[REMEMBERED > 0 ? REMEMBERED : 1];

    __device__ __forceinline__ void clear() {
        for (int i = 0; i < REMEMBERED; ++i) ids[i] = -1;
    }
    __device__ __forceinline__ bool find(int node_id, Value& found) const {
        if constexpr (REMEMBERED > 0) {
            const int at = node_id & (REMEMBERED - 1);
            if (ids[at] != node_id) return false;
            found = values[at];
            return true;
        } else {
            return false;
        }
    }
    __device__ __forceinline__ void keep(int node_id, const Value& value) {
        if constexpr (REMEMBERED > 0) {
            const int at = node_id & (REMEMBERED - 1);
            ids[at] = node_id;
            values[at] = value;
        }
    }
};
