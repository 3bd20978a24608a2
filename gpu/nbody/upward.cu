// The way up: multipoles of leaves from their bodies (P2M), of inner nodes from their children (M2M), a depth a launch.
#include "gpu/nbody/cells.cuh"

// The centre of masses, and of places where there is no mass.
struct CentreSum {
    float3 weighted = {}, plain = {};
    float mass = 0.0f;
    int count = 0;

    __device__ __forceinline__ void add(float3 place, float of_mass) {
        weighted += place * of_mass;
        plain += place;
        mass += of_mass;
        ++count;
    }
    __device__ __forceinline__ float3 centre() const {
        return mass > 0.0f ? weighted / mass : plain / (float)max(count, 1);
    }
};

__device__ __forceinline__ void store_row(float* rows, int node, const float* terms) {
    float* row = rows + (int64)node * ROW;
    for (int term = 0; term < TERMS; ++term) row[term] = terms[term];
    for (int term = TERMS; term < ROW; ++term) row[term] = 0.0f;
}

// P2M: centres (m), xyz and radius, and multipoles (m, ROW) of all leaves.
extern "C" __global__ void expand_leaves(PointTreeView tree, float4* centres, float* multipoles) {
    for (int node : grid_stride(tree.counts[TREE_COUNTS::nodes])) {
        if (tree.child_count[node] > 0) continue;
        const int first = tree.first_point[node], count = tree.point_count[node];
        const float3 corner = place_of(tree.points[first]);  // sums relative to it lose less
        CentreSum sum;
        for (int i = first; i < first + count; ++i) sum.add(place_of(tree.points[i]) - corner, tree.points[i].w);
        const float3 centre = corner + sum.centre();
        float terms[TERMS] = {}, radius2 = 0.0f;
        for (int i = first; i < first + count; ++i) {
            const float3 away = place_of(tree.points[i]) - centre;
            radius2 = max(radius2, dot(away, away));
            float powers[TERMS];
            scaled_powers<ORDER>(-away, powers);
            for (int term = 0; term < TERMS; ++term) terms[term] += tree.points[i].w * powers[term];
        }
        centres[node] = make_float4(centre.x, centre.y, centre.z, sqrtf(radius2));
        store_row(multipoles, node, terms);
    }
}

// M2M: the inner nodes of a depth.
extern "C" __global__ void expand_depth(PointTreeView tree, int depth, float4* centres, float* multipoles) {
    const Depth nodes = depth_of(tree, depth);
    for (int i : grid_stride(nodes.count)) {
        const int node = nodes.first + i, first = tree.first_child[node], last = first + tree.child_count[node];
        if (last <= first) continue;
        const float3 corner = place_of(centres[first]);
        CentreSum sum;
        for (int child = first; child < last; ++child)
            sum.add(place_of(centres[child]) - corner, multipoles[(int64)child * ROW]);
        const float3 centre = corner + sum.centre();
        float terms[TERMS] = {}, radius = 0.0f;
        for (int child = first; child < last; ++child) {
            const float3 shift = place_of(centres[child]) - centre;
            radius = max(radius, length(shift) + centres[child].w);
            shift_multipoles<ORDER>(multipoles + (int64)child * ROW, shift, terms);
        }
        centres[node] = make_float4(centre.x, centre.y, centre.z, radius);
        store_row(multipoles, node, terms);
    }
}
