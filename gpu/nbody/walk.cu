// Barnes and Hut's walk: every body goes through the tree from the root, takes a cell as a whole where it is far beside
// its size, and opens it elsewhere. Bodies of neighbouring places walk together, a lane a body; each decides by itself.
#include "gpu/nbody/attraction.cuh"
#include "gpu/nbody/cells.cuh"

// The multipoles of a cell attract the lanes of a mask.
__device__ __forceinline__ void attract_by_cell(PackField& sum, const PackPlaces& at, float4 centre, const float* row,
                                                float softening2, Mask lanes) {
    Real d[terms_to(ORDER + 1)];
    derivatives<ORDER + 1>(at.x - splat(centre.x), at.y - splat(centre.y), at.z - splat(centre.z), softening2, d);
    const Real share = select(lanes, splat(1.0f), splat(0.0f));
    unrolled<0, TERMS>([&](auto n) {
        constexpr int term = decltype(n)::value, x = raised(term, 0), y = raised(term, 1), z = raised(term, 2);
        const Real moment = share * row[term];
        sum.x = lanes_fma(moment, d[x], sum.x);
        sum.y = lanes_fma(moment, d[y], sum.y);
        sum.z = lanes_fma(moment, d[z], sum.z);
        sum.potential = sum.potential - moment * d[term];
    });
}

// The bodies of a leaf attract the lanes of a mask; sorted places tell which lane is which of them.
__device__ __forceinline__ void attract_by_bodies(PackField& sum, const PackPlaces& at, Int own,
                                                  const PointTreeView& tree, int leaf, float softening2, Mask lanes) {
    const int first = tree.first_point[leaf], last = first + tree.point_count[leaf];
    for (int i = first; i < last; ++i) {
        const Mask counts = lanes & !(own == splat_int(i));
        const float4 body = tree.points[i];
        attract(sum, at, body, select(counts, splat(body.w), splat(0.0f)), softening2);
    }
}

// field (n) in the order of the bodies as handed in.
extern "C" __global__ void walk_tree(PointTreeView tree, const float4* centres, const float* multipoles,
                                     float inverse_angle, float softening2, float4* field, int* lacking) {
    for ([[maybe_unused]] int i : grid_stride(1)) *lacking = tree.counts[TREE_COUNTS::status];
    const int count = tree.counts[TREE_COUNTS::status] != 0 ? 0 : tree.counts[TREE_COUNTS::points];
    for (int pack : grid_stride((count + PACK - 1) / PACK)) {
        const PackPlaces at = load_places(tree.points, pack * PACK, count);
        const Int own = lane_index() + pack * PACK;
        PackField sum = no_field();
        int next[MAX_DEPTH + 2], last[MAX_DEPTH + 2], top = 0;  // siblings to come, of each depth
        Mask lanes[MAX_DEPTH + 2];
        next[0] = 0, last[0] = 1, lanes[0] = splat_mask(true);
        while (top >= 0) {
            if (next[top] == last[top]) {
                --top;
                continue;
            }
            const int node = next[top]++;
            const float4 centre = centres[node];
            const Real x = at.x - splat(centre.x), y = at.y - splat(centre.y), z = at.z - splat(centre.z);
            const float reach = centre.w * inverse_angle;
            const Mask is_far = lanes[top] & splat(reach * reach) < x * x + y * y + z * z;
            const Mask is_near = lanes[top] & !is_far;
            if (any(is_far)) attract_by_cell(sum, at, centre, multipoles + (int64)node * ROW, softening2, is_far);
            if (!any(is_near)) continue;
            if (tree.child_count[node] == 0) {
                attract_by_bodies(sum, at, own, tree, node, softening2, is_near);
            } else {
                ++top;
                next[top] = tree.first_child[node];
                last[top] = next[top] + tree.child_count[node];
                lanes[top] = is_near;
            }
        }
        for (int i = 0; i < PACK && pack * PACK + i < count; ++i) {
            field[tree.order[pack * PACK + i]] = make_float4(lane(sum.x, i), lane(sum.y, i), lane(sum.z, i),
                                                             lane(sum.potential, i));
        }
    }
}
