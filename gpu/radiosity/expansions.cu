// The passes of the fast multipole method over the points' octree, by the names that they have there: P2M and M2M
// upwards, M2L and P2L across, L2L downwards, L2P, M2P and P2P at the points. Lists say which nodes a node hears of.
// from gpu.radiosity.hierarchical import GATHER_THREADS
// from gpu.radiosity.pairs import NodeLists
#include "gpu/radiosity/expansion.cuh"
#include "gpu/radiosity/slices.cuh"

// What a place of a box takes of points, or of the places of a child, all of them or a slice.
struct PlaceSum {
    float sums[PLACE_FLOATS];

    __device__ __forceinline__ void add(float weight, const float4& normal, const float4& sent) {
        const float along[3] = {normal.x, normal.y, normal.z}, color[3] = {sent.x, sent.y, sent.z};
#pragma unroll
        for (int j = 0; j < PLACE_FLOATS; ++j) sums[j] += weight * color[j / 3] * along[j % 3];
    }
    __device__ __forceinline__ void add(float weight, const float* place) {
#pragma unroll
        for (int j = 0; j < PLACE_FLOATS; ++j) sums[j] += weight * place[j];
    }
    // All lanes together; those of the first slice write.
    __device__ __forceinline__ void store(float* multipole, int place, int count, const Slices& own) {
#pragma unroll
        for (int j = 0; j < PLACE_FLOATS; ++j) {
            const float sum = warp_sum_apart(sums[j], own.width);
            if (own.slice == 0 && place < count) multipole[place * PLACE_FLOATS + j] = sum;
        }
    }
};

// P2M. A warp has a leaf: its lanes have its places, and slices of its points.
extern "C" __global__ void send_up_points(PointTreeView tree, const float4* shapes, const float4* normals,
                                          const float4* sent, float* multipoles) {
    for (int node : warp_stride(tree.counts[TREE_COUNTS::nodes])) {
        if (tree.child_count[node] != 0) continue;
        const ChebyshevBox box = chebyshev_box(shapes, node);
        const int begin = tree.first_point[node], end = begin + tree.point_count[node], count = box.count();
        const Slices own = slices_of(count, warp_lane(), WARP_LANES);
        for (int base = 0; base < count; base += own.width) {
            const int k = base + own.pack;
            PlaceSum sum = {};
            for (int i = begin + own.slice; i < end; i += own.count) {
                const float4 at = tree.points[i];
                sum.add(box.weight(k, make_float3(at.x, at.y, at.z)), normals[i], sent[i]);
            }
            sum.store(multipoles + first_float(node, 0), k, count, own);
        }
    }
}

// M2M. A warp has a node of this depth: its lanes have its places, and slices of its children.
extern "C" __global__ void send_up(PointTreeView tree, int depth, const float4* shapes, float* multipoles) {
    const int first = tree.depth_first[depth], nodes = tree.depth_first[depth + 1] - first;
    for (int item : warp_stride(nodes)) {
        const int node = first + item;
        if (tree.child_count[node] == 0) continue;
        const ChebyshevBox box = chebyshev_box(shapes, node);
        const int begin = tree.first_child[node], end = begin + tree.child_count[node], count = box.count();
        const Slices own = slices_of(count, warp_lane(), WARP_LANES);
        for (int base = 0; base < count; base += own.width) {
            const int k = base + own.pack;
            PlaceSum sum = {};
            for (int child = begin + own.slice; child < end; child += own.count) {
                const ChebyshevBox inner = chebyshev_box(shapes, child);
                const float* from = multipoles + first_float(child, 0);
                for (int c = 0; c < inner.count(); ++c) sum.add(box.weight(k, inner.place(c)), from + PLACE_FLOATS * c);
            }
            sum.store(multipoles + first_float(node, 0), k, count, own);
        }
    }
}

__device__ __forceinline__ Real3 sum_of_slices(Real3 value, int width) {
    return {warp_sum_apart(value.x, width), warp_sum_apart(value.y, width), warp_sum_apart(value.z, width)};
}

__device__ __forceinline__ Real3 places_of(const ChebyshevBox& box, int first, int count) {
    Real3 at = splat3(0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        const float3 place = box.place(min(first + i, count - 1));
        set_lane(at.x, i, place.x);
        set_lane(at.y, i, place.y);
        set_lane(at.z, i, place.z);
    }
    return at;
}
__device__ __forceinline__ void store_field(float* out, const Field& field, int count) {
#pragma unroll
    for (int i = 0; i < PACK; ++i) {
        if (i >= count) continue;
        out[0] = lane(field.red.x, i), out[1] = lane(field.red.y, i), out[2] = lane(field.red.z, i);
        out[3] = lane(field.green.x, i), out[4] = lane(field.green.y, i), out[5] = lane(field.green.z, i);
        out[6] = lane(field.blue.x, i), out[7] = lane(field.blue.y, i), out[8] = lane(field.blue.z, i);
        out += PLACE_FLOATS;
    }
}

// M2L, P2L. A warp has a node: its lanes have its places, and as many slices of its lists as there are lanes for.
extern "C" __global__ void send_across(PointTreeView tree, const float4* shapes, const float4* normals,
                                       const float4* sent, NodeLists far, NodeLists of_points, const float* multipoles,
                                       float* locals) {
    for (int node : warp_stride(tree.counts[TREE_COUNTS::nodes])) {
        const ChebyshevBox box = chebyshev_box(shapes, node);
        const int count = box.count(), packs = (count + PACK - 1) / PACK;
        const Slices own = slices_of(packs, warp_lane(), WARP_LANES);
        for (int base = 0; base < packs; base += own.width) {
            const int begin = (base + own.pack) * PACK;
            const Real3 to = places_of(box, begin, count);
            Field field = no_field();
            for (int i = far.first[node] + own.slice; i < far.first[node + 1]; i += own.count) {
                const int sender = far.senders[i];
                add_from(field, chebyshev_box(shapes, sender), multipoles + first_float(sender, 0), to, far.shares[i]);
            }
            for (int i = of_points.first[node] + own.slice; i < of_points.first[node + 1]; i += own.count) {
                const int sender = of_points.senders[i], from = tree.first_point[sender];
                for (int j = from; j < from + tree.point_count[sender]; ++j)
                    add_from(field, tree.points[j], normals[j], sent[j], to, of_points.shares[i]);
            }
            field = {sum_of_slices(field.red, own.width), sum_of_slices(field.green, own.width),
                     sum_of_slices(field.blue, own.width)};
            if (own.slice == 0) store_field(locals + first_float(node, begin), field, count - begin);
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

// What some points gather of a slice of their leaf's lists.
struct LeafLists {
    NodeLists to_points, near, partial;
};
__device__ __forceinline__ Real3 gathered_of_lists(const PointTreeView& tree, const float4* shapes,
                                                   const float4* normals, const float4* sent, const LeafLists& lists,
                                                   const unsigned* seen, const float* multipoles, int node,
                                                   const Slices& own, const Receivers& to, int first) {
    Real3 sum = splat3(0.0f, 0.0f, 0.0f);
    for (int i = lists.to_points.first[node] + own.slice; i < lists.to_points.first[node + 1]; i += own.count) {
        const int sender = lists.to_points.senders[i];
        Field field = no_field();
        add_from(field, chebyshev_box(shapes, sender), multipoles + first_float(sender, 0), to.place,
                 lists.to_points.shares[i]);
        sum = sum + gathered_of(field, to.normal);
    }
    for (int i = lists.near.first[node] + own.slice; i < lists.near.first[node + 1]; i += own.count) {
        const int sender = lists.near.senders[i], from = tree.first_point[sender];
        const int end = from + tree.point_count[sender];
#pragma unroll 4
        for (int j = from; j < end; ++j) add_point(sum, to, tree.points[j], normals[j], sent[j], splat(1.0f));
    }
    for (int i = lists.partial.first[node] + own.slice; i < lists.partial.first[node + 1]; i += own.count) {
        const int sender = lists.partial.senders[i], from = tree.first_point[sender];
        for (int j = 0; j < tree.point_count[sender]; ++j)
            add_point(sum, to, tree.points[from + j], normals[from + j], sent[from + j],
                      seen_share(seen, (int64)i * LEAF_POINTS, first, tree.point_count[node], j));
    }
    return sum;
}

// The sum over the slices of a block, for the threads of the first one.
__device__ __forceinline__ Real3 sum_of_block(Real3 value, const Slices& own) {
    value = sum_of_slices(value, own.width);
    if constexpr (RUNS_SERIAL) {
        return value;
    } else {
        SHARED Real3 of_warp[GATHER_THREADS];
        const int warps = GATHER_THREADS / WARP_LANES;
        of_warp[thread_index()] = value;
        block_sync();
        if (thread_index() < own.width) {
            for (int warp = 1; warp < warps; ++warp) value = value + of_warp[warp * WARP_LANES + thread_index()];
        }
        block_sync();
        return value;
    }
}

// L2P, M2P, P2P. A block has a leaf: its threads have the leaf's points, and slices of its lists. `seen` has a row of
// LEAF_POINTS words for each pair of `partial`: of each receiver a bit for each sender.
extern "C" __global__ void __launch_bounds__(GATHER_THREADS)
    gather_in_leaves(PointTreeView tree, const float4* shapes, const float4* normals, const float4* sent,
                     NodeLists to_points, NodeLists near, NodeLists partial, const unsigned* seen,
                     const float* multipoles, const float* locals, float4* gathered) {
    const LeafLists lists = {to_points, near, partial};
    const int nodes = tree.counts[TREE_COUNTS::nodes];
    for (int node = block_index(); node < nodes; node += block_count()) {
        if (tree.child_count[node] != 0) continue;
        const int begin = tree.first_point[node], count = tree.point_count[node], last = begin + count - 1;
        const int packs = (count + PACK - 1) / PACK;
        const Slices own = slices_of(packs, thread_index(), RUNS_SERIAL ? 1 : GATHER_THREADS);
        for (int base = 0; base < packs; base += own.width) {
            const int first = (base + own.pack) * PACK;
            const Receivers to = load_receivers(tree.points, normals, begin + first, last);
            Real3 sum = gathered_of_lists(tree, shapes, normals, sent, lists, seen, multipoles, node, own, to, first);
            if (own.slice == 0) sum = sum + gathered_of(field_at(shapes, locals, node, to), to.normal);
            sum = sum_of_block(sum, own);
            if (own.slice == 0 && first < count) store_gathered(gathered, begin + first, last, sum);
        }
    }
}
