// The passes of the fast multipole method over the points' octree, by the names that they have there: P2M and M2M
// upwards, M2L and P2L across, L2L downwards, L2P, M2P and P2P at the points. Lists say which nodes a node hears of.
// from gpu.radiosity.pairs import NodeLists
#include "gpu/radiosity/expansion.cuh"

// P2M, M2M. An item is a place of a node of this depth.
extern "C" __global__ void send_up(PointTreeView tree, int depth, const float4* shapes, const float4* normals,
                                   const float4* sent, float* multipoles) {
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    for (int item : grid_stride(count * PLACES)) {
        const int node = first + item / PLACES, k = item % PLACES;
        const ChebyshevBox box = chebyshev_box(shapes, node);
        if (k >= box.count()) continue;
        float sums[PLACE_FLOATS] = {};
        if (tree.child_count[node] == 0) {
            const int begin = tree.first_point[node], end = begin + tree.point_count[node];
            for (int i = begin; i < end; ++i) {
                const float4 at = tree.points[i], n = normals[i], light = sent[i];
                const float weight = box.weight(k, make_float3(at.x, at.y, at.z));
                const float normal[3] = {n.x, n.y, n.z}, color[3] = {light.x, light.y, light.z};
#pragma unroll
                for (int j = 0; j < PLACE_FLOATS; ++j) sums[j] += weight * color[j / 3] * normal[j % 3];
            }
        } else {
            const int begin = tree.first_child[node], end = begin + tree.child_count[node];
            for (int child = begin; child < end; ++child) {
                const ChebyshevBox inner = chebyshev_box(shapes, child);
                const float* from = multipoles + first_float(child, 0);
                for (int c = 0; c < inner.count(); ++c) {
                    const float weight = box.weight(k, inner.place(c));
#pragma unroll
                    for (int j = 0; j < PLACE_FLOATS; ++j) sums[j] += weight * from[PLACE_FLOATS * c + j];
                }
            }
        }
#pragma unroll
        for (int j = 0; j < PLACE_FLOATS; ++j) multipoles[first_float(node, k) + j] = sums[j];
    }
}

// M2L, P2L. An item is a pack of a node's places.
extern "C" __global__ void send_across(PointTreeView tree, const float4* shapes, const float4* normals,
                                       const float4* sent, NodeLists far, NodeLists of_points, const float* multipoles,
                                       float* locals) {
    for (int item : grid_stride(tree.counts[TREE_NODES_NOW] * PLACE_PACKS)) {
        const int node = item / PLACE_PACKS, begin = item % PLACE_PACKS * PACK;
        const ChebyshevBox box = chebyshev_box(shapes, node);
        const int count = box.count();
        if (begin >= count) continue;
        Real3 to = splat3(0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            const float3 at = box.place(min(begin + i, count - 1));
            set_lane(to.x, i, at.x);
            set_lane(to.y, i, at.y);
            set_lane(to.z, i, at.z);
        }
        Field field = no_field();
        for (int i = far.first[node]; i < far.first[node + 1]; ++i) {
            const int sender = far.senders[i];
            add_from(field, chebyshev_box(shapes, sender), multipoles + first_float(sender, 0), to, far.shares[i]);
        }
        for (int i = of_points.first[node]; i < of_points.first[node + 1]; ++i) {
            const int sender = of_points.senders[i], from = tree.first_point[sender];
            for (int j = from; j < from + tree.point_count[sender]; ++j)
                add_from(field, tree.points[j], normals[j], sent[j], to, of_points.shares[i]);
        }
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (begin + i >= count) continue;
            float* out = locals + first_float(node, begin + i);
            out[0] = lane(field.red.x, i), out[1] = lane(field.red.y, i), out[2] = lane(field.red.z, i);
            out[3] = lane(field.green.x, i), out[4] = lane(field.green.y, i), out[5] = lane(field.green.z, i);
            out[6] = lane(field.blue.x, i), out[7] = lane(field.blue.y, i), out[8] = lane(field.blue.z, i);
        }
    }
}

// L2L. An item is a place of a node of this depth, which is not the root's.
extern "C" __global__ void send_down(PointTreeView tree, int depth, const float4* shapes, float* locals) {
    const int first = tree.depth_first[depth], count = tree.depth_first[depth + 1] - first;
    for (int item : grid_stride(count * PLACES)) {
        const int node = first + item / PLACES, k = item % PLACES;
        const ChebyshevBox box = chebyshev_box(shapes, node);
        if (k >= box.count()) continue;
        const ChebyshevBox outer = chebyshev_box(shapes, tree.parent[node]);
        const float3 at = box.place(k);
        const float* from = locals + first_float(tree.parent[node], 0);
        float* to = locals + first_float(node, k);
        for (int c = 0; c < outer.count(); ++c) {
            const float weight = outer.weight(c, at);
#pragma unroll
            for (int j = 0; j < PLACE_FLOATS; ++j) to[j] += weight * from[PLACE_FLOATS * c + j];
        }
    }
}

// Of a leaf's own local expansion.
__device__ __forceinline__ Field field_at(const float4* shapes, const float* locals, int node, const Receivers& to) {
    const ChebyshevBox box = chebyshev_box(shapes, node);
    const float* from = locals + first_float(node, 0);
    Field field = no_field();
    for (int k = 0; k < box.count(); ++k) {
        Real weight = splat(0.0f);
#pragma unroll
        for (int i = 0; i < PACK; ++i)
            set_lane(weight, i,
                     box.weight(k, make_float3(lane(to.place.x, i), lane(to.place.y, i), lane(to.place.z, i))));
        const float* f = from + PLACE_FLOATS * k;
        field.red = field.red + splat3(f) * weight;
        field.green = field.green + splat3(f + 3) * weight;
        field.blue = field.blue + splat3(f + 6) * weight;
    }
    return field;
}

__device__ __forceinline__ void add_point(Real3& sum, const Receivers& to, const float4& place, const float4& normal,
                                          const float4& sent, Real share) {
    sum = sum + splat3(sent.x, sent.y, sent.z) * (exchange(to, place, normal) * share);
}

// The lanes whose point sees the sender's j-th.
__device__ __forceinline__ Real seen_share(const unsigned* seen, int64 row, int first, int last, int j) {
    Real share = splat(0.0f);
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (first + i < last) set_lane(share, i, seen[row + first + i] >> j & 1u ? 1.0f : 0.0f);
    }
    return share;
}

// L2P, M2P, P2P. An item is a pack of a leaf's points. `seen` has a row of LEAF_POINTS words for each pair of
// `partial`: of each receiver a bit for each sender.
extern "C" __global__ void gather_in_leaves(PointTreeView tree, const float4* shapes, const float4* normals,
                                            const float4* sent, NodeLists to_points, NodeLists near, NodeLists partial,
                                            const unsigned* seen, const float* multipoles, const float* locals,
                                            float4* gathered) {
    constexpr int LEAF_PACKS = (LEAF_POINTS + PACK - 1) / PACK;
    for (int item : grid_stride(tree.counts[TREE_NODES_NOW] * LEAF_PACKS)) {
        const int node = item / LEAF_PACKS;
        if (tree.child_count[node] != 0) continue;
        const int begin = tree.first_point[node], count = tree.point_count[node];
        for (int pack = item % LEAF_PACKS; pack * PACK < count; pack += LEAF_PACKS) {
            const int first = pack * PACK, last = begin + count - 1;
            const Receivers to = load_receivers(tree.points, normals, begin + first, last);
            Real3 sum = gathered_of(field_at(shapes, locals, node, to), to.normal);
            for (int i = to_points.first[node]; i < to_points.first[node + 1]; ++i) {
                const int sender = to_points.senders[i];
                Field field = no_field();
                add_from(field, chebyshev_box(shapes, sender), multipoles + first_float(sender, 0), to.place,
                         to_points.shares[i]);
                sum = sum + gathered_of(field, to.normal);
            }
            for (int i = near.first[node]; i < near.first[node + 1]; ++i) {
                const int sender = near.senders[i], from = tree.first_point[sender];
                for (int j = from; j < from + tree.point_count[sender]; ++j)
                    add_point(sum, to, tree.points[j], normals[j], sent[j], splat(1.0f));
            }
            for (int i = partial.first[node]; i < partial.first[node + 1]; ++i) {
                const int sender = partial.senders[i], from = tree.first_point[sender];
                for (int j = 0; j < tree.point_count[sender]; ++j)
                    add_point(sum, to, tree.points[from + j], normals[from + j], sent[from + j],
                              seen_share(seen, (int64)i * LEAF_POINTS, first, count, j));
            }
            store_gathered(gathered, begin + first, last, sum);
        }
    }
}
