// Rays as they lie in a caller's arrays -> hits in a caller's arrays: rows of three numbers, no copy, no padding.
//
// The unit names Tree and Records, OnPrimitive (ClosestHit or AnyHit), and what it has of the rest, which compiles to
// nothing where it has not: FROM_SENSORS (a ray is a beam of a sensor, each sensor has all beams), FILTERS (a ray meets
// its own group and what its mask lets it see), HAS_ROOTS (each group has a tree of its own, roots by group).
// Outputs may be null. A ray that is not finite, or has no direction, hits nothing.
// from gpu.trace.arrays import AdmittedRays, ArrayRays, TracedTree
#include "gpu/device/loops.cuh"
#include "gpu/device/transform.cuh"
#include "gpu/device/triangle.cuh"
#include "gpu/trace/on_primitive.cuh"

constexpr int EVERY_GROUP = -1;

struct ArrayInput : TracedTree<Tree, Records> {};
static_assert(sizeof(ArrayInput) == ARRAY_INPUT_BYTES, "arrays.py lays this struct out");

__device__ __forceinline__ Real at_or(const float* values, int first, int count, float all) {
    if (values == nullptr) return splat(all);
    Real found = splat(all);
    for (int i = 0; i < PACK; ++i) set_lane(found, i, values[min(first + i, count - 1)]);
    return found;
}

__device__ __forceinline__ Mask is_known(Real x) { return x - x == splat(0.0f); }

// The pack of rays that starts at ray `first`.
__device__ __forceinline__ Rays array_rays(const ArrayRays& source, int first) {
    float columns[6][PACK];
    for (int i = 0; i < PACK; ++i) {
        const int ray = min(first + i, source.count - 1);
        float3 origin, direction;
        if constexpr (FROM_SENSORS) {
            const int sensor = ray / source.beam_count, beam = ray - sensor * source.beam_count;
            const Affine pose = load_affine(source.origins + (int64)sensor * source.origin_stride, 0);
            origin = pose.origin;
            direction = transform_vector(pose, load3(source.directions, beam));
        } else {
            const float* start = source.origins + (int64)ray * source.origin_stride;
            const float* along = source.directions + (int64)ray * source.direction_stride;
            origin = make_float3(start[0], start[1], start[2]);
            direction = make_float3(along[0], along[1], along[2]);
        }
        columns[0][i] = origin.x, columns[1][i] = origin.y, columns[2][i] = origin.z;
        columns[3][i] = direction.x, columns[4][i] = direction.y, columns[5][i] = direction.z;
    }
    const Real o[3] = {load(columns[0]), load(columns[1]), load(columns[2])};
    const Real d[3] = {load(columns[3]), load(columns[4]), load(columns[5])};
    const Real t_min = at_or(source.t_mins, first, source.count, source.t_min);
    const Real t_end = at_or(source.t_maxs, first, source.count, source.t_max), t_max = min(t_end, splat(FLOAT_MAX));
    const Real zero = splat(0.0f), sum = lanes_abs(d[0]) + lanes_abs(d[1]) + lanes_abs(d[2]);
    const Mask is_ray = is_known(o[0]) & is_known(o[1]) & is_known(o[2]) & is_known(d[0]) & is_known(d[1]) &
                        is_known(d[2]) & (zero < sum) & (t_min < t_end);
    const Mask active = is_ray & (splat_int(first) + lane_index() < splat_int(source.count));
    return make_rays(o[0], o[1], o[2], d[0], d[1], d[2], t_min, t_max, active);
}

// A ray's own number of an array that has one for each ray, or for each sensor; `all` where there is no array.
__device__ __forceinline__ Int number_of(const ArrayRays& source, const int* values, int all, int first) {
    Int found = splat_int(all);
    if (values == nullptr) return found;
    for (int i = 0; i < PACK; ++i) {
        const int ray = min(first + i, source.count - 1);
        set_lane(found, i, values[FROM_SENSORS ? ray / source.beam_count : ray]);
    }
    return found;
}

// What is done at a primitive, of those that a ray may meet.
struct Admitted {
    static constexpr bool IS_ANY_ENOUGH = OnPrimitive::IS_ANY_ENOUGH;

    OnPrimitive inner;
    Pointer<const int> instance_ids;
    Pointer<const int2> instances;  // group and mask
    Int groups, masks;

    __device__ __forceinline__ void operator()(Rays& rays, const Intersection& found) {
        const int2 own = instances[instance_ids[found.prim_id]];
        const Mask is_own = (groups == splat_int(own.x)) | (groups == splat_int(EVERY_GROUP)) |
                            splat_mask(own.x == EVERY_GROUP);
        Intersection met = found;
        met.hit = found.hit & is_own & !((masks & own.y) == splat_int(0));
        inner(rays, met);
    }
};

template <class AnyTree, class On>
__device__ __forceinline__ void go_through(const AnyTree& tree, const Records& records, Rays& rays, On& on_primitive) {
    NoNodes on_node = {};
    admit_rays(rays);
    if (any(rays.active)) traverse(tree, records, rays, on_primitive, on_node);
}

// The tree that all groups share, then each ray's own: the trees of other groups are never met. `groups` hold places in
// `roots`, below 0 where a group has nothing.
template <class AnyTree, class On>
__device__ __forceinline__ void go_through_own(const AnyTree& whole, const Records& records,
                                               const AdmittedRays& admitted, Rays& rays, Int groups, On& on_primitive) {
    const Mask everywhere = rays.active & (groups == splat_int(EVERY_GROUP));
    Int places = splat_int(-1);
    for (int i = 0; i < PACK; ++i) {
        const int group = lane(groups, i);
        if (group >= 0 && group < admitted.group_count) set_lane(places, i, admitted.root_of_group[group]);
    }
    Mask rest = rays.active;
#pragma unroll 1
    for (int turn = 0; any(rest); ++turn) {
        AnyTree tree = whole;
        Mask now = everywhere;
        if (turn == 1) {
            now = rays.active & !everywhere;
            if (admitted.shared_root < 0) continue;
            tree.root = admitted.roots + admitted.shared_root;
        } else if (turn > 1) {
            if (turn == 2) rest = rays.active & !everywhere & !(places < splat_int(0));
            if (!any(rest)) break;
            const int place = lane(places, __ffs((int)mask_bits(rest)) - 1);
            now = rest & (places == splat_int(place)) & rays.active;
            rest = rest & !(places == splat_int(place));
            tree.root = admitted.roots + place;
        }
        Rays some = rays;
        some.active = now;
        go_through(tree, records, some, on_primitive);
        rays.t_max = select(now, some.t_max, rays.t_max);
        rays.active = (rays.active & !now) | some.active;
    }
}

// Trees whose root can be another are entered there.
template <bool BY_GROUP, class AnyTree, class On>
__device__ __forceinline__ void go(const AnyTree& tree, const Records& records, const AdmittedRays& admitted,
                                   Rays& rays, Int groups, On& on_primitive) {
    if constexpr (BY_GROUP) go_through_own(tree, records, admitted, rays, groups, on_primitive);
    else go_through(tree, records, rays, on_primitive);
}

__device__ __forceinline__ void put(float* at, Real values, int first, int count, int step = 1) {
    if (at == nullptr) return;
    if (step == 1 && first + PACK <= count) store(at + first, values);
    else
        for (int i = 0; i < min(PACK, count - first); ++i) at[step * (int64)(first + i)] = lane(values, i);
}
__device__ __forceinline__ void put(int* at, Int values, int first, int count) {
    if (at == nullptr) return;
    if (first + PACK <= count) store(at + first, values);
    else
        for (int i = 0; i < min(PACK, count - first); ++i) at[first + i] = lane(values, i);
}

// Unit normals of the triangles hit, towards where the rays come from; zero where nothing is hit.
__device__ __forceinline__ void put_normals(float* normals, const float* positions, const int* corners,
                                            const Hits& hits, const Rays& rays, int first, int count) {
    for (int i = 0; i < min(PACK, count - first); ++i) {
        float3 normal = make_float3(0.0f, 0.0f, 0.0f);
        const int prim_id = lane(hits.prim_id, i);
        if (prim_id >= 0) {
            const int3 corner = load3(corners, prim_id);
            const float3 a = load3(positions, corner.x);
            normal = cross(load3(positions, corner.y) - a, load3(positions, corner.z) - a);
            const float largest = max(max(fabsf(normal.x), fabsf(normal.y)), fabsf(normal.z));
            if (largest > 0.0f) normal = normal * (1.0f / largest);
            const float squared = dot(normal, normal);
            if (squared > 0.0f) normal = normal * (1.0f / sqrtf(squared));
            const float3 along = make_float3(lane(rays.dx, i), lane(rays.dy, i), lane(rays.dz, i));
            if (dot(normal, along) > 0.0f) normal = normal * -1.0f;
        }
        float* at = normals + 3 * (int64)(first + i);
        at[0] = normal.x, at[1] = normal.y, at[2] = normal.z;
    }
}

extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    trace_arrays(ArrayInput input, ArrayRays rays_in, AdmittedRays admitted, int pack_count, const float* positions,
                 const int* corners, float* t, int* prim_id, float* u, float* v, float* normal, int* instance,
                 uint8* is_hit) {
    const int count = rays_in.count;
    for (int pack : grid_stride(pack_count)) {
        const int first = (IS_SINGLE_RAY ? pack_count - 1 - pack : pack) * PACK;
        Rays rays = array_rays(rays_in, first);
        OnPrimitive found = {no_hits()};
        Int groups = splat_int(EVERY_GROUP);
        if constexpr (FILTERS || HAS_ROOTS) groups = number_of(rays_in, admitted.ray_groups, admitted.ray_group, first);
        if constexpr (FILTERS) {
            const Int masks = number_of(rays_in, admitted.ray_masks, admitted.ray_mask, first);
            Admitted on_primitive = {found, admitted.instance_ids, admitted.instances, groups, masks};
            go<HAS_ROOTS>(input.tree, input.records, admitted, rays, groups, on_primitive);
            found = on_primitive.inner;
        } else {
            go<HAS_ROOTS>(input.tree, input.records, admitted, rays, groups, found);
        }
        const Hits& hits = found.hits;
        const Mask is_miss = hits.prim_id < splat_int(0);
        put(t, select(is_miss, splat(__int_as_float(0x7f800000)), hits.t), first, count);
        put(prim_id, hits.prim_id, first, count);
        put(u, hits.u, first, count);
        put(v, hits.v, first, count);
        if (normal != nullptr) put_normals(normal, positions, corners, hits, rays, first, count);
        if (instance != nullptr || is_hit != nullptr) {
            for (int i = 0; i < min(PACK, count - first); ++i) {
                const int id = lane(hits.prim_id, i);
                if (instance != nullptr) instance[first + i] = id < 0 ? -1 : admitted.instance_ids[id];
                if (is_hit != nullptr) is_hit[first + i] = id >= 0;
            }
        }
    }
}
