// The way down: local expansions go to the children (L2L), a depth a launch, and from leaves to their bodies (L2P).
#include "gpu/nbody/cells.cuh"

extern "C" __global__ void pass_down(PointTreeView tree, int depth, const float4* centres, float* locals) {
    const Depth nodes = depth_of(tree, depth);
    for (int i : grid_stride(nodes.count)) {
        const int node = nodes.first + i, parent = tree.parent[node];
        if (parent < 0) continue;
        const float3 shift = place_of(centres[node]) - place_of(centres[parent]);
        float from[TERMS], to[TERMS];
        for (int term = 0; term < TERMS; ++term) {
            from[term] = locals[(int64)parent * ROW + term];
            to[term] = locals[(int64)node * ROW + term];
        }
        shift_local<ORDER>(from, shift, to);
        for (int term = 0; term < TERMS; ++term) locals[(int64)node * ROW + term] = to[term];
    }
}

// field (n) in the order of the bodies as handed in: what is near, and what the leaf's expansion says.
extern "C" __global__ void evaluate_locals(PointTreeView tree, const float4* centres, const float* locals,
                                           const float4* near_field, float4* field) {
    for (int node : warp_stride(tree.counts[TREE_COUNTS::nodes])) {
        if (tree.child_count[node] > 0) continue;
        const int first = tree.first_point[node], count = tree.point_count[node];
        const float3 centre = place_of(centres[node]);
        float local[TERMS];
        for (int term = 0; term < TERMS; ++term) local[term] = locals[(int64)node * ROW + term];
        for (int i : lane_stride(count)) {
            float powers[TERMS];
            scaled_powers<ORDER>(place_of(tree.points[first + i]) - centre, powers);
            float potential = 0.0f;
            float3 pull = {};
            for (int term = 0; term < TERMS; ++term) potential -= local[term] * powers[term];
            unrolled<0, terms_to(ORDER - 1)>([&](auto k) {
                constexpr int term = decltype(k)::value;
                constexpr int x = raised(term, 0), y = raised(term, 1), z = raised(term, 2);
                pull += make_float3(local[x], local[y], local[z]) * powers[term];
            });
            const float4 close = near_field[first + i];
            field[tree.order[first + i]] = make_float4(close.x + pull.x, close.y + pull.y, close.z + pull.z,
                                                       close.w + potential);
        }
    }
}
