// Multipoles of the cells in each cell's list -> its local expansion (M2L): a warp a cell, a lane or a pack of lanes a
// source.
#include "gpu/nbody/cells.cuh"

// The rows of the multipoles of a pack of nodes.
__device__ __forceinline__ void load_rows(const float* multipoles, const int (&nodes)[PACK], Real* terms) {
    const float4* rows[PACK];
    for (int lane = 0; lane < PACK; ++lane) rows[lane] = (const float4*)(multipoles + (int64)nodes[lane] * ROW);
    Real four[ROW];
#pragma unroll
    for (int term = 0; term < ROW; term += 4) {
        load_fours(rows, four[term], four[term + 1], four[term + 2], four[term + 3]);
        for (int lane = 0; lane < PACK; ++lane) ++rows[lane];
    }
#pragma unroll
    for (int term = 0; term < TERMS; ++term) terms[term] = four[term];
}

// locals (m, ROW): what the cells of the lists add.
extern "C" __global__ void gather_locals(PointTreeView tree, const float4* centres, const float* multipoles,
                                         const int* first_far, const int* far_count, const int* far, float softening2,
                                         const int* lacking, float* locals) {
    for (int node : warp_stride(*lacking != 0 ? 0 : tree.counts[TREE_COUNTS::nodes])) {
        const int first = first_far[node], count = far_count[node];
        const float3 at = place_of(centres[node]);
        Real sum[TERMS];
        for (int term = 0; term < TERMS; ++term) sum[term] = splat(0.0f);
        for (int pack : lane_stride((count + PACK - 1) / PACK)) {
            int sources[PACK];
            Real x = {}, y = {}, z = {}, is_there = {};
            for (int lane = 0; lane < PACK; ++lane) {
                const int place = pack * PACK + lane;
                sources[lane] = far[first + min(place, count - 1)];
                const float3 away = at - place_of(centres[sources[lane]]);
                set_lane(x, lane, away.x);
                set_lane(y, lane, away.y);
                set_lane(z, lane, away.z);
                set_lane(is_there, lane, place < count ? 1.0f : 0.0f);
            }
            Real terms[TERMS], d[TERMS];
            load_rows(multipoles, sources, terms);
            for (int term = 0; term < TERMS; ++term) terms[term] = terms[term] * is_there;
            derivatives<ORDER>(x, y, z, softening2, d);
            contract<ORDER, ORDER>(sum, (const Real*)terms, (const Real*)d);
        }
        for (int term = 0; term < TERMS; ++term) {
            float total = 0.0f;
            for (int lane_id = 0; lane_id < PACK; ++lane_id) total += lane(sum[term], lane_id);
            total = warp_sum(total);
            if (warp_lane() == 0) locals[(int64)node * ROW + term] = total;
        }
    }
}
