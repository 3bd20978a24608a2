// Whether points see each other: rays between some of two nodes' points, and where these do not agree, between all of
// two leaves'. The unit is compiled against a structure (traversals.cuh).
// from gpu.radiosity.pairs import KINDS, PARTS, PairTotals
#include "gpu/device/random.cuh"
#include "gpu/device/warp_stride.cuh"
#include "gpu/radiosity/exchange.cuh"
#include "gpu/radiosity/nodes.cuh"
#include "gpu/trace/hit_point.cuh"
#include "gpu/trace/traversals.cuh"

// Rays between points a lane: from just above the one's surface to just above the other's. Lanes whose points do not
// face each other have none.
struct Sight {
    Real3 from, to;
    Mask active;

    __device__ __forceinline__ void set(int i, float3 a, float3 normal_a, float3 b, float3 normal_b, float offset) {
        const float3 above_a = a + normal_a * offset, above_b = b + normal_b * offset;
        set_lane(from.x, i, above_a.x);
        set_lane(from.y, i, above_a.y);
        set_lane(from.z, i, above_a.z);
        set_lane(to.x, i, above_b.x);
        set_lane(to.y, i, above_b.y);
        set_lane(to.z, i, above_b.z);
        if (dot(b - a, normal_a) > 0.0f && dot(b - a, normal_b) < 0.0f) active = active | mask_from_bits(1u << i);
    }
    __device__ __forceinline__ Rays rays() const {
        const Real3 away = to - from;
        const Real distance = lanes_sqrt(max(dot(away, away), splat(LEAST_DISTANCE2)));
        const Real3 direction = select(active, away * (splat(1.0f) / distance), splat3(0.0f, 0.0f, 1.0f));
        return make_rays(from.x, from.y, from.z, direction.x, direction.y, direction.z, splat(0.0f), distance, active);
    }
};
__device__ __forceinline__ Sight no_sight() {
    return {splat3(0.0f, 0.0f, 0.0f), splat3(0.0f, 0.0f, 0.0f), splat_mask(false)};
}
__device__ __forceinline__ float3 three(const float4& a) { return make_float3(a.x, a.y, a.z); }

// Whether what the sender gives at most, with what it reflects of the mean of all light, is less than `least` of that
// mean: what of it is hidden then need not be known better than by its share.
__device__ __forceinline__ bool gives_little(const float4* shapes, int2 pair, float least) {
    const NodeShape all = load_shape(shapes, 0), a = load_shape(shapes, pair.x), b = load_shape(shapes, pair.y);
    const float mean = 2.0f * all.light / max(all.area, LEAST_DIVISOR);  // as where surfaces reflect the half of it
    const float3 away = b.centre - a.centre;
    return b.light + mean * b.area <= least * mean * PI * dot(away, away);
}

// Lanes of a warp that share a pair of nodes: rays between the same two nodes stay together.
constexpr int PAIR_LANES = WARP_LANES < 16 ? WARP_LANES : 16;
constexpr int WARP_PAIRS = WARP_LANES / PAIR_LANES;

// Rays between points of two nodes that face each other, and those of them that arrive.
struct Answer {
    int asked, arrived;
};

// A lane's part of the rays between some of a pair's points.
__device__ __forceinline__ Answer ask_pair(const TraceInput& input, const PointTreeView& tree, const float4* normals,
                                           int2 pair, int ray_count, int pair_lane) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    const int first_a = tree.first_point[pair.x], count_a = tree.point_count[pair.x];
    const int first_b = tree.first_point[pair.y], count_b = tree.point_count[pair.y];
    const unsigned seed = scrambled((unsigned)pair.x ^ scrambled((unsigned)pair.y));
    const int rays = min(ray_count, count_a * count_b);
    Answer answer = {0, 0};
    for (int first = pair_lane * PACK; first < rays; first += PAIR_LANES * PACK) {
        Sight sight = no_sight();
#pragma unroll
        for (int i = 0; i < PACK; ++i) {
            if (first + i >= rays) continue;
            const unsigned other = scrambled(seed + (unsigned)(first + i));
            const int a = first_a + (int)(((int64)(first + i) * count_a / rays + seed % count_a) % count_a);
            const int b = first_b + (int)(other % (unsigned)count_b);
            sight.set(i, three(tree.points[a]), three(normals[a]), three(tree.points[b]), three(normals[b]), offset);
        }
        const Mask blocked = is_any_hit(input, sight.rays());
        answer.asked += __popc(mask_bits(sight.active));
        answer.arrived += __popc(mask_bits(sight.active & !blocked));
    }
    return answer;
}

// Of the pairs that are to be listed: `none` where no ray arrives; where some do, expansions that give little keep the
// share that arrives; others are split as far as there are children, and after that `partial`.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    see_pairs(TraceInput input, PointTreeView tree, const float4* shapes, const float4* normals, const int2* pairs,
              const int* totals, int ray_count, float least, int* kinds, float* shares) {
    const int count = totals[PairTotals::frontier];
    for (int first : warp_stride((count + WARP_PAIRS - 1) / WARP_PAIRS)) {
        const int item = first * WARP_PAIRS + warp_lane() % WARP_PAIRS;
        const int kind = item < count ? kinds[item] : KINDS::none;
        const int2 pair = kind < KINDS::partial ? pairs[item] : int2{0, 0};
        Answer own = {0, 0};
        if (kind < KINDS::partial) own = ask_pair(input, tree, normals, pair, ray_count, warp_lane() / WARP_PAIRS);
        const int asked = warp_sum_apart(own.asked, WARP_PAIRS), arrived = warp_sum_apart(own.arrived, WARP_PAIRS);
        if (arrived == asked || warp_lane() >= WARP_PAIRS) continue;  // pairs that were not asked among them
        const bool is_leaf_a = tree.child_count[pair.x] == 0, is_leaf_b = tree.child_count[pair.y] == 0;
        const bool has_rows = tree.point_count[pair.x] <= LEAF_POINTS && tree.point_count[pair.y] <= LEAF_POINTS;
        const bool is_expanded = kind == KINDS::far || kind == KINDS::to_points || kind == KINDS::of_points;
        if (arrived == 0) kinds[item] = KINDS::none;
        else if (is_expanded && gives_little(shapes, pair, least)) shares[item] = (float)arrived / (float)asked;
        else if (!is_leaf_a || !is_leaf_b) kinds[item] = KINDS::split;
        else if (has_rows) kinds[item] = KINDS::partial;
        else if (2 * arrived < asked) kinds[item] = KINDS::none;  // more points in one place than a row holds
    }
}

constexpr int LANE_RECEIVERS = (LEAF_POINTS + WARP_LANES - 1) / WARP_LANES;

// Of the bits of rays `begin` and on, 32 at most, those of rays first .. first + count - 1, counted from `first`.
__device__ __forceinline__ unsigned bits_between(unsigned bits, int begin, int first, int count) {
    const int low = max(begin, first), high = min(begin + WARP_LANES * PACK, first + count);
    if (low >= high) return 0u;
    const unsigned kept = high - low < 32 ? (1u << (high - low)) - 1u : 0xffffffffu;
    return ((bits >> (low - begin)) & kept) << (low - first);
}

// Between all points of the leaves of `partial`: a word for each receiver, a bit in it for each sender. A warp has a
// pair, whose rays it takes one after the other, so that no lane idles for a point that a leaf lacks; `receivers` are
// the sorted keys of the list.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    see_points(TraceInput input, PointTreeView tree, const float4* normals, const int* totals,
               const unsigned* receivers, const int* senders, int room, unsigned* seen) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    for (int pair : warp_stride(min(totals[PairTotals::listed + KINDS::partial], room))) {
        const int node = (int)receivers[pair], sender = senders[pair];
        const int first_a = tree.first_point[node], count_a = tree.point_count[node];
        const int first_b = tree.first_point[sender], count_b = tree.point_count[sender];
        unsigned words[LANE_RECEIVERS] = {};
        for (int begin = 0; begin < count_a * count_b; begin += WARP_LANES * PACK) {
            Sight sight = no_sight();
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                const int ray = begin + warp_lane() * PACK + i;
                if (ray >= count_a * count_b) continue;
                const int a = first_a + ray / count_b, b = first_b + ray % count_b;
                sight.set(i, three(tree.points[a]), three(normals[a]), three(tree.points[b]), three(normals[b]),
                          offset);
            }
            const Mask arrives = sight.active & !is_any_hit(input, sight.rays());
            const unsigned bits = WARP_LANES > 1 ? warp_ballot(any(arrives)) : mask_bits(arrives);
            for (int own = 0; own < LANE_RECEIVERS; ++own)
                words[own] |= bits_between(bits, begin, (warp_lane() + own * WARP_LANES) * count_b, count_b);
        }
        for (int own = 0; own < LANE_RECEIVERS; ++own) {
            const int receiver = warp_lane() + own * WARP_LANES;
            if (receiver < count_a) seen[(int64)pair * LEAF_POINTS + receiver] = words[own];
        }
    }
}

// What some points would gather by a ray to each other point: the measure of the sum with all that hides. Every
// `step`-th point is asked, in PARTS parts each of the points that send; `parts` has a row of them for each one asked.
extern "C" __global__ void __launch_bounds__(TRACE_BLOCK, TRACE_BLOCKS)
    gather_by_rays(TraceInput input, PointTreeView tree, const float4* normals, const float4* sent, int step, int asked,
                   float4* parts) {
    const float offset = SIGHT_OFFSET * tree.root[0].w;
    const int count = tree.counts[TREE_COUNTS::points];
    for (int item : grid_stride(asked * PARTS)) {
        const int a = min(item / PARTS * step, max(count - 1, 0)), part = item % PARTS;
        const int begin = (int)((int64)count * part / PARTS), end = (int)((int64)count * (part + 1) / PARTS);
        const float4 place = tree.points[a], normal = normals[a];
        Real3 sum = splat3(0.0f, 0.0f, 0.0f);
        for (int first = begin; first < end; first += PACK) {
            Sight sight = no_sight();
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                if (first + i >= end) continue;
                const int b = first + i;
                sight.set(i, three(place), three(normal), three(tree.points[b]), three(normals[b]), offset);
            }
            const Mask arrives = sight.active & !is_any_hit(input, sight.rays());
            const Receivers senders = load_receivers(tree.points, normals, first, end - 1);
            Real3 light = splat3(0.0f, 0.0f, 0.0f);
#pragma unroll
            for (int i = 0; i < PACK; ++i) {
                const float4 of = sent[min(first + i, end - 1)];
                set_lane(light.x, i, of.x);
                set_lane(light.y, i, of.y);
                set_lane(light.z, i, of.z);
            }
            // the kernel is the same from either side
            const Real share = select(arrives, exchange(senders, place, normal), splat(0.0f));
            sum = sum + light * share;
        }
        float3 total = make_float3(0.0f, 0.0f, 0.0f);
        for (int i = 0; i < PACK; ++i) total += make_float3(lane(sum.x, i), lane(sum.y, i), lane(sum.z, i));
        parts[item] = make_float4(total.x, total.y, total.z, 0.0f);
    }
}
