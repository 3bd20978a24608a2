// What structures whose leaves divide space say of a place (`leaf_at`, gpu/query/regions.cuh): the leaf that holds it.
#pragma once
#include "gpu/device/aabb.cuh"

struct FoundLeaf {
    int node_id;  // among the structure's own nodes; -1 where the place is outside of all
    int reference_count;
    Aabb cell;
};
